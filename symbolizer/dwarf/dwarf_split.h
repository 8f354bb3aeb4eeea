/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_split: units whose debug information is in other files: .dwo, one a unit, or .dwp, one for all.
 *
 * The file itself has of such a unit a skeleton: its lines, its ranges, its addresses, and the name and
 * the number of the rest. libdw would open that by its path, which nothing here may do, and knows no
 * .dwp. So both halves are put into one file in memory, as if they had never been split.
 */
#ifndef SYMBOLIZER_DWARF_DWARF_SPLIT_H
#define SYMBOLIZER_DWARF_DWARF_SPLIT_H

#include <stdint.h>

#include "symbolizer/dwarf/dwarf_image.h"
#include "symbolizer/dwarf/dwarf_names.h"
#include "symbolizer/dwarf/dwarf_ranges.h"
#include "symbolizer/dwarf/dwarf_units.h"

/*
 * Opens the .dwo with this name, of a unit that was compiled in dir (NULL: nobody says where); without a
 * name the .dwp. A descriptor that the caller closes; -1: there is none.
 */
typedef int dwarf_split_fn(void *arg, const char *dir, const char *name);

struct dwarf_splits;

/* All are borrowed for its life; open NULL: there are no other files. NULL: out of memory. */
struct dwarf_splits *dwarf_splits_new(struct dwarf_units *units, const struct dwarf_image *image,
				      struct intern *strings, dwarf_split_fn *open, void *arg);
void dwarf_splits_free(struct dwarf_splits *s);

/* What a skeleton lacks; valid until the next one is asked for. */
struct dwarf_half {
	Dwarf_Die code; /* its functions */
	struct dwarf_base base;
	struct dwarf_names *names; /* of its functions */
};

/* 1 with *ret, 0: there is no file with it, or none that is good; -FMT_E_NOMEM. */
int dwarf_splits_find(struct dwarf_splits *s, const struct dwarf_unit *unit,
		      struct dwarf_half *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_ranges: parts of the code, each somebody's; of those that hold an address the one that
 * begins last, so that what lies within another is found.
 */
#ifndef SYMBOLIZER_DWARF_DWARF_RANGES_H
#define SYMBOLIZER_DWARF_DWARF_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "symbolizer/dwarf/dwarf_lines.h"

struct dwarf_range {
	uint64_t start, end;
	uint64_t reach; /* the greatest end so far */
	uint32_t owner;
};

/* What the lists of ranges of a split unit count from, which its own half does not say. */
struct dwarf_base {
	uint64_t address;     /* where the unit's code begins */
	uint64_t lists;	      /* DWARF 4: where its lists begin in .debug_ranges */
	struct span rnglists; /* DWARF 5: they */
	struct span info;
};

/*
 * dwarf_ranges(), also of a DIE of a split unit; base NULL: it is of none. *at is kept from call to call;
 * offset is 0 first, then what was returned: 0, there are no more; negative: they are damaged.
 */
ptrdiff_t dwarf_ranges_next(Dwarf_Die *die, const struct dwarf_base *base, ptrdiff_t offset,
			    Dwarf_Addr *at, Dwarf_Addr *ret_start, Dwarf_Addr *ret_end);

struct dwarf_ranges {
	const struct dwarf_base
		*base; /* of the DIEs that are added; NULL: they are of no split unit */
	struct dwarf_range *v;
	size_t n, cap;
	const struct dwarf_code *code;
	size_t nr_code;
};

/* Where code can be: what is put elsewhere was dropped by the linker, and is left out. */
void dwarf_ranges_init(struct dwarf_ranges *r, const struct dwarf_code *code, size_t nr_code);
void dwarf_ranges_done(struct dwarf_ranges *r);

/* 0, -FMT_E_NOMEM; -FMT_E_TOO_BIG: there are more than any file has. */
int dwarf_ranges_add(struct dwarf_ranges *r, uint64_t start, uint64_t end, uint32_t owner);
/* All ranges of a DIE. 1: there were some, 0: it has none, negative as above. */
int dwarf_ranges_add_die(struct dwarf_ranges *r, Dwarf_Die *die, uint32_t owner);

/* Once all are there. */
void dwarf_ranges_sort(struct dwarf_ranges *r);
bool dwarf_ranges_find(const struct dwarf_ranges *r, uint64_t address, uint32_t *ret_owner);

#endif

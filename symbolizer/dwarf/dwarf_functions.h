/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_functions: the functions of a unit, and which calls were inlined where.
 *
 * The DIEs of a unit are walked once for its functions, from sibling to sibling; the inside of a
 * function is looked at only for addresses that are in it.
 */
#ifndef SYMBOLIZER_DWARF_DWARF_FUNCTIONS_H
#define SYMBOLIZER_DWARF_DWARF_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "symbolizer/dwarf/dwarf_ranges.h"

struct dwarf_functions {
	Dwarf_Die *dies;
	size_t n, cap;
	struct dwarf_ranges ranges; /* owners: numbers of dies */
};

/*
 * base: of a split unit, else NULL; borrowed for the life of f. deep: also those within functions, which
 * some languages have; it costs a walk over all that the unit has. 0, -FMT_E_NOMEM, -FMT_E_TOO_BIG;
 * dwarf_functions_done() in any case.
 */
int dwarf_functions_read(struct dwarf_functions *f, Dwarf_Die *unit, const struct dwarf_base *base,
			 const struct dwarf_code *code, size_t nr_code, bool deep);
void dwarf_functions_done(struct dwarf_functions *f);

/* A function, or a call that was inlined; its parent is what it was inlined into. */
struct dwarf_scope {
	Dwarf_Die die;
	uint32_t parent; /* DWARF_NO_SCOPE: it is a function */
};
#define DWARF_NO_SCOPE UINT32_MAX

struct dwarf_scopes {
	const struct dwarf_base *base; /* of a split unit, else NULL */
	struct dwarf_scope *v;
	size_t n, cap;
	uint32_t *lists; /* numbers of addresses, on their way down */
	size_t nr_lists, cap_lists;
};

void dwarf_scopes_done(struct dwarf_scopes *s); /* all zero is an empty one */

/*
 * Adds the scopes of function that hold some of n addresses, and sets inner[i] to the innermost
 * of each. 0, -FMT_E_NOMEM.
 */
int dwarf_scopes_read(struct dwarf_scopes *s, Dwarf_Die *function, const uint64_t *addresses,
		      size_t n, uint32_t *inner);

#endif

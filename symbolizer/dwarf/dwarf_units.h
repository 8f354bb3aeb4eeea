/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_units: the compilation units of a file, and which of them made the code at an address.
 *
 * By .debug_aranges, which GCC writes and clang and Go do not; by the ranges of each unit that is
 * not in it; and by its functions where it has no ranges either.
 */
#ifndef SYMBOLIZER_DWARF_DWARF_UNITS_H
#define SYMBOLIZER_DWARF_DWARF_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "symbolizer/dwarf/dwarf_lines.h"

struct dwarf_unit {
	Dwarf_Die die;
	bool split;	 /* it is a skeleton: its functions are in another file */
	uint64_t dwo_id; /* by which they are known there */
};

struct dwarf_units;

/* Borrows all for its life. 0, -FMT_E_CORRUPT, -FMT_E_NOMEM. */
int dwarf_units_read(Dwarf *dwarf, const struct dwarf_code *code, size_t nr_code,
		     struct dwarf_units **ret);
void dwarf_units_free(struct dwarf_units *u);

/* The number of the unit of an address; false: nobody's. */
bool dwarf_units_find(const struct dwarf_units *u, uint64_t address, uint32_t *ret);
struct dwarf_unit *dwarf_units_at(const struct dwarf_units *u, uint32_t number);
size_t dwarf_units_count(const struct dwarf_units *u);

#endif

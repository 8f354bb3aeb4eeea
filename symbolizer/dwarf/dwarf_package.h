/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_package: the index of a .dwp file, which has the split units of a whole program: what of its
 * sections belongs to which unit. (.debug_cu_index: GNU's version 2, and DWARF 5, section 7.3.5.)
 */
#ifndef SYMBOLIZER_DWARF_DWARF_PACKAGE_H
#define SYMBOLIZER_DWARF_DWARF_PACKAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "format/bytes/span.h"

/* The sections of split units: those of a file, or the parts of them that are a unit's. */
struct dwarf_split_sections {
	struct span info, abbrev, str_offsets, rnglists;
	struct span str; /* always the whole */
};

/*
 * Puts a unit's parts of whole in *ret. False: the index has no such unit, it is damaged, or leads
 * out of the sections.
 */
bool dwarf_package_find(struct span index, uint64_t dwo_id,
			const struct dwarf_split_sections *whole, struct dwarf_split_sections *ret);

#endif

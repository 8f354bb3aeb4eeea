/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file that is being reduced: for the files of stored_reduce alone. */
#ifndef FORMAT_STORED_STORED_REDUCE_INTERNAL_H
#define FORMAT_STORED_STORED_REDUCE_INTERNAL_H

#include "format/stored/stored_check.h"
#include "format/stored/stored_reduce.h"
#include "format/stored/stored_strings.h"

struct reduction {
	struct stored_elf elf;
	struct stored_extra extra;
	struct stored_dynamic dynamic;
	struct stored_strings strings;
	uint64_t max_bytes, looked;
	bool with_symtab;
	uint64_t *kept;	     /* bytes, by section */
	bool *overlaps;	     /* by section */
	uint64_t loaded_end; /* of what stays where it was */
	struct stored_range *ranges;
	size_t nr_ranges, cap_ranges;
	stored_put_fn *put;
	void *arg;
};

#define FIELD(r, p, type, name) ELF_FIELD((r)->elf.is64, p, type, name)

/* --- stored_choice.c: which sections are kept, and how far ---------------------------------- */

/* So many of n bytes may still be looked through, which count from now on. */
uint64_t stored_choice_look(struct reduction *r, uint64_t n);
/*
 * Fills in overlaps: sections that share bytes of the file. Linkers make none: which of two is what its header says is not
 * known. 0, -FMT_E_NOMEM.
 */
int stored_choice_overlaps(struct reduction *r);
/* Fills in kept, which is all 0, and strings. 0, -FMT_E_NOMEM, and as of stored_elf_bytes(). */
int stored_choice_sections(struct reduction *r);

#endif

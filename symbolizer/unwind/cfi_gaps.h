/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cfi_gaps: copies of the code of a file of which its call frame information says nothing, for code_path. Most files
 * have next to none; those that were built without it are one gap. Go programs have frame pointers, and need none.
 */
#ifndef SYMBOLIZER_UNWIND_CFI_GAPS_H
#define SYMBOLIZER_UNWIND_CFI_GAPS_H

#include "symbolizer/object/elf_bytes.h"

#define CFI_GAPS_BYTES_MAX (16u << 20) /* of one file; of more nothing is known */
#define CFI_GAPS_ENDS_MAX 16

struct cfi_gaps {
	struct elf_bytes *v; /* by address */
	size_t nr, cap, bytes;
	uint64_t ends[CFI_GAPS_ENDS_MAX]; /* functions that end the thread or the process */
	size_t nr_ends;
};

/* Appends the code from start to end, if it has min bytes; it is behind what was added before. Only -FMT_E_NOMEM is an error. */
int cfi_gaps_add(struct cfi_gaps *g, struct elf_object *o, uint64_t start, uint64_t end,
		 uint64_t min);
/* Where exit() and its like are, which code in a gap may call. */
void cfi_gaps_find_ends(struct cfi_gaps *g, struct elf_object *o);
void cfi_gaps_done(struct cfi_gaps *g);

/* From vaddr to the end of the gap that it is in; empty: it is in none. */
struct span cfi_gaps_from(const struct cfi_gaps *g, uint64_t vaddr);
/* From the beginning of the gap up to vaddr. */
struct span cfi_gaps_before(const struct cfi_gaps *g, uint64_t vaddr);
bool cfi_gaps_is_end(const struct cfi_gaps *g, uint64_t vaddr);

#endif

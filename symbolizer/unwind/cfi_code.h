/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cfi_code: pieces of the code of which no FDE of a file that stays open tells, read when they are asked for. What
 * cfi_gaps copies at once.
 */
#ifndef SYMBOLIZER_UNWIND_CFI_CODE_H
#define SYMBOLIZER_UNWIND_CFI_CODE_H

#include "symbolizer/unwind/cfi_fdes.h"

#define CFI_CODE_PIECE_BYTES (16u << 10)
#define CFI_CODE_PIECES_MAX 64 /* of one file; one more frees all of these */
#define CFI_CODE_NEAR                                                                              \
	16 /* bytes that there are of the gap on either side of an address, if it has them */

/* All zero is an empty one. */
struct cfi_code {
	struct cfi_code_piece {
		uint8_t *p;
		uint64_t start, end;
		bool is_first, is_last; /* of its gap */
	} v[CFI_CODE_PIECES_MAX];
	size_t nr, last;
};

void cfi_code_done(struct cfi_code *c);
size_t cfi_code_bytes(const struct cfi_code *c);

/*
 * From vaddr on, CFI_CODE_NEAR bytes or more, or to the end of the gap that it is in; until the next is asked for. Empty: it
 * is in none, or that cannot be read. 0, -FMT_E_NOMEM: not now.
 */
int cfi_code_from(struct cfi_code *c, struct cfi_fdes *f, uint64_t vaddr, struct span *ret);
/* Likewise the bytes before vaddr, which may be the end of the gap. */
int cfi_code_before(struct cfi_code *c, struct cfi_fdes *f, uint64_t vaddr, struct span *ret);

#endif

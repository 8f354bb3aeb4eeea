/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * code_path: the caller of code that has no call frame information, by the code itself: its instructions are followed
 * from where the frame stands to a return, and what they do to the stack pointer and to saved registers is done. So
 * are libraries unwound that are built without it (musl, the hand-written assembler of codecs). x86 alone.
 *
 * Of a branch both ways are tried, straight on first. A way is left when it comes to a branch again, to what cannot be
 * followed, or to a return address that is none. What a function saves it has saved below where it began, and puts back:
 * a register that is popped from below the stack pointer of the frame has the value that it has now.
 */
#ifndef SYMBOLIZER_UNWIND_CODE_PATH_H
#define SYMBOLIZER_UNWIND_CODE_PATH_H

#include "symbolizer/unwind/cfi.h"
#include "symbolizer/unwind/cfi_expression.h"

#define CODE_WAYS_MAX 256     /* branches whose other way is kept; fmt_fp() of musl has 200 */
#define CODE_PASSED_BITS 4096 /* of a set of branches; two that share a bit cost a way */

/* Where a search stands; what was in it before does not matter. */
struct code_ways {
	struct code_way {
		uint64_t vaddr;
		struct cfi_registers r;
		unsigned straight; /* instructions from the first on, all without a branch; or very many */
	} now, v[CODE_WAYS_MAX];
	size_t nr;
	bool cut; /* a return address was not copied */
	/* Where a jump leads elsewhere: the return, if it is a call's last. */
	bool left;
	struct cfi_registers left_caller;
	uint64_t left_ra;
	uint64_t passed[CODE_PASSED_BITS / 64];
};

/* Is it an address that a call has left? */
typedef bool code_return_fn(void *arg, uint64_t ra);

struct code_path_query {
	struct cfi *cfi;
	uint64_t vaddr; /* of the next instruction of the frame */
	const struct cfi_registers *now;
	struct stack_copy *stack;
	struct code_ways *ways;
	unsigned *steps; /* instructions that are left to be looked at */
	code_return_fn *is_return;
	void *arg;
};

enum code_path_end {
	CODE_PATH_LOST, /* no return was found, */
	CODE_PATH_CUT,	/* or its address was not copied */
	CODE_PATH_RETURNS, /* *caller has the caller's stack pointer and preserved registers, *ra where it goes on */
	CODE_PATH_ENDS, /* it goes straight to where the thread or the process is ended: it has no caller */
};

enum code_path_end code_path(const struct code_path_query *q, struct cfi_registers *caller,
			     uint64_t *ra);

#endif

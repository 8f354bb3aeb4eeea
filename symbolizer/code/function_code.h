/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * function_code: the bytes of a function: from the file that was verified to be the recorded object,
 * or from the kernel; or why they are not here.
 */
#ifndef SYMBOLIZER_CODE_FUNCTION_CODE_H
#define SYMBOLIZER_CODE_FUNCTION_CODE_H

#include "symbolizer/code/annotation.h"
#include "symbolizer/code/kernel_code.h"

/* No function of a compiler is as long; a symbol may claim to be 2^63 bytes. */
#define FUNCTION_CODE_MAX (1u << 20)

struct function_code {
	uint64_t start, end; /* as the symbol has it, in the addresses of its samples */
	uint8_t *bytes;	     /* from start on; NULL: see why */
	size_t len;	     /* up to end, FUNCTION_CODE_MAX and what the file has */
	const char *why;     /* static; NULL: they are here */
	/*
	 * Of the kernel they are as at the last sample. Where they were written to since the first one: so often,
	 * each of the bytes so often, and all as at the first one. 0, NULL and NULL otherwise.
	 */
	size_t patches;
	bool patches_known; /* what was written to code of the kernel was read, and its code is here */
	uint32_t *patched;
	uint8_t *first;
	uint16_t machine;
	bool is64;
	/* Where names and lines of its addresses less moved are; NULL: nowhere. */
	struct object *object;
	uint64_t moved;
};

/* 0, whether there is code or not; -FMT_E_NOMEM. function_code_done() in any case. */
int function_code_read(struct kernel_code *kernel, const struct annotation_function *f,
		       struct function_code *ret);
void function_code_done(struct function_code *c);

#endif

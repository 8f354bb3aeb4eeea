/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_copy: the part of a stack that was copied when the sample was taken.
 */
#ifndef SYMBOLIZER_UNWIND_STACK_COPY_H
#define SYMBOLIZER_UNWIND_STACK_COPY_H

#include "format/bytes/span.h"

struct stack_copy {
	struct span bytes;
	uint64_t base; /* address of the first byte: the stack pointer */
	uint64_t used; /* bytes up to the end of the highest word that was asked for and is there */
	bool beyond;   /* something past the end was asked for */
	bool narrow;   /* its words have 4 bytes, not 8 */
};

/* The word at an address. False: it was not copied. */
static inline bool
stack_copy_word(struct stack_copy *s, uint64_t address, uint64_t *ret)
{
	const uint64_t at = address - s->base;
	const size_t size = s->narrow ? 4 : 8;

	if (s->bytes.len >= size && at <= s->bytes.len - size) {
		*ret = s->narrow ? le32dec(s->bytes.p + at) : le64dec(s->bytes.p + at);
		if (at + size > s->used)
			s->used = at + size;
		return true;
	}
	s->beyond |= address > s->base;
	return false;
}

#endif

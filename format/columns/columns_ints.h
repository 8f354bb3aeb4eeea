/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * columns_ints: a column of numbers, as bytes that compress.
 *
 *  offset
 *       0  u8   width       bytes of each number, 0 to 8
 *       1  u32  exceptions
 *       5  u64  base
 *      13       width times n bytes: the lowest byte of each number, then the next of each...
 *               then 8 times exceptions bytes, in the same order
 *
 * A number is base plus what its bytes say; with width 1 to 7 and all bits set it is base plus
 * the next exception. Bytes of equal weight stand together because each compresses best by
 * itself: low ones hardly, high ones to nearly nothing.
 */
#ifndef FORMAT_COLUMNS_COLUMNS_INTS_H
#define FORMAT_COLUMNS_COLUMNS_INTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bytes/buf.h"
#include "format/bytes/span.h"

#define COLUMNS_INTS_HEADER_BYTES 13

/* Numbers that are collected; the memory is kept when it is cleared. */
struct columns_words {
	uint64_t *v;
	size_t n, cap;
};

/* Room for more in all; false: out of memory. */
bool columns_words_reserve(struct columns_words *w, size_t more);
void columns_words_done(struct columns_words *w);

static inline bool
columns_words_add(struct columns_words *w, uint64_t v)
{
	if (w->n == w->cap && !columns_words_reserve(w, 1))
		return false;
	w->v[w->n++] = v;
	return true;
}

/* Room was reserved. */
static inline void
columns_words_push(struct columns_words *w, uint64_t v)
{
	w->v[w->n++] = v;
}

#define COLUMNS_CUTS_MAX 96
#define COLUMNS_CUT_BYTES 1024 /* a part that is compressed by itself is worth a table of its own */

/* Where columns are written to, and where one kind of bytes ends and another begins. */
struct columns_out {
	struct buf *buf;
	size_t start; /* of the payload in buf */
	size_t cuts[COLUMNS_CUTS_MAX];
	size_t nr_cuts;
};

/* Here the kind of bytes changes. */
void columns_out_cut(struct columns_out *out);
/* Appends a column; a failure is buf's. */
void columns_ints_put(struct columns_out *out, const uint64_t *v, size_t n);

/* A column that was read. */
struct columns_ints {
	uint64_t *v;
	size_t n, at; /* at: those that were taken */
};

/*
 * Takes a column of n numbers off s. 0, -FMT_E_CORRUPT: it does not fit, -FMT_E_NOMEM. n is bounded by
 * the caller: numbers that are all equal take no bytes.
 */
int columns_ints_take(struct span *s, size_t n, struct columns_ints *ret);
void columns_ints_done(struct columns_ints *c);

/* The next number; false: there is none. */
static inline bool
columns_ints_next(struct columns_ints *c, uint64_t *ret)
{
	if (c->at == c->n)
		return false;
	*ret = c->v[c->at++];
	return true;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * span: a window over bytes that nobody vouches for.
 *
 * The only way format/ touches bytes from a kernel ring, a file or a socket. Every
 * getter checks what is left before it reads; a getter that fails returns false,
 * leaves the span and the output as they were, and the caller refuses the record.
 * Integers are little-endian: the only byte order that spoor records, stores or
 * imports (docs/ARCHITECTURE.md, "Byte order").
 */
#ifndef FORMAT_BYTES_SPAN_H
#define FORMAT_BYTES_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <bsd/sys/endian.h>

struct span {
	const uint8_t *p; /* borrowed: valid as long as the bytes it was made from */
	size_t len;
};

static inline struct span
span_of(const void *p, size_t len)
{
	return (struct span){ p, len };
}

/* Moves the first n bytes of s into *ret_sub. */
static inline bool
span_take(struct span *s, size_t n, struct span *ret_sub)
{
	if (n > s->len)
		return false;
	*ret_sub = (struct span){ s->p, n };
	s->p += n;
	s->len -= n;
	return true;
}

/* Moves the last n bytes of s into *ret_sub. */
static inline bool
span_take_last(struct span *s, size_t n, struct span *ret_sub)
{
	if (n > s->len)
		return false;
	s->len -= n;
	*ret_sub = (struct span){ s->p + s->len, n };
	return true;
}

static inline bool
span_skip(struct span *s, size_t n)
{
	struct span gone;

	return span_take(s, n, &gone);
}

static inline bool
span_u8(struct span *s, uint8_t *ret)
{
	struct span b;

	if (!span_take(s, 1, &b))
		return false;
	*ret = b.p[0];
	return true;
}

static inline bool
span_u16(struct span *s, uint16_t *ret)
{
	struct span b;

	if (!span_take(s, 2, &b))
		return false;
	*ret = le16dec(b.p);
	return true;
}

static inline bool
span_u32(struct span *s, uint32_t *ret)
{
	struct span b;

	if (!span_take(s, 4, &b))
		return false;
	*ret = le32dec(b.p);
	return true;
}

static inline bool
span_u64(struct span *s, uint64_t *ret)
{
	struct span b;

	if (!span_take(s, 8, &b))
		return false;
	*ret = le64dec(b.p);
	return true;
}

/* A field of 4 bytes or, in a file of 64 bits, of 8. */
static inline bool
span_u32_or_u64(struct span *s, bool is64, uint64_t *ret)
{
	uint32_t narrow;

	if (is64)
		return span_u64(s, ret);
	if (!span_u32(s, &narrow))
		return false;
	*ret = narrow;
	return true;
}

/*
 * Takes an array of n u64 words; n comes from the same untrusted bytes, so the
 * product is never computed before it is known to fit.
 */
static inline bool
span_take_words(struct span *s, uint64_t n, size_t words_each, struct span *ret_sub)
{
	if (words_each == 0 || n > s->len / 8 / words_each)
		return false;
	return span_take(s, (size_t)n * words_each * 8, ret_sub);
}

/* The i-th u64 of a span that span_take_words() made; i is the caller's to bound. */
static inline uint64_t
span_word(struct span s, size_t i)
{
	return le64dec(s.p + i * 8);
}

static inline size_t
span_words(struct span s)
{
	return s.len / 8;
}

/*
 * Takes a NUL-terminated string; the NUL has to be inside s. *ret_str points into s and
 * ends in its NUL. What follows the NUL stays in s (padding, or a later field).
 */
static inline bool
span_string(struct span *s, const char **ret_str)
{
	const uint8_t *nul = s->len ? memchr(s->p, 0, s->len) : NULL;

	if (!nul)
		return false;
	*ret_str = (const char *)s->p;
	return span_skip(s, (size_t)(nul - s->p) + 1);
}

#endif

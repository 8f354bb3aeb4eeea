/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/columns/columns_ints.h"

#include <stdlib.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"

#define WIDTH_MAX 8
#define AT_ONCE 256

bool
columns_words_reserve(struct columns_words *w, size_t more)
{
	return array_reserve(w->v, w->n, w->cap, more) == 0;
}

void
columns_words_done(struct columns_words *w)
{
	free(w->v);
	*w = (struct columns_words){ 0 };
}

void
columns_out_cut(struct columns_out *out)
{
	size_t at = out->buf->len - out->start;
	size_t last = out->nr_cuts > 0 ? out->cuts[out->nr_cuts - 1] : 0;

	if (at - last >= COLUMNS_CUT_BYTES && out->nr_cuts < COLUMNS_CUTS_MAX)
		out->cuts[out->nr_cuts++] = at;
}

/* All bits of width bytes: in the column it says that the number is among the exceptions. */
static uint64_t
escape_of(unsigned int width)
{
	return width < WIDTH_MAX ? (UINT64_C(1) << (8 * width)) - 1 : UINT64_MAX;
}

static unsigned int
bytes_of(uint64_t v)
{
	return v == 0 ? 0 : (71 - (unsigned int)__builtin_clzll(v)) / 8;
}

/*
 * The width for numbers up to span, some of them much greater than most. One more byte a number
 * costs next to nothing where it is 0, and about two where it is not; an exception costs eight,
 * and the escape.
 */
static unsigned int
choose_width(const uint64_t *v, size_t n, uint64_t base, uint64_t span)
{
	size_t wide[WIDTH_MAX + 1] = { 0 }; /* numbers that need so many bytes */
	unsigned int width = bytes_of(span + (span < UINT64_MAX));
	size_t exceptions = 0;

	if (width <= 2)
		return width;
	for (size_t i = 0; i < n; i++)
		wide[bytes_of(v[i] - base + (v[i] - base < UINT64_MAX))]++;
	while (width > 1) {
		exceptions += wide[width];
		if (exceptions * 6 > n / 32)
			break;
		width--;
	}
	return width;
}

/* Nearly all columns are of one or two bytes, without exceptions. */
static void
put_narrow(uint8_t *to, const uint64_t *v, size_t n, uint64_t base, unsigned int width)
{
	for (size_t i = 0; i < n && width == 1; i++)
		to[i] = (uint8_t)(v[i] - base);
	for (size_t i = 0; i < n && width == 2; i++) {
		uint64_t x = v[i] - base;

		to[i] = (uint8_t)x;
		to[n + i] = (uint8_t)(x >> 8);
	}
}

static void
put_planes(uint8_t *to, const uint64_t *v, size_t n, uint64_t base, unsigned int width)
{
	const uint64_t escape = escape_of(width);

	for (size_t i = 0; i < n; i++) {
		uint64_t x = v[i] - base;

		x = x < escape ? x : escape;
		for (size_t at = i; at < width * n; at += n, x >>= 8)
			to[at] = (uint8_t)x;
	}
}

static size_t
count_exceptions(const uint64_t *v, size_t n, uint64_t base, uint64_t escape)
{
	size_t exceptions = 0;

	for (size_t i = 0; i < n; i++)
		exceptions += v[i] - base >= escape;
	return exceptions;
}

static void
put_exceptions(uint8_t *to, const uint64_t *v, uint64_t base, uint64_t escape, size_t exceptions)
{
	size_t at = 0;

	for (size_t i = 0; at < exceptions; i++) {
		uint64_t x = v[i] - base;

		if (x < escape)
			continue;
		for (unsigned int k = 0; k < WIDTH_MAX; k++)
			to[k * exceptions + at] = (uint8_t)(x >> (8 * k));
		at++;
	}
}

void
columns_ints_put(struct columns_out *out, const uint64_t *v, size_t n)
{
	uint64_t base = n > 0 ? v[0] : 0, max = base;
	size_t exceptions = 0, bytes;
	unsigned int width;
	uint8_t *to;

	for (size_t i = 1; i < n; i++) {
		base = v[i] < base ? v[i] : base;
		max = v[i] > max ? v[i] : max;
	}
	width = base == max ? 0 : choose_width(v, n, base, max - base);
	/* With escape - 1 the greatest, there is nothing to be an exception. */
	if (width > 0 && width < WIDTH_MAX && max - base >= escape_of(width))
		exceptions = count_exceptions(v, n, base, escape_of(width));
	buf_u8(out->buf, (uint8_t)width);
	buf_u32(out->buf, (uint32_t)exceptions);
	buf_u64(out->buf, base);
	bytes = width * n + WIDTH_MAX * exceptions;
	to = buf_reserve(out->buf, bytes);
	if (!to)
		return;
	if (width <= 2 && exceptions == 0)
		put_narrow(to, v, n, base, width);
	else
		put_planes(to, v, n, base, width);
	put_exceptions(to + width * n, v, base, escape_of(width), exceptions);
	/* The upper bytes are all alike: mostly 0. */
	for (unsigned int k = 0; k < width; k++) {
		out->buf->len += n;
		if (k < 2)
			columns_out_cut(out);
	}
	out->buf->len += WIDTH_MAX * exceptions;
	columns_out_cut(out);
}

static uint64_t
exception_at(struct span exceptions, size_t number)
{
	const size_t n = exceptions.len / WIDTH_MAX;
	uint64_t v = 0;

	for (unsigned int k = 0; k < WIDTH_MAX; k++)
		v |= (uint64_t)exceptions.p[k * n + number] << (8 * k);
	return v;
}

/* What is read of a column. */
struct ints_reader {
	struct span planes, exceptions;
	size_t n, next; /* next: of the exceptions */
	uint64_t base;
	unsigned int width;
};

/* False: more numbers are exceptions than there are. */
static bool
read_exceptions(struct ints_reader *r, size_t n, uint64_t escape, uint64_t *to)
{
	for (size_t i = 0; i < n; i++) {
		if (to[i] != escape)
			continue;
		if (r->next == r->exceptions.len / WIDTH_MAX)
			return false;
		to[i] = exception_at(r->exceptions, r->next++);
	}
	return true;
}

/*
 * Numbers from at on. Inline, so that a compiler which knows how many there are makes vectors of
 * the loops.
 */
static inline __attribute__((always_inline)) bool
read_some(struct ints_reader *r, size_t at, size_t n, uint64_t *restrict to)
{
	const uint8_t *restrict plane = r->planes.p + at;
	const uint64_t base = r->base;
	uint64_t above = 0; /* has a bit above width bytes, if one of the numbers is the escape */

	for (size_t i = 0; i < n; i++)
		to[i] = 0;
	for (unsigned int k = 0; k < r->width; k++, plane += r->n)
		for (size_t i = 0; i < n; i++)
			to[i] |= (uint64_t)plane[i] << (8 * k);
	for (size_t i = 0; i < n; i++)
		above |= to[i] + 1;
	if (r->width > 0 && r->width < WIDTH_MAX && above > escape_of(r->width) &&
	    !read_exceptions(r, n, escape_of(r->width), to))
		return false;
	for (size_t i = 0; i < n; i++)
		to[i] += base;
	return true;
}

int
columns_ints_take(struct span *s, size_t n, struct columns_ints *ret)
{
	struct ints_reader r = { .n = n };
	struct span rest = *s;
	uint32_t nr_exceptions;
	bool good = true;
	uint8_t width;

	*ret = (struct columns_ints){ .n = n };
	if (!span_u8(&rest, &width) || !span_u32(&rest, &nr_exceptions) ||
	    !span_u64(&rest, &r.base) || width > WIDTH_MAX || (width > 0 && n > rest.len / width) ||
	    !span_take(&rest, width * n, &r.planes) ||
	    !span_take_words(&rest, nr_exceptions, 1, &r.exceptions))
		return -FMT_E_CORRUPT;
	ret->v = reallocarray(NULL, n + 1, sizeof(*ret->v));
	if (!ret->v)
		return -FMT_E_NOMEM;
	r.width = width;
	/* As many at once as stay in the nearest cache for all loops. */
	for (size_t at = 0; good && at < n; at += AT_ONCE)
		good = n - at >= AT_ONCE ? read_some(&r, at, AT_ONCE, ret->v + at)
					 : read_some(&r, at, n - at, ret->v + at);
	if (!good)
		return -FMT_E_CORRUPT;
	*s = rest;
	return 0;
}

void
columns_ints_done(struct columns_ints *c)
{
	free(c->v);
	*c = (struct columns_ints){ .n = 0 };
}

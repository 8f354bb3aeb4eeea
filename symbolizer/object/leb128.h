/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leb128: numbers of DWARF that take as many bytes as they need, seven bits each, lowest first.
 */
#ifndef SYMBOLIZER_OBJECT_LEB128_H
#define SYMBOLIZER_OBJECT_LEB128_H

#include "format/bytes/span.h"

/* Ten bytes have 64 bits; producers that pad a number, to write it over later, take a few more. */
#define LEB128_BYTES_MAX 64

/* Takes one off s. False: it does not end in s, or is too long; bits above 64 are dropped. */
static inline bool
span_uleb(struct span *s, uint64_t *ret)
{
	uint64_t v = 0;

	for (size_t i = 0; i < s->len && i < LEB128_BYTES_MAX; i++) {
		if (i < 10)
			v |= (uint64_t)(s->p[i] & 0x7f) << (7 * i);
		if (!(s->p[i] & 0x80)) {
			*ret = v;
			return span_skip(s, i + 1);
		}
	}
	return false;
}

static inline bool
span_sleb(struct span *s, int64_t *ret)
{
	const uint8_t *p = s->p;
	unsigned int bits;
	uint64_t v;

	if (!span_uleb(s, &v))
		return false;
	bits = 7 * (unsigned int)(s->p - p);
	if (bits < 64 && (s->p[-1] & 0x40))
		v |= ~UINT64_C(0) << bits;
	*ret = (int64_t)v;
	return true;
}

#endif

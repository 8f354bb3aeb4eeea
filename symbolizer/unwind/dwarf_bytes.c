/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/unwind/dwarf_bytes.h"

enum {
	ULEB128 = 0x01,
	UDATA2 = 0x02,
	UDATA4 = 0x03,
	UDATA8 = 0x04,
	SLEB128 = 0x09,
	SDATA2 = 0x0a,
	SDATA4 = 0x0b,
	SDATA8 = 0x0c,
	PCREL = 0x10,
	DATAREL = 0x30,
};

bool
dwarf_uleb(struct span *s, uint64_t *ret)
{
	uint64_t value = 0;
	unsigned shift = 0;

	for (size_t i = 0; i < s->len; i++, shift += 7) {
		const uint64_t bits = s->p[i] & 0x7f;

		if (shift > 63 ? bits != 0 : bits << shift >> shift != bits)
			return false;
		if (shift <= 63)
			value |= bits << shift;
		if (s->p[i] & 0x80)
			continue;
		*ret = value;
		return span_skip(s, i + 1);
	}
	return false;
}

bool
dwarf_sleb(struct span *s, int64_t *ret)
{
	uint64_t value = 0;
	unsigned shift = 0;

	for (size_t i = 0; i < s->len; i++) {
		const uint8_t byte = s->p[i];

		if (shift > 63)
			return false;
		value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (byte & 0x80)
			continue;
		if (shift < 64 && (byte & 0x40))
			value |= UINT64_MAX << shift;
		*ret = (int64_t)value;
		return span_skip(s, i + 1);
	}
	return false;
}

static bool
fixed(struct span *s, size_t bytes, bool is_signed, uint64_t *ret)
{
	struct span b;
	uint64_t v = 0;

	if (!span_take(s, bytes, &b))
		return false;
	for (size_t i = 0; i < bytes; i++)
		v |= (uint64_t)b.p[i] << (8 * i);
	if (is_signed && bytes < 8 && v >> (8 * bytes - 1))
		v |= UINT64_MAX << (8 * bytes);
	*ret = v;
	return true;
}

static bool
pointer_value(struct span *s, uint8_t format, uint64_t *ret)
{
	switch (format) {
	case DWARF_ABSPTR:
	case UDATA8:
	case SDATA8:
		return fixed(s, 8, false, ret);
	case ULEB128:
		return dwarf_uleb(s, ret);
	case SLEB128: {
		int64_t v;

		if (!dwarf_sleb(s, &v))
			return false;
		*ret = (uint64_t)v;
		return true;
	}
	case UDATA2:
	case SDATA2:
		return fixed(s, 2, format == SDATA2, ret);
	case UDATA4:
	case SDATA4:
		return fixed(s, 4, format == SDATA4, ret);
	}
	return false;
}

bool
dwarf_pointer(struct span *s, uint8_t encoding, uint64_t at, uint64_t data, uint64_t *ret)
{
	const uint8_t relative = encoding & (uint8_t)~DWARF_FORMAT_BITS;
	uint64_t base = 0;

	if (relative == PCREL)
		base = at;
	else if (relative == DATAREL && data != 0)
		base = data;
	else if (relative != 0)
		return false;
	if (!pointer_value(s, encoding & DWARF_FORMAT_BITS, ret))
		return false;
	*ret += base;
	return true;
}

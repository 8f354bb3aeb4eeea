/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/dwarf_pointer.h"

#include "symbolizer/object/leb128.h"

enum {
	ULEB128 = 0x01,
	UDATA2 = 0x02,
	UDATA8 = 0x04,
	SLEB128 = 0x09,
	SDATA2 = 0x0a,
	SDATA4 = 0x0b,
	SDATA8 = 0x0c,
	PCREL = 0x10,
	DATAREL = 0x30,
};

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
		return span_uleb(s, ret);
	case SLEB128: {
		int64_t v;

		if (!span_sleb(s, &v))
			return false;
		*ret = (uint64_t)v;
		return true;
	}
	case UDATA2:
	case SDATA2:
		return fixed(s, 2, format == SDATA2, ret);
	case DWARF_UDATA4:
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

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/block/foreign.h"

void
foreign_add(struct buf *out, enum foreign_kind kind, uint32_t id, struct span bytes)
{
	buf_u32(out, kind);
	buf_u32(out, id);
	buf_u64(out, bytes.len);
	buf_append(out, bytes.p, bytes.len);
	buf_zero(out, -bytes.len & 7);
}

int
foreign_next(struct span *s, struct foreign *ret)
{
	uint64_t length;
	struct span pad;

	if (s->len == 0)
		return 0;
	if (!span_u32(s, &ret->kind) || !span_u32(s, &ret->id) || !span_u64(s, &length))
		return -FMT_E_TRUNCATED;
	if (length > s->len)
		return -FMT_E_TRUNCATED;
	if (!span_take(s, (size_t)length, &ret->bytes) || !span_take(s, -(size_t)length & 7, &pad))
		return -FMT_E_TRUNCATED;
	return 1;
}

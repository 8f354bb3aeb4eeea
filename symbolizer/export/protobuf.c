/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/export/protobuf.h"

enum { WIRE_VARINT = 0, WIRE_I64 = 1, WIRE_LEN = 2 };

void
protobuf_varint(struct buf *b, uint64_t v)
{
	for (; v > 0x7f; v >>= 7)
		buf_u8(b, (uint8_t)(v | 0x80));
	buf_u8(b, (uint8_t)v);
}

void
protobuf_uint(struct buf *b, unsigned int field, uint64_t v)
{
	if (v == 0)
		return;
	protobuf_varint(b, (uint64_t)field << 3 | WIRE_VARINT);
	protobuf_varint(b, v);
}

void
protobuf_length(struct buf *b, unsigned int field, uint64_t n)
{
	protobuf_varint(b, (uint64_t)field << 3 | WIRE_LEN);
	protobuf_varint(b, n);
}

void
protobuf_fixed64(struct buf *b, unsigned int field, uint64_t v)
{
	protobuf_varint(b, (uint64_t)field << 3 | WIRE_I64);
	buf_u64(b, v);
}

void
protobuf_bytes(struct buf *b, unsigned int field, const void *p, size_t n)
{
	protobuf_length(b, field, n);
	buf_append(b, p, n);
}

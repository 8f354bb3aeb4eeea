/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * protobuf: fields of a protocol buffer message, appended to bytes.
 * Source: protobuf.dev, "Encoding". Zero is proto3's default and is not written.
 */
#ifndef SYMBOLIZER_EXPORT_PROTOBUF_H
#define SYMBOLIZER_EXPORT_PROTOBUF_H

#include "format/bytes/buf.h"

/* One of a packed repeated field, without its tag. */
void protobuf_varint(struct buf *b, uint64_t v);
/* An integer, of any of the types that are varints and not zigzag. */
void protobuf_uint(struct buf *b, unsigned int field, uint64_t v);
/* A string, bytes, a message or a packed field; written if empty, too. */
void protobuf_bytes(struct buf *b, unsigned int field, const void *p, size_t n);

/* The beginning of such a one, whose n bytes follow. */
void protobuf_length(struct buf *b, unsigned int field, uint64_t n);
/* Eight bytes; written if zero, too. */
void protobuf_fixed64(struct buf *b, unsigned int field, uint64_t v);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/bytes/buf.h"

#include <stdlib.h>
#include <string.h>

#define BUF_CAP_MIN 256

void
buf_init(struct buf *b)
{
	memset(b, 0, sizeof(*b));
}

void
buf_done(struct buf *b)
{
	free(b->p);
	buf_init(b);
}

void
buf_clear(struct buf *b)
{
	b->len = 0;
	b->failed = false;
}

bool
buf_failed(const struct buf *b)
{
	return b->failed;
}

uint8_t *
buf_reserve(struct buf *b, size_t n)
{
	size_t cap = b->cap ? b->cap : BUF_CAP_MIN;
	uint8_t *p;

	if (b->failed)
		return NULL;
	if (b->p && n <= b->cap - b->len)
		return b->p + b->len;
	if (n > SIZE_MAX / 2 - b->len) {
		b->failed = true;
		return NULL;
	}
	while (cap < b->len + n)
		cap *= 2;
	p = realloc(b->p, cap);
	if (!p) {
		b->failed = true;
		return NULL;
	}
	b->p = p;
	b->cap = cap;
	return b->p + b->len;
}

void
buf_append(struct buf *b, const void *p, size_t n)
{
	uint8_t *to;

	if (n == 0)
		return;
	to = buf_reserve(b, n);
	if (!to)
		return;
	memcpy(to, p, n);
	b->len += n;
}

void
buf_zero(struct buf *b, size_t n)
{
	uint8_t *to = buf_reserve(b, n);

	if (!to)
		return;
	memset(to, 0, n);
	b->len += n;
}

void
buf_u8(struct buf *b, uint8_t v)
{
	buf_append(b, &v, sizeof(v));
}

void
buf_u16(struct buf *b, uint16_t v)
{
	uint8_t bytes[sizeof(v)];

	le16enc(bytes, v);
	buf_append(b, bytes, sizeof(bytes));
}

void
buf_u32(struct buf *b, uint32_t v)
{
	uint8_t bytes[sizeof(v)];

	le32enc(bytes, v);
	buf_append(b, bytes, sizeof(bytes));
}

void
buf_u64(struct buf *b, uint64_t v)
{
	uint8_t bytes[sizeof(v)];

	le64enc(bytes, v);
	buf_append(b, bytes, sizeof(bytes));
}

void
buf_text(struct buf *b, const char *s)
{
	buf_append(b, s, strlen(s));
}

void
buf_string(struct buf *b, const char *s)
{
	size_t n = s ? strlen(s) : 0;

	if (n > UINT32_MAX) {
		b->failed = true;
		return;
	}
	buf_u32(b, (uint32_t)n);
	buf_append(b, s, n);
}

struct span
buf_span(const struct buf *b)
{
	return span_of(b->p, b->len);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buf: bytes that grow; the writing counterpart of span. Integers go in little-endian.
 *
 * A failed allocation is sticky: the appending calls do nothing from then on and
 * buf_failed() says so, so that a run of appends needs one check at its end.
 */
#ifndef FORMAT_BYTES_BUF_H
#define FORMAT_BYTES_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bytes/span.h"

struct buf {
	uint8_t *p;
	size_t len;
	size_t cap;
	bool failed;
};

void buf_init(struct buf *b);
void buf_done(struct buf *b);  /* frees; b may be used again */
void buf_clear(struct buf *b); /* empties, keeps the memory, forgets a failure */
bool buf_failed(const struct buf *b);
/* Room for n more bytes; returns where they go (len is not moved) or NULL. */
uint8_t *buf_reserve(struct buf *b, size_t n);
void buf_append(struct buf *b, const void *p, size_t n);
void buf_zero(struct buf *b, size_t n);
void buf_u8(struct buf *b, uint8_t v);
void buf_u16(struct buf *b, uint16_t v);
void buf_u32(struct buf *b, uint32_t v);
void buf_u64(struct buf *b, uint64_t v);
void buf_text(struct buf *b, const char *s); /* without its NUL */
/* u32 length, then the bytes, no NUL; NULL is the empty string. */
void buf_string(struct buf *b, const char *s);
struct span buf_span(const struct buf *b);

#endif

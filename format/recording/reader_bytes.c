/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/recording/reader_internal.h"

#include <errno.h>
#include <string.h>

#include "format/bytes/crc32c.h"
#include "format/columns/columns.h"

int
reader_io_fail(struct fmt_where *where, int64_t error, uint64_t offset)
{
	errno = (int)-error;
	return fmt_fail(where, FMT_E_IO, offset, "read");
}

int
reader_update_size(struct recording_reader *r, struct fmt_where *where)
{
	int64_t size = r->source->size(r->source);

	if (size < 0)
		return reader_io_fail(where, size, 0);
	r->size = (uint64_t)size;
	return 0;
}

int
reader_peek(struct recording_reader *r, uint64_t at, size_t need, size_t fill, struct span *ret,
	    struct fmt_where *where)
{
	uint64_t skip = at - r->window_at;
	ssize_t n;

	if (at < r->window_at || skip > r->window_len || need > r->window_len - skip) {
		n = r->source->read(r->source, at, r->window, fill);
		if (n < 0) {
			r->window_len = 0;
			return reader_io_fail(where, n, at);
		}
		r->window_at = at;
		r->window_len = (size_t)n;
		skip = 0;
	}
	*ret = span_of(r->window + skip, r->window_len - (size_t)skip);
	return 0;
}

int
reader_find_sync(struct recording_reader *r, uint64_t from, uint64_t *ret_at,
		 struct fmt_where *where)
{
	struct span s = { 0 };
	const uint8_t *hit;
	int error;

	for (;;) {
		/* No byte of it is a zero: none is in a hole, which may be any number of bytes. */
		if (r->source->data)
			from = r->source->data(r->source, from);
		if (from >= r->size)
			return 0;
		error = reader_peek(r, from, SYNC_BYTES, SCAN_BYTES, &s, where);
		if (error)
			return error;
		if (s.len < SYNC_BYTES)
			return 0;
		hit = memmem(s.p, s.len, BLOCK_SYNC, SYNC_BYTES);
		if (hit) {
			*ret_at = from + (uint64_t)(hit - s.p);
			return 1;
		}
		from += s.len - (SYNC_BYTES - 1);
	}
}

int
reader_header_at(struct recording_reader *r, uint64_t at, const uint8_t *file_id,
		 struct block_header *ret, struct fmt_where *where)
{
	struct span s;
	int error = reader_peek(r, at, BLOCK_HEADER_BYTES_MAX, PEEK_BYTES, &s, where);

	if (error)
		return error;
	if (block_header_decode(s, file_id, ret) != 0)
		return 0;
	return at <= r->size && reader_extent(ret) <= r->size - at;
}

static int
decompress(struct recording_reader *r, const struct block_header *h, struct span stored,
	   struct span *ret)
{
	size_t n;

	/* Before memory is taken: the frame has to be one, whole, and say the same length. */
	if (ZSTD_getFrameContentSize(stored.p, stored.len) != h->raw_length ||
	    ZSTD_findFrameCompressedSize(stored.p, stored.len) != stored.len)
		return 0;
	buf_clear(&r->raw);
	if (!buf_reserve(&r->raw, h->raw_length))
		return -FMT_E_NOMEM;
	n = ZSTD_decompressDCtx(r->zstd, r->raw.p, h->raw_length, stored.p, stored.len);
	if (ZSTD_isError(n) || n != h->raw_length)
		return 0;
	*ret = span_of(r->raw.p, n);
	return 1;
}

/* What is above sees records as the kernel wrote them, whatever form they were kept in. */
static int
undo_encoding(struct recording_reader *r, const struct block_header *h, struct span *payload)
{
	int error;

	if (h->encoding != BLOCK_COLUMNAR || r->keep_columns)
		return 1;
	buf_clear(&r->records);
	error = columns_decode(*payload, h->records, BLOCK_RECORDS_MAX, &r->records, NULL);
	if (error)
		return error == -FMT_E_NOMEM ? error : 0;
	*payload = buf_span(&r->records);
	return 1;
}

int
reader_load(struct recording_reader *r, uint64_t at, const struct block_header *h, struct span *ret,
	    struct fmt_where *where)
{
	struct span stored;
	ssize_t n;
	int result;

	buf_clear(&r->stored);
	if (!buf_reserve(&r->stored, h->stored_length))
		return fmt_fail(where, FMT_E_NOMEM, at, "payload of %u bytes", h->stored_length);
	n = r->source->read(r->source, at + h->header_size, r->stored.p, h->stored_length);
	if (n < 0)
		return reader_io_fail(where, n, at + h->header_size);
	stored = span_of(r->stored.p, (size_t)n);
	if (stored.len != h->stored_length || crc32c(0, stored.p, stored.len) != h->payload_crc)
		return 0;
	result = 1;
	if (h->flags & BLOCK_F_STORED)
		*ret = stored;
	else
		result = decompress(r, h, stored, ret);
	if (result > 0)
		result = undo_encoding(r, h, ret);
	if (result < 0)
		return fmt_fail(where, FMT_E_NOMEM, at, "payload of %u bytes", h->raw_length);
	return result;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/recording/recording_internal.h"

#include <errno.h>
#include <string.h>

#include "format/block/recording_index.h"
#include "format/block/recording_meta.h"
#include "format/bytes/crc32c.h"
#include "format/bytes/zstd_frame.h"

int
recording_blocks_sticky(const struct recording_writer *w, struct fmt_where *where)
{
	if (w->error && where)
		*where = w->where;
	return w->error;
}

size_t
recording_blocks_open(const struct recording_writer *w)
{
	return w->sideband.records.len + w->samples_open.records.len;
}

int
recording_blocks_fail_nomem(struct recording_writer *w)
{
	return w->error = fmt_fail(&w->where, FMT_E_NOMEM, w->size, "block of %zu bytes",
				   recording_blocks_open(w));
}

void
recording_blocks_cut_back(struct recording_writer *w)
{
	int error = w->sink->cut(w->sink, w->size);

	w->torn = error != 0 && error != -EINVAL;
}

int
recording_blocks_bytes(struct recording_writer *w, const struct buf *bytes)
{
	int error;

	if (w->torn)
		recording_blocks_cut_back(w);
	error = w->torn ? -EIO : w->sink->write(w->sink, bytes->p, bytes->len);
	if (error) {
		errno = -error;
		w->error = fmt_fail(&w->where, FMT_E_IO, w->size, "write of %zu bytes", bytes->len);
		if (!w->torn)
			recording_blocks_cut_back(w);
		return w->error;
	}
	w->size += bytes->len;
	return 0;
}

/* Compresses payload behind the header's place in w->out; fills in lengths and CRC. */
static int
pack(struct recording_writer *w, struct span payload, struct block_header *h)
{
	struct zstd_parts parts = { 0 };
	size_t n, bound;
	uint8_t *to;

	if (h->encoding == BLOCK_COLUMNAR) {
		parts.nr_cuts = columns_encoder_cuts(w->encoder, &parts.cuts);
		parts.numbers = columns_encoder_numbers(w->encoder);
	}
	bound = zstd_frame_bound(payload.len, parts.nr_cuts);
	buf_clear(&w->out);
	buf_zero(&w->out, BLOCK_HEADER_BYTES);
	h->raw_length = (uint32_t)payload.len;
	to = buf_reserve(&w->out, bound);
	if (!to)
		return recording_blocks_fail_nomem(w);
	n = payload.len;
	if (!(h->flags & BLOCK_F_STORED) && payload.len > 0) {
		n = zstd_frame_pack(w->zstd, payload, &parts, to, bound);
		if (n == 0 || n >= payload.len)
			n = payload.len;
	}
	if (n == payload.len) {
		h->flags |= BLOCK_F_STORED;
		if (n > 0)
			memcpy(to, payload.p, n);
	}
	h->stored_length = (uint32_t)n;
	h->payload_crc = crc32c(0, to, n);
	w->out.len += n;
	return 0;
}

int
recording_blocks_write(struct recording_writer *w, struct span payload, struct block_header *h)
{
	int error;

	if (payload.len > BLOCK_RAW_MAX)
		return w->error = fmt_fail(&w->where, FMT_E_TOO_BIG, w->size,
					   "payload of %zu bytes", payload.len);
	/* So that nothing can fail once the block is on disk. An INDEX is w->index itself. */
	if (h->type != BLOCK_INDEX && !buf_reserve(&w->index, INDEX_ENTRY_BYTES)) {
		w->index.failed = false;
		return recording_blocks_fail_nomem(w);
	}
	h->seq = w->seq;
	h->offset = w->size;
	h->lost = w->lost;
	h->header_size = BLOCK_HEADER_BYTES;
	error = pack(w, payload, h);
	if (error)
		return error;
	block_header_encode(h, w->meta->file_id, w->out.p);
	error = recording_blocks_bytes(w, &w->out);
	if (error)
		return error;
	w->seq++;
	w->raw_bytes += payload.len;
	if (h->type == BLOCK_STATE || (h->type == BLOCK_RECORDS && !h->samples))
		w->sideband_bytes += w->out.len;
	if (h->type == BLOCK_INDEX)
		recording_index_begin(&w->index, h->offset);
	else if (h->type != BLOCK_END)
		recording_index_add(&w->index, h);
	return 0;
}

int
recording_blocks_meta(struct recording_writer *w)
{
	struct block_header h = {
		.type = BLOCK_META,
		.flags = BLOCK_F_CRITICAL,
		.complete = w->complete,
	};
	int error;

	buf_clear(&w->meta_bytes);
	error = recording_meta_encode(w->meta, &w->meta_bytes);
	if (error)
		return w->error = fmt_fail(&w->where, error, w->size, "meta");
	return recording_blocks_write(w, buf_span(&w->meta_bytes), &h);
}

int
recording_blocks_index(struct recording_writer *w)
{
	struct block_header h = { .type = BLOCK_INDEX, .complete = w->complete };
	uint64_t offset;
	int error = recording_blocks_meta(w);

	if (error)
		return error;
	offset = w->size;
	error = recording_blocks_write(w, buf_span(&w->index), &h);
	if (!error)
		w->last_index = offset;
	return error;
}

bool
recording_blocks_index_due(const struct recording_writer *w, uint32_t blocks)
{
	return le32dec(w->index.p) >= blocks;
}

int
recording_blocks_end(struct recording_writer *w)
{
	struct block_header h = {
		.type = BLOCK_END,
		.flags = BLOCK_F_STORED,
		.complete = w->complete,
	};
	const struct recording_end end = {
		.index = w->last_index,
		.blocks = w->seq,
		.records = w->records,
		.samples = w->samples,
		.raw_bytes = w->raw_bytes,
		.lost = w->lost,
	};

	buf_clear(&w->meta_bytes);
	recording_end_encode(&end, &w->meta_bytes);
	if (buf_failed(&w->meta_bytes))
		return recording_blocks_fail_nomem(w);
	return recording_blocks_write(w, buf_span(&w->meta_bytes), &h);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/recording/recording_reader.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/recording/reader_internal.h"

void
reader_damage(struct recording_reader *r, enum fmt_error error, uint64_t at, const char *detail,
	      ...)
{
	char text[sizeof(r->seen.first.detail)];
	va_list ap;

	if (r->seen.first.detail[0])
		return;
	va_start(ap, detail);
	vsnprintf(text, sizeof(text), detail, ap);
	va_end(ap);
	fmt_fail(&r->seen.first, error, at, "%s", text);
}

static void
drop_hole(struct recording_reader *r, size_t i)
{
	r->nr_holes--;
	memmove(&r->holes[i], &r->holes[i + 1], (r->nr_holes - i) * sizeof(r->holes[0]));
}

static void
add_hole(struct recording_reader *r, size_t i, uint64_t from, uint64_t until)
{
	if (from == until)
		return;
	if (r->nr_holes == HOLES_MAX) {
		if (i == 0)
			return;
		drop_hole(r, 0);
		i--;
	}
	memmove(&r->holes[i + 1], &r->holes[i], (r->nr_holes - i) * sizeof(r->holes[0]));
	r->holes[i] = (struct seq_hole){ from, until };
	r->nr_holes++;
}

/* The hole in the sequence that this block is from, or nr_holes. */
static size_t
hole_of(const struct recording_reader *r, uint64_t seq)
{
	size_t i = 0;

	while (i < r->nr_holes && (seq < r->holes[i].from || seq >= r->holes[i].until))
		i++;
	return i;
}

/* One that was missing has come. */
static void
fill_hole(struct recording_reader *r, uint64_t seq)
{
	size_t i = hole_of(r, seq);
	const struct seq_hole hole = r->holes[i];

	drop_hole(r, i);
	add_hole(r, i, seq + 1, hole.until);
	add_hole(r, i, hole.from, seq);
	r->seen.damaged_blocks--;
}

/* Finds the next header of a block not had yet, from r->pos on: 1, 0 at the end, negative. */
static int
find_block(struct recording_reader *r, uint64_t *ret_at, struct block_header *ret,
	   struct fmt_where *where)
{
	uint64_t at = r->pos, unread = r->unread, from;
	int result;

	while (at < r->size) {
		result = reader_header_at(r, at, r->file_id, ret, where);
		if (result < 0)
			return result;
		if (result > 0 && (ret->seq >= r->next_seq || hole_of(r, ret->seq) < r->nr_holes)) {
			*ret_at = at;
			return 1;
		}
		if (result > 0)
			reader_damage(r, FMT_E_CORRUPT, at, "block %" PRIu64 " comes again",
				      ret->seq);
		from = at + 1;
		/* If bytes are missing in the last block, this one begins inside of it. */
		if (unread != 0) {
			from = unread;
			unread = 0;
		}
		result = reader_find_sync(r, from, &at, where);
		if (result <= 0)
			return result;
	}
	return 0;
}

/* Counts what lies between the last block and this one, which is whole. */
static void
accept_block(struct recording_reader *r, uint64_t at, const struct block_header *h, bool was_read)
{
	struct recording_health *seen = &r->seen;
	uint64_t shift = at - h->offset;

	seen->blocks++;
	if (at > r->end) {
		seen->damaged_bytes += at - r->end;
		reader_damage(r, FMT_E_CORRUPT, r->end, "%" PRIu64 " bytes are not a block",
			      at - r->end);
	} else if (at < r->end) {
		seen->damaged_blocks++;
		reader_damage(r, FMT_E_CORRUPT, at, "a block begins inside the one before");
	}
	if (h->seq < r->next_seq) {
		fill_hole(r, h->seq);
		reader_damage(r, FMT_E_CORRUPT, at, "block %" PRIu64 " comes late", h->seq);
	} else if (h->seq > r->next_seq) {
		add_hole(r, r->nr_holes, r->next_seq, h->seq);
		seen->damaged_blocks += h->seq - r->next_seq;
		reader_damage(r, FMT_E_CORRUPT, r->end, "%" PRIu64 " blocks are missing",
			      h->seq - r->next_seq);
	}
	if (shift != r->shift) {
		seen->moved_blocks++;
		reader_damage(r, FMT_E_CORRUPT, at, "block was written at offset %" PRIu64,
			      h->offset);
	}
	if (h->type == BLOCK_END)
		seen->closed = true;
	r->shift = shift;
	if (h->seq >= r->next_seq)
		r->next_seq = h->seq + 1;
	r->pos = r->end = at + reader_extent(h);
	r->unread = was_read ? 0 : at + h->header_size;
	r->health = *seen;
}

/* A header that is right before a payload that is not. */
static void
refuse_block(struct recording_reader *r, uint64_t at, const struct block_header *h)
{
	reader_damage(r, FMT_E_CHECKSUM, at, "payload of block %" PRIu64, h->seq);
	if (h->seq >= r->bad_seq)
		r->bad_seq = h->seq + 1;
	r->wasted += h->stored_length;
	r->unread = 0;
	r->pos = at + (r->wasted > WASTE_MAX + r->size ? reader_extent(h) : SYNC_BYTES);
}

/*
 * Has another block come here since the header was read? A writer cuts away what a failed
 * write left, and then writes again; who reads meanwhile may have one's header and the
 * other's payload. 0, 1, negative.
 */
static int
has_changed(struct recording_reader *r, uint64_t at, const struct block_header *h,
	    struct fmt_where *where)
{
	struct block_header now;
	int result;

	r->window_len = 0;
	result = reader_update_size(r, where);
	if (result == 0)
		result = reader_header_at(r, at, r->file_id, &now, where);
	if (result < 0)
		return result;
	return result == 0 || now.seq != h->seq || now.payload_crc != h->payload_crc ||
		now.stored_length != h->stored_length || now.header_size != h->header_size;
}

/*
 * The end of the file, for now: what stands behind the last block may still grow into one,
 * so that the next call begins at it anew.
 */
static void
reach_end(struct recording_reader *r)
{
	r->health = r->seen;
	if (r->size > r->end)
		r->health.torn_tail_bytes = r->size - r->end;
	if (r->bad_seq > r->next_seq)
		r->health.damaged_blocks += r->bad_seq - r->next_seq;
	r->pos = r->end;
	r->window_len = 0;
}

/* 1: this version can read the block; 0: it need not; negative: it would have to. */
static int
understood(const struct block_header *h, uint64_t at, struct fmt_where *where)
{
	if (reader_knows(h))
		return 1;
	if (h->flags & BLOCK_F_CRITICAL)
		return fmt_fail(where, FMT_E_VERSION, at,
				"block of type %u, encoding %u, flags %#x", h->type, h->encoding,
				h->flags);
	return 0;
}

/* Is this META block worth reading although nobody asked for it? */
static bool
is_new_meta(const struct recording_reader *r, const struct block_header *h)
{
	return h->type == BLOCK_META &&
		(h->payload_crc != r->meta_seen[0] || h->raw_length != r->meta_seen[1]);
}

/* One block found at an offset: 1 to hand out, 0 to go on, negative. */
static int
take_block(struct recording_reader *r, uint64_t at, const struct block_header *h, bool wanted,
	   struct span *ret, struct fmt_where *where)
{
	bool new_meta = is_new_meta(r, h);
	int known = understood(h, at, where);
	int result = 1;

	if (known < 0)
		return known;
	if (known == 0) {
		r->seen.unknown_blocks++;
		wanted = false;
	}
	if (wanted || new_meta) {
		result = reader_load(r, at, h, ret, where);
		if (result < 0)
			return result;
		if (result == 0) {
			result = has_changed(r, at, h, where);
			if (result == 0)
				refuse_block(r, at, h);
			return result < 0 ? result : 0;
		}
	}
	if (new_meta) {
		result = reader_update_meta(r, h, *ret);
		if (result)
			return fmt_fail(where, result, at, "in a META block");
	}
	accept_block(r, at, h, wanted || new_meta);
	return wanted;
}

int
recording_reader_next(struct recording_reader *r,
		      bool (*want)(const struct block_header *h, void *arg), void *arg,
		      struct block *ret, struct fmt_where *where)
{
	struct block_header h;
	struct span payload;
	uint64_t at = 0;
	int result;

	assert(r->magic == READER_MAGIC);
	result = reader_update_size(r, where);
	if (result)
		return result;
	for (;;) {
		result = reader_follow_plan(r, where);
		if (result == 0)
			result = find_block(r, &at, &h, where);
		if (result <= 0)
			break;
		result = take_block(r, at, &h, !want || want(&h, arg), &payload, where);
		if (result < 0)
			break;
		if (result > 0) {
			*ret = (struct block){ .header = h, .offset = at, .payload = payload };
			return 1;
		}
	}
	if (result == 0)
		reach_end(r);
	return result;
}

void
recording_reader_keep_columns(struct recording_reader *r, bool keep)
{
	assert(r->magic == READER_MAGIC);
	r->keep_columns = keep;
}

void
recording_reader_refuse(struct recording_reader *r, const struct block *block)
{
	assert(r->magic == READER_MAGIC);
	reader_damage(r, FMT_E_CORRUPT, block->offset, "payload of block %" PRIu64,
		      block->header.seq);
	r->seen.blocks--;
	r->seen.damaged_blocks++;
	r->health = r->seen;
}

/* --- life -------------------------------------------------------------------------------- */

void
recording_reader_rewind(struct recording_reader *r)
{
	assert(r->magic == READER_MAGIC);
	r->seen = r->health = r->opened;
	r->pos = r->end = r->first;
	r->unread = r->next_seq = r->bad_seq = r->shift = r->wasted = 0;
	r->window_len = r->nr_holes = 0;
	reader_plan_done(&r->plan);
}

int
recording_reader_open(struct io_source *source, struct recording_reader **ret,
		      struct fmt_where *where)
{
	struct recording_reader *r = calloc(1, sizeof(*r));
	int error = -FMT_E_NOMEM;

	if (!r) {
		source->close(source);
		return fmt_fail(where, FMT_E_NOMEM, 0, "recording reader");
	}
	r->magic = READER_MAGIC;
	r->source = source;
	r->window = malloc(SCAN_BYTES);
	r->zstd = ZSTD_createDCtx();
	if (!r->window || !r->zstd)
		fmt_fail(where, FMT_E_NOMEM, 0, "recording reader");
	else
		error = reader_update_size(r, where);
	if (!error && r->size == 0)
		error = fmt_fail(where, FMT_E_EMPTY, 0, "nothing in it");
	if (!error)
		error = reader_open_by_header(r, where);
	if (error > 0) {
		reader_damage(r, FMT_E_CORRUPT, 0, "the file header is damaged");
		r->seen.header_damaged = true;
		error = reader_open_by_block(r, where);
	}
	if (error) {
		recording_reader_close(r);
		return error;
	}
	r->opened = r->seen;
	recording_reader_rewind(r);
	*ret = r;
	return 0;
}

void
recording_reader_close(struct recording_reader *r)
{
	if (!r)
		return;
	assert(r->magic == READER_MAGIC);
	r->source->close(r->source);
	for (size_t i = 0; i < r->nr_metas; i++)
		recording_meta_free(r->metas[i]);
	ZSTD_freeDCtx(r->zstd);
	free(r->window);
	reader_plan_done(&r->plan);
	buf_done(&r->meta_raw);
	buf_done(&r->stored);
	buf_done(&r->raw);
	buf_done(&r->records);
	r->magic = 0;
	free(r);
}

const struct recording_meta *
recording_reader_meta(const struct recording_reader *r)
{
	assert(r->magic == READER_MAGIC);
	return reader_meta(r);
}

uint64_t
recording_reader_size(const struct recording_reader *r)
{
	assert(r->magic == READER_MAGIC);
	return r->size;
}

const struct recording_health *
recording_reader_health(const struct recording_reader *r)
{
	assert(r->magic == READER_MAGIC);
	return &r->health;
}

bool
recording_health_clean(const struct recording_health *h)
{
	return h->closed && !h->header_damaged && h->damaged_blocks == 0 && h->damaged_bytes == 0 &&
		h->moved_blocks == 0 && h->bad_indexes == 0 && h->torn_tail_bytes == 0;
}

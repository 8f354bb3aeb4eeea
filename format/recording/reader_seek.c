/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the INDEX blocks say, as a plan for the walk: which blocks of a region to look at, and
 * which to pass over unseen. Read from the last INDEX backwards. What does not fit ends the
 * plan there, and the walk does without.
 */
#include "format/recording/reader_internal.h"

#include <string.h>

#include "format/block/recording_index.h"

#define TAIL_SCAN_MAX (64u << 20)   /* how far from its end a file is searched for an INDEX */
#define INDEX_ENTRY_BYTES_MAX 4096u /* padding that later versions may add, but no bomb */

/* One INDEX of the chain, as far as the one after it has to know. */
struct link {
	uint64_t at, seq;
	uint64_t first, first_seq; /* of the blocks it tells of */
	uint64_t previous;
};

struct seek {
	struct recording_reader *r;
	bool (*want)(const struct block_header *h, void *arg);
	void *arg;
	struct reader_plan plan; /* its blocks are the last first, so far */
};

/* The INDEX that the END tells of: 1, 0 there is none to be believed, negative. */
static int
index_by_end(struct recording_reader *r, uint64_t *ret_at, struct fmt_where *where)
{
	uint64_t at = r->size - (BLOCK_HEADER_BYTES + END_BYTES);
	struct recording_end end;
	struct block_header h;
	struct span payload;
	int result;

	if (r->size < BLOCK_HEADER_BYTES + END_BYTES)
		return 0;
	result = reader_header_at(r, at, r->file_id, &h, where);
	if (result <= 0 || h.type != BLOCK_END || h.offset != at)
		return result < 0 ? result : 0;
	result = reader_load(r, at, &h, &payload, where);
	if (result <= 0 || recording_end_decode(payload, &end) != 0)
		return result < 0 ? result : 0;
	*ret_at = end.index;
	return 1;
}

/* The last sync magic that begins in [from, until), of one window's bytes: 1, 0, negative. */
static int
last_sync(struct recording_reader *r, uint64_t from, uint64_t until, uint64_t *ret_at,
	  struct fmt_where *where)
{
	size_t need = (size_t)(until - from) + SYNC_BYTES - 1, n;
	const uint8_t *hit;
	struct span s;
	int error = reader_peek(r, from, need, SCAN_BYTES, &s, where);

	if (error)
		return error;
	n = s.len < need ? s.len : need;
	n = n < SYNC_BYTES ? 0 : n - (SYNC_BYTES - 1);
	while (n > 0 && (hit = memrchr(s.p, BLOCK_SYNC[0] & 0xff, n))) {
		n = (size_t)(hit - s.p);
		if (memcmp(hit, BLOCK_SYNC, SYNC_BYTES) == 0) {
			*ret_at = from + n;
			return 1;
		}
	}
	return 0;
}

/* The last INDEX of those that begin in [from, until), of one window's bytes: 1, 0, negative. */
static int
last_index(struct recording_reader *r, uint64_t from, uint64_t until, uint64_t *ret_at,
	   struct fmt_where *where)
{
	struct block_header h;
	uint64_t at = 0;
	int result;

	while ((result = last_sync(r, from, until, &at, where)) > 0) {
		result = reader_header_at(r, at, r->file_id, &h, where);
		if (result < 0)
			return result;
		if (result > 0 && h.type == BLOCK_INDEX) {
			*ret_at = at;
			return 1;
		}
		until = at;
	}
	return result;
}

/* The last INDEX of a file without END, a live one for instance: 1, 0, negative. */
static int
index_by_scan(struct recording_reader *r, uint64_t *ret_at, struct fmt_where *where)
{
	/* So that what is found in a window mostly has its header in it as well. */
	const uint64_t step = SCAN_BYTES - BLOCK_HEADER_BYTES_MAX;
	uint64_t from = r->size, until;
	int result = 0;

	while (result == 0 && from > 0 && r->size - from < TAIL_SCAN_MAX) {
		until = from;
		from = until > step ? until - step : 0;
		result = last_index(r, from, until, ret_at, where);
	}
	return result;
}

/* Does the walk have to see this block, whoever reads? */
static bool
is_needed(const struct block_header *h)
{
	return h->type == BLOCK_META || (!reader_knows(h) && (h->flags & BLOCK_F_CRITICAL));
}

/* Do the entries follow each other, from some block to the INDEX itself? Fills in *link. */
static bool
entries_fit(const struct recording_index *index, const struct block_header *h, struct link *link)
{
	struct block_header e;
	uint64_t end = 0, seq = 0;

	if (index->count == 0 || index->entry_size > INDEX_ENTRY_BYTES_MAX)
		return false;
	for (uint32_t i = 0; i < index->count; i++) {
		recording_index_at(index, i, &e);
		if (e.header_size < BLOCK_HEADER_BYTES || e.offset >= h->offset)
			return false;
		if (i == 0) {
			link->first = e.offset;
			link->first_seq = e.seq;
		} else if (e.offset != end || e.seq != seq) {
			return false;
		}
		end = e.offset + reader_extent(&e);
		seq = e.seq + 1;
	}
	link->at = h->offset;
	link->seq = h->seq;
	link->previous = index->previous;
	return end == h->offset && seq == h->seq && link->previous < link->first;
}

static int
plan_entries(struct seek *s, const struct recording_index *index)
{
	struct block_header e;
	int error = 0;

	for (uint32_t i = index->count; i-- > 0 && !error;) {
		recording_index_at(index, i, &e);
		if (is_needed(&e) || s->want(&e, s->arg))
			error = reader_plan_push(&s->plan, &e,
						 index->entries.p + (size_t)i * index->entry_size);
	}
	return error;
}

/*
 * Takes in the INDEX at an offset, which has to fit to the one after it (NULL: it is the last):
 * 1, 0 it cannot be believed, negative.
 */
static int
plan_index(struct seek *s, uint64_t at, const struct link *after, struct link *ret,
	   struct fmt_where *where)
{
	struct recording_index index;
	struct block_header h;
	struct span payload;
	int result = reader_header_at(s->r, at, s->r->file_id, &h, where);

	if (result <= 0)
		return result;
	if (h.type != BLOCK_INDEX || h.offset != at)
		return 0;
	if (after && (at + reader_extent(&h) != after->first || h.seq + 1 != after->first_seq))
		return 0;
	result = reader_load(s->r, at, &h, &payload, where);
	if (result <= 0)
		return result;
	if (recording_index_decode(payload, &index) != 0 || !entries_fit(&index, &h, ret))
		return 0;
	if (!after) {
		s->plan.until = at + reader_extent(&h);
		s->plan.until_seq = h.seq + 1;
	}
	if (plan_entries(s, &index) != 0)
		return fmt_fail(where, FMT_E_NOMEM, at, "index");
	s->plan.from = ret->first;
	return 1;
}

static void
reverse(struct reader_plan *p)
{
	for (size_t i = 0, j = p->nr; i + 1 < j; i++) {
		struct plan_block other = p->blocks[--j];

		p->blocks[j] = p->blocks[i];
		p->blocks[i] = other;
	}
}

int
recording_reader_seek(struct recording_reader *r,
		      bool (*want)(const struct block_header *h, void *arg), void *arg,
		      struct fmt_where *where)
{
	struct seek s = { .r = r, .want = want, .arg = arg };
	struct link link, after;
	uint64_t at = 0;
	int result;

	recording_reader_rewind(r);
	result = reader_update_size(r, where);
	if (result)
		return result;
	result = index_by_end(r, &at, where);
	if (result == 0)
		result = index_by_scan(r, &at, where);
	if (result > 0)
		result = plan_index(&s, at, NULL, &link, where);
	while (result > 0 && link.previous != 0) {
		after = link;
		result = plan_index(&s, after.previous, &after, &link, where);
	}
	if (result < 0) {
		reader_plan_done(&s.plan);
		return result;
	}
	reverse(&s.plan);
	r->plan = s.plan;
	return 0;
}

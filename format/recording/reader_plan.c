/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The walk by a plan: to the next block that has to be looked at, over those that need not.
 */
#include "format/recording/reader_internal.h"

#include <stdlib.h>
#include <string.h>

#include "format/block/recording_index.h"
#include "format/bytes/array.h"
#include "format/bytes/crc32c.h"

void
reader_plan_done(struct reader_plan *p)
{
	free(p->blocks);
	buf_done(&p->entry);
	memset(p, 0, sizeof(*p));
}

static uint32_t
entry_sum(const uint8_t *entry)
{
	return crc32c(0, entry, INDEX_ENTRY_BYTES);
}

int
reader_plan_push(struct reader_plan *p, const struct block_header *h, const uint8_t *entry)
{
	if (array_reserve(p->blocks, p->nr, p->cap, 1) < 0)
		return -FMT_E_NOMEM;
	p->blocks[p->nr++] = (struct plan_block){ h->offset, h->seq, entry_sum(entry) };
	return 0;
}

/* Is the block that the plan goes to next what the plan takes it for? 1, 0, negative. */
static int
plan_holds(struct recording_reader *r, const struct plan_block *b, struct fmt_where *where)
{
	struct reader_plan *p = &r->plan;
	struct block_header h;
	int result = reader_header_at(r, b->offset, r->file_id, &h, where);

	if (result <= 0)
		return result;
	recording_index_begin(&p->entry, 0);
	recording_index_add(&p->entry, &h);
	if (buf_failed(&p->entry))
		return fmt_fail(where, FMT_E_NOMEM, b->offset, "index");
	return h.offset == b->offset && h.seq == b->seq &&
		entry_sum(p->entry.p + INDEX_HEADER_BYTES) == b->sum;
}

int
reader_follow_plan(struct recording_reader *r, struct fmt_where *where)
{
	struct reader_plan *p = &r->plan;
	const struct plan_block *b = NULL;
	uint64_t to = p->until, seq = p->until_seq;
	int result;

	/* Not while something is being looked for, nor where blocks are not in their places. */
	if (r->pos != r->end || r->shift != 0 || r->pos < p->from || r->pos >= p->until)
		return 0;
	while (p->next < p->nr && p->blocks[p->next].offset < r->pos)
		p->next++;
	if (p->next < p->nr) {
		b = &p->blocks[p->next];
		to = b->offset;
		seq = b->seq;
	}
	result = b ? plan_holds(r, b, where) : 1;
	if (result < 0)
		return result;
	if (result == 0) {
		reader_plan_done(p);
		return 0;
	}
	if (to > r->pos) {
		r->pos = r->end = to;
		r->next_seq = seq;
		r->unread = 0;
	}
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/counts/count_rows.h"

#include <stdlib.h>

#include "format/record/perf_record.h"

/* A CPU that goes is read for itself, and right after it all others. */
#define ROUND_NS UINT64_C(50000000)

void
count_rows_init(struct count_rows *c, const struct count_rows_options *options)
{
	*c = (struct count_rows){ .options = *options };
}

void
count_rows_done(struct count_rows *c)
{
	free(c->last);
	slots_done(&c->slots);
	read_counts_done(&c->row.counts);
	*c = (struct count_rows){ 0 };
}

static bool
same_last(const void *owner, uint32_t index, const void *key)
{
	return ((const struct count_rows *)owner)->last[index].id ==
		((const struct count_last *)key)->id;
}

int
count_rows_end(struct count_rows *c)
{
	int r = 0;

	if (c->row.counts.nr > 0) {
		read_counts_settle(&c->row.counts);
		r = c->options.see(c->options.arg, &c->row);
	}
	c->row.counts.nr = 0;
	c->rows++;
	return r;
}

/* Of the same reading as the last one, or within the span of the row. */
static bool
row_takes(const struct count_rows *c, uint64_t time_ns)
{
	uint64_t slack_ns = c->options.interval_ns / 4, until_ns = c->row.until_ns;

	slack_ns = slack_ns < ROUND_NS ? slack_ns : ROUND_NS;
	if (c->options.span_ns > 0 && c->row.from_ns + c->options.span_ns > until_ns)
		until_ns = c->row.from_ns + c->options.span_ns;
	return time_ns <= until_ns || time_ns - until_ns <= slack_ns;
}

/* Readings of one id that follow each other are one count. */
static int
row_count(struct count_rows *c, struct count_last *last, const struct read_count *count)
{
	struct read_counts *counts = &c->row.counts;
	struct read_count *known;

	if (counts->nr == 0 || last->row != c->rows + 1) {
		last->row = c->rows + 1;
		last->row_at = counts->nr;
		return read_counts_push(counts, count);
	}
	known = &counts->of[last->row_at];
	known->value = count->level ? count->value : known->value + count->value;
	known->enabled_ns += count->enabled_ns;
	known->running_ns += count->running_ns;
	return 0;
}

static int
row_add(struct count_rows *c, struct count_last *last, const struct read_count *count,
	uint64_t from_ns, uint64_t until_ns)
{
	struct count_row *row = &c->row;
	int r = 0;

	if (row->counts.nr > 0 && !row_takes(c, until_ns))
		r = count_rows_end(c);
	if (r != 0)
		return r;
	if (row->counts.nr == 0) {
		row->from_ns = from_ns;
		row->until_ns = until_ns;
	}
	if (from_ns < row->from_ns)
		row->from_ns = from_ns;
	if (until_ns > row->until_ns)
		row->until_ns = until_ns;
	return row_count(c, last, count);
}

/* count: so far; *ret: since the last reading of its id. False: there was none, or it cannot be. */
static bool
count_since(struct count_rows *c, const struct count_last *before, const struct read_count *count,
	    struct read_count *ret)
{
	if ((count->value < before->value && !count->level) ||
	    count->enabled_ns < before->enabled_ns || count->running_ns < before->running_ns) {
		c->backwards++;
		return false;
	}
	*ret = *count;
	if (!count->level)
		ret->value -= before->value;
	ret->enabled_ns -= before->enabled_ns;
	ret->running_ns -= before->running_ns;
	return true;
}

static int
count_rows_see(struct count_rows *c, const struct read_count *count, uint64_t time_ns, bool outside)
{
	const struct count_last now = { .id = count->id,
					.time_ns = time_ns,
					.value = count->value,
					.enabled_ns = count->enabled_ns,
					.running_ns = count->running_ns };
	const size_t known = c->nr;
	struct count_last before;
	struct read_count since;
	uint32_t at;
	int r = slots_keep(&c->slots, (uint32_t)slots_mix(0, now.id), same_last, c, &now, c->last,
			   c->nr, c->cap, &at);

	if (r < 0 || c->nr > known)
		return r;
	before = c->last[at];
	c->last[at] = now;
	c->last[at].row = before.row;
	c->last[at].row_at = before.row_at;
	/* The same reading once more: what ended one file begins the next. */
	if (outside || time_ns <= before.time_ns || !count_since(c, &before, count, &since))
		return 0;
	return row_add(c, &c->last[at], &since, before.time_ns, time_ns);
}

int
count_rows_add(struct count_rows *c, const struct event_set *events,
	       const struct perf_record *record, bool outside)
{
	struct read_count count;
	int r = 0;

	if (record->type != REC_READ || !read_counts_are_in(record) ||
	    !read_counts_alone(record->attr))
		return 0;
	for (uint64_t i = 0; r == 0 && i < record->read.read.nr; i++)
		if (read_count_at(events, record, i, &count))
			r = count_rows_see(c, &count, record->sid.time, outside);
	return r;
}

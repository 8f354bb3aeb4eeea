/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The records of one block, sorted. */
#include "format/recording/stream_internal.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"

#define SPARES_MAX 4 /* batches kept to be used again */

void
stream_batch_drop_columns(struct batch *b)
{
	columns_view_close(b->view);
	free(b->sources);
	free(b->in_order);
	b->view = NULL;
	b->sources = NULL;
	b->in_order = NULL;
	b->columns = (struct stream_columns){ .view = NULL };
	b->together = b->cut = false;
}

void
stream_batch_free(struct batch *b)
{
	if (!b)
		return;
	stream_batch_drop_columns(b);
	free(b->bytes);
	free(b->entries);
	free(b->marks);
	free(b);
}

void
stream_batch_recycle(struct record_stream *s, struct batch *b)
{
	if (!b)
		return;
	stream_batch_drop_columns(b);
	if (s->nr_spares == SPARES_MAX) {
		stream_batch_free(b);
		return;
	}
	b->spare = s->spares;
	s->spares = b;
	s->nr_spares++;
}

struct batch *
stream_batch_get(struct record_stream *s)
{
	struct batch *b = s->spares;

	if (!b)
		return calloc(1, sizeof(*b));
	s->spares = b->spare;
	s->nr_spares--;
	b->len = b->nr = b->next = b->nr_marks = 0;
	return b;
}

int
stream_batch_enter(struct batch *b, uint64_t time, size_t offset, int32_t event)
{
	if (array_reserve(b->entries, 0, b->entries_cap, b->nr + 1) != 0)
		return -FMT_E_NOMEM;
	b->entries[b->nr++] = (struct entry){ time, (uint32_t)offset, event };
	return 0;
}

/*
 * A block is a concatenation of what was drained from ring after ring, each in time order,
 * so that there are few runs: merging neighbours costs n log(runs), and keeps ties in order.
 */
static void
merge(const struct entry *from, size_t left, size_t right, size_t end, struct entry *to)
{
	size_t i = left, j = right;

	while (i < right && j < end)
		*to++ = from[j].time < from[i].time ? from[j++] : from[i++];
	memcpy(to, from + i, (right - i) * sizeof(*to));
	memcpy(to + (right - i), from + j, (end - j) * sizeof(*to));
}

/* Fills s->runs with where runs begin, and the end; returns how many runs there are, or < 0. */
static int64_t
find_runs(struct record_stream *s, const struct entry *e, size_t n)
{
	size_t nr = 0;

	for (size_t i = 0; i < n; i++) {
		if (i > 0 && e[i].time >= e[i - 1].time)
			continue;
		if (array_reserve(s->runs, 0, s->runs_cap, nr + 2) != 0)
			return -FMT_E_NOMEM;
		s->runs[nr++] = i;
	}
	if (nr > 0)
		s->runs[nr] = n;
	return (int64_t)nr;
}

int
stream_batch_sort(struct record_stream *s, struct batch *b)
{
	struct entry *other;
	int64_t found = find_runs(s, b->entries, b->nr);
	size_t nr, cap;

	if (found < 0)
		return (int)found;
	if (found > 1 && array_reserve(s->scratch, 0, s->scratch_cap, b->nr) != 0)
		return -FMT_E_NOMEM;
	for (nr = (size_t)found; nr > 1; nr = (nr + 1) / 2) {
		for (size_t i = 0; i < nr; i += 2) {
			size_t left = s->runs[i], right = s->runs[i + 1];
			size_t end = i + 1 < nr ? s->runs[i + 2] : right;

			merge(b->entries, left, right, end, s->scratch + left);
			s->runs[i / 2] = left;
		}
		s->runs[(nr + 1) / 2] = b->nr;
		other = b->entries;
		b->entries = s->scratch;
		s->scratch = other;
		cap = b->entries_cap;
		b->entries_cap = s->scratch_cap;
		s->scratch_cap = cap;
	}
	return 0;
}

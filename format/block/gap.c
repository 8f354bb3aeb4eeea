/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/block/gap.h"

#include <stdlib.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"

/* An end is told soon after its beginning: a file of a stranger must not cost n * n. */
#define SAME_MAX 64

void
gap_begin(struct buf *out)
{
	buf_clear(out);
	buf_u32(out, 0);
	buf_u32(out, GAP_ENTRY_BYTES);
}

void
gap_add(struct buf *out, const struct gap *gap)
{
	buf_u32(out, gap->cause);
	buf_u32(out, gap->cpu);
	buf_u64(out, gap->from_ns);
	buf_u64(out, gap->until_ns);
	buf_u64(out, gap->samples);
	buf_u64(out, 0);
	if (!buf_failed(out))
		le32enc(out->p, le32dec(out->p) + 1);
}

int
gap_next(struct span payload, size_t *cursor, struct gap *ret)
{
	struct span s = payload, entry;
	uint32_t count, size;
	struct gap g;

	if (!span_u32(&s, &count) || !span_u32(&s, &size) || size < GAP_ENTRY_BYTES || size % 8)
		return -FMT_E_CORRUPT;
	if (*cursor >= count)
		return 0;
	if (*cursor > s.len / size || !span_skip(&s, *cursor * size) ||
	    !span_take(&s, size, &entry))
		return -FMT_E_CORRUPT;
	if (!span_u32(&entry, &g.cause) || !span_u32(&entry, &g.cpu) ||
	    !span_u64(&entry, &g.from_ns) || !span_u64(&entry, &g.until_ns) ||
	    !span_u64(&entry, &g.samples))
		return -FMT_E_CORRUPT;
	if (g.until_ns && g.until_ns < g.from_ns)
		return -FMT_E_CORRUPT;
	*ret = g;
	++*cursor;
	return 1;
}

bool
gap_same(const struct gap *a, const struct gap *b)
{
	return a->cause == b->cause && a->cpu == b->cpu && a->from_ns == b->from_ns;
}

void
gap_list_done(struct gap_list *l)
{
	free(l->gaps);
	*l = (struct gap_list){ 0 };
}

static struct gap *
gap_find(const struct gap_list *l, const struct gap *gap)
{
	for (size_t i = l->nr, n = 0; i-- > 0 && n < SAME_MAX; n++)
		if (gap_same(&l->gaps[i], gap))
			return &l->gaps[i];
	return NULL;
}

static int
gap_push(struct gap_list *l, const struct gap *gap)
{
	if (l->nr == GAP_LIST_MAX) {
		l->more++;
		return 0;
	}
	if (array_reserve(l->gaps, l->nr, l->cap, 1) < 0)
		return -FMT_E_NOMEM;
	l->gaps[l->nr++] = *gap;
	return 0;
}

int
gap_list_add(struct gap_list *l, struct span payload)
{
	size_t cursor = 0;
	struct gap gap;
	int error = 0;

	while (!error && gap_next(payload, &cursor, &gap) == 1) {
		struct gap *known = gap_find(l, &gap);

		if (known)
			*known = gap;
		else
			error = gap_push(l, &gap);
	}
	return error;
}

int
gap_list_merge(struct gap_list *l, const struct gap_list *other, uint64_t shift_ns)
{
	int error = 0;

	for (size_t i = 0; i < other->nr && !error; i++) {
		struct gap gap = other->gaps[i], *known;

		gap.from_ns += shift_ns;
		gap.until_ns += gap.until_ns ? shift_ns : 0;
		/* One that goes on when a file ends is told again in the next one. */
		known = gap_find(l, &gap);
		if (known)
			*known = gap;
		else
			error = gap_push(l, &gap);
	}
	l->more += other->more;
	return error;
}

void
gap_list_clip(struct gap_list *l, uint64_t from_ns, uint64_t until_ns)
{
	size_t nr = 0;

	for (size_t i = 0; i < l->nr; i++) {
		const struct gap *g = &l->gaps[i];

		if (g->from_ns < until_ns && (g->until_ns == 0 || g->until_ns > from_ns))
			l->gaps[nr++] = *g;
	}
	l->nr = nr;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/live/live_pending.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"

#define KEPT_BYTES (1u << 20) /* of memory, for the next ones */

struct live_pending_record {
	uint64_t time_ns, seq;
	size_t at; /* offset in bytes */
	uint16_t size;
};

void
live_pending_done(struct live_pending *p)
{
	buf_done(&p->bytes);
	free(p->v);
}

size_t
live_pending_bytes(const struct live_pending *p)
{
	/* qsort(3) makes a copy of the array. */
	return p->bytes.len + p->nr * 2 * sizeof(*p->v);
}

bool
live_pending_add(struct live_pending *p, const struct perf_record *r)
{
	if (array_reserve(p->v, p->nr, p->cap, 1) < 0)
		return false;
	p->v[p->nr] = (struct live_pending_record){
		.time_ns = r->sid.time, .seq = p->seq++, .at = p->bytes.len, .size = r->size
	};
	buf_append(&p->bytes, r->raw.p, r->raw.len);
	if (buf_failed(&p->bytes)) {
		/* What is there stays. */
		p->bytes.failed = false;
		return false;
	}
	p->nr++;
	return true;
}

static int
record_cmp(const void *a, const void *b)
{
	const struct live_pending_record *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->seq > y->seq) - (x->seq < y->seq);
}

static void
live_pending_sort(struct live_pending *p)
{
	if (p->nr)
		qsort(p->v, p->nr, sizeof(*p->v), record_cmp);
}

uint64_t
live_pending_middle_ns(struct live_pending *p)
{
	live_pending_sort(p);
	return p->nr ? p->v[p->nr / 2].time_ns : 0;
}

static int
place_cmp(const void *a, const void *b)
{
	const struct live_pending_record *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* Takes the first n away. The others move up in place: a copy would have no room in the bound. */
static void
live_pending_drop(struct live_pending *p, size_t n)
{
	size_t len = 0;

	p->nr -= n;
	memmove(p->v, p->v + n, p->nr * sizeof(*p->v));
	if (!p->nr && p->bytes.cap > KEPT_BYTES) {
		live_pending_done(p);
		p->v = NULL;
		p->cap = 0;
		return;
	}
	if (p->nr)
		qsort(p->v, p->nr, sizeof(*p->v), place_cmp);
	for (size_t i = 0; i < p->nr; i++) {
		memmove(p->bytes.p + len, p->bytes.p + p->v[i].at, p->v[i].size);
		p->v[i].at = len;
		len += p->v[i].size;
	}
	p->bytes.len = len;
}

void
live_pending_run(struct live_pending *p, uint64_t until_ns,
		 void (*fn)(void *arg, struct span record), void *arg)
{
	size_t n = 0;

	live_pending_sort(p);
	for (; n < p->nr && p->v[n].time_ns < until_ns; n++)
		fn(arg, span_of(p->bytes.p + p->v[n].at, p->v[n].size));
	if (n)
		live_pending_drop(p, n);
}

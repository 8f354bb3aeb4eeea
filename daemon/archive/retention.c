/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/archive/retention.h"

#include <stdlib.h>

static uint64_t
retention_add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static bool
deletable(const struct retention_file *f)
{
	return !f->pinned &&
		(f->kind == RETENTION_SEGMENT || f->kind == RETENTION_QUARANTINE ||
		 f->kind == RETENTION_CAPTURE);
}

struct plan {
	const struct retention_question *q;
	uint64_t used;	    /* bytes of all files */
	size_t nr_segments; /* deletable ones */
	size_t young; /* oldest of the newest RETENTION_KEEP segments, when there are that many */
};

/* Segments before everything else of their age; then as the caller had them. */
static int
compare_age(const struct retention_file *files, size_t a, size_t b)
{
	const struct retention_file *x = &files[a], *y = &files[b];

	if (x->end_s != y->end_s)
		return x->end_s < y->end_s ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Spared while anything else can go: the newest segments, and captures from then on. */
static bool
is_young(const struct plan *p, size_t i)
{
	const struct retention_file *f = &p->q->files[i];

	if (f->kind == RETENTION_QUARANTINE)
		return false;
	if (p->nr_segments < RETENTION_KEEP)
		return true;
	if (f->kind == RETENTION_CAPTURE)
		return f->end_s >= p->q->files[p->young].end_s;
	return compare_age(p->q->files, i, p->young) >= 0;
}

static int
retention_compare(const void *a, const void *b, void *arg)
{
	const struct plan *p = arg;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	bool young_x = is_young(p, x), young_y = is_young(p, y);

	if (young_x != young_y)
		return young_x ? 1 : -1;
	return compare_age(p->q->files, x, y);
}

/* Finds the RETENTION_KEEPth newest segment: an insertion into a short list. */
static void
find_young(struct plan *p, const size_t *candidates, size_t nr)
{
	const struct retention_file *files = p->q->files;
	size_t newest[RETENTION_KEEP], n = 0;

	for (size_t i = 0; i < nr; i++) {
		size_t at = n, c = candidates[i];

		if (files[c].kind != RETENTION_SEGMENT)
			continue;
		p->nr_segments++;
		while (at > 0 && compare_age(files, c, newest[at - 1]) > 0)
			at--;
		if (at == RETENTION_KEEP)
			continue;
		if (n < RETENTION_KEEP)
			n++;
		for (size_t k = n - 1; k > at; k--)
			newest[k] = newest[k - 1];
		newest[at] = c;
	}
	if (n == RETENTION_KEEP)
		p->young = newest[n - 1];
}

/* Do the limits hold with these bytes freed and need bytes more written? */
static bool
retention_fits(const struct plan *p, uint64_t freed, uint64_t need)
{
	const struct retention_limits *l = &p->q->limits;
	uint64_t used = p->used - freed;

	if (l->max_use && (need > l->max_use || used > l->max_use - need))
		return false;
	return retention_add(p->q->fs_free, freed) >= retention_add(l->keep_free, need);
}

/* What there still is, while the plan goes through the files. */
struct left {
	uint64_t segments;	/* that may be deleted */
	uint64_t captures;	/* bytes, with those that are needed for one */
	uint64_t capture_files; /* that may be deleted */
};

static bool
captures_fit(const struct retention_question *q, uint64_t bytes)
{
	return q->limits.max_captures == 0 || bytes <= q->limits.max_captures;
}

/* Age, number, and the share of captures, for one file; the rest is about space. */
static bool
overdue(const struct retention_question *q, const struct retention_file *f, struct left *left)
{
	const struct retention_limits *l = &q->limits;
	bool goes = !q->only_need && l->max_age_s &&
		retention_add(f->aged_from_s, l->max_age_s) < q->now_s;

	if (f->kind == RETENTION_SEGMENT) {
		goes |= !q->only_need && l->max_segments && left->segments > l->max_segments;
		left->segments -= goes;
	}
	if (f->kind == RETENTION_CAPTURE) {
		goes |= f->bytes && !captures_fit(q, left->captures);
		goes |= l->max_capture_files && left->capture_files > l->max_capture_files;
		left->captures -= goes ? f->bytes : 0;
		left->capture_files -= goes;
	}
	return goes;
}

/* Of all captures, or of those that cannot be deleted. */
static uint64_t
capture_bytes(const struct retention_question *q, bool all)
{
	uint64_t n = 0;

	for (size_t i = 0; i < q->nr; i++) {
		const struct retention_file *f = &q->files[i];

		if (f->capturing || (f->kind == RETENTION_CAPTURE && (all || !deletable(f))))
			n = retention_add(n, f->bytes);
	}
	return n;
}

static uint64_t
capture_files(const struct retention_question *q, const size_t *deletable_ones, size_t nr)
{
	uint64_t n = 0;

	for (size_t i = 0; i < nr; i++)
		n += q->files[deletable_ones[i]].kind == RETENTION_CAPTURE;
	return n;
}

size_t
retention_plan(const struct retention_question *q, size_t *out)
{
	struct plan plan = { .q = q };
	uint64_t freed = 0, freeable = 0, need;
	size_t nr = 0, chosen = 0;
	struct left left, begin;

	for (size_t i = 0; i < q->nr; i++) {
		plan.used = retention_add(plan.used, q->files[i].bytes);
		if (!deletable(&q->files[i]))
			continue;
		freeable = retention_add(freeable, q->files[i].bytes);
		out[nr++] = i;
	}
	find_young(&plan, out, nr);
	qsort_r(out, nr, sizeof(*out), retention_compare, &plan);
	need = q->need;
	if (!retention_fits(&plan, freeable, need) ||
	    (q->capturing && !captures_fit(q, retention_add(capture_bytes(q, false), need))))
		need = 0;
	begin = (struct left){ plan.nr_segments,
			       retention_add(capture_bytes(q, true), q->capturing ? need : 0),
			       capture_files(q, out, nr) };
	left = begin;
	for (size_t i = 0; i < nr; i++) {
		if (overdue(q, &q->files[out[i]], &left))
			freed = retention_add(freed, q->files[out[i]].bytes);
	}

	left = begin;
	for (size_t i = 0; i < nr; i++) {
		const struct retention_file *f = &q->files[out[i]];

		if (overdue(q, f, &left)) {
			out[chosen++] = out[i];
		} else if (f->bytes && !retention_fits(&plan, freed, need)) {
			freed = retention_add(freed, f->bytes);
			left.captures -= f->kind == RETENTION_CAPTURE ? f->bytes : 0;
			left.capture_files -= f->kind == RETENTION_CAPTURE;
			out[chosen++] = out[i];
		}
	}
	return chosen;
}

uint64_t
retention_share(uint64_t fs_bytes, uint32_t per_mille, uint64_t cap)
{
	uint64_t share = fs_bytes / 1000 * per_mille + fs_bytes % 1000 * per_mille / 1000;

	return share < cap ? share : cap;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan against a naive model: random archives and limits, and what must be true of any
 * plan for them.
 */
#include "daemon/archive/retention.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lab/numbered.h"

#define FILES_MAX 60

static uint64_t seed = 1;

static uint64_t
roll(uint64_t n)
{
	return numbered_roll(&seed, n);
}

struct world {
	struct retention_file files[FILES_MAX];
	struct retention_question q;
	size_t out[FILES_MAX], nr_out;
	bool gone[FILES_MAX];
};

static bool
may_go(const struct retention_file *f)
{
	return !f->pinned && f->kind != RETENTION_ACTIVE && f->kind != RETENTION_KEPT;
}

static uint64_t
captures_left(const struct world *w, const bool *gone)
{
	uint64_t n = 0;

	for (size_t i = 0; i < w->q.nr; i++)
		if (!gone[i] && (w->files[i].capturing || w->files[i].kind == RETENTION_CAPTURE))
			n += w->files[i].bytes;
	return n;
}

/* Do the limits hold when these are gone and need bytes more are written? */
static bool
holds(const struct world *w, const bool *gone, uint64_t need)
{
	uint64_t used = 0, free_bytes = w->q.fs_free;

	for (size_t i = 0; i < w->q.nr; i++) {
		if (gone[i])
			free_bytes += w->files[i].bytes;
		else
			used += w->files[i].bytes;
	}
	if (w->q.limits.max_use && used + need > w->q.limits.max_use)
		return false;
	if (w->q.limits.max_captures && w->q.capturing &&
	    captures_left(w, gone) + need > w->q.limits.max_captures)
		return false;
	return free_bytes >= w->q.limits.keep_free + need;
}

/* Marks what goes; how many that are. */
static size_t
plan(struct world *w)
{
	size_t nr = retention_plan(&w->q, w->out);

	memset(w->gone, 0, sizeof(w->gone));
	for (size_t i = 0; i < nr; i++)
		w->gone[w->out[i]] = true;
	return nr;
}

/* Is there room for what is needed, by the last plan? */
static bool
enough(const struct world *w)
{
	return holds(w, w->gone, w->q.need);
}

/* How many segments that may go are newer than this one. */
static size_t
newer_segments(const struct world *w, size_t i)
{
	size_t n = 0;

	for (size_t k = 0; k < w->q.nr; k++) {
		const struct retention_file *f = &w->files[k];

		n += f->kind == RETENTION_SEGMENT && may_go(f) && k != i &&
			(f->end_s > w->files[i].end_s || (f->end_s == w->files[i].end_s && k > i));
	}
	return n;
}

/* Would the captures be too many even without those that are older than this one? */
static bool
over_share(const struct world *w, size_t i)
{
	bool gone[FILES_MAX] = { false }, all[FILES_MAX] = { false };

	if (w->files[i].kind != RETENTION_CAPTURE || !w->files[i].bytes ||
	    !w->q.limits.max_captures)
		return false;
	for (size_t k = 0; k < w->q.nr; k++) {
		const struct retention_file *f = &w->files[k];

		all[k] = may_go(f);
		gone[k] = all[k] && f->kind == RETENTION_CAPTURE &&
			(f->end_s < w->files[i].end_s || (f->end_s == w->files[i].end_s && k < i));
	}
	return captures_left(w, gone) +
		(w->q.capturing && holds(w, all, w->q.need) ? w->q.need : 0) >
		w->q.limits.max_captures;
}

/* Age, number and the share of captures alone. */
static bool
overdue(const struct world *w, size_t i)
{
	const struct retention_limits *l = &w->q.limits;
	const struct retention_file *f = &w->files[i];

	if (!may_go(f))
		return false;
	if (over_share(w, i))
		return true;
	if (w->q.only_need)
		return false;
	if (l->max_age_s && f->aged_from_s + l->max_age_s < w->q.now_s)
		return true;
	return f->kind == RETENTION_SEGMENT && l->max_segments &&
		newer_segments(w, i) >= l->max_segments;
}

static void
make(struct world *w)
{
	memset(w, 0, sizeof(*w));
	w->q.files = w->files;
	w->q.nr = roll(FILES_MAX);
	w->q.now_s = 10000;
	w->q.only_need = roll(2);
	w->q.need = roll(3) ? roll(400) : 0;
	w->q.fs_free = roll(1000);
	w->q.limits.max_use = roll(4) ? 1 + roll(3000) : 0;
	w->q.limits.keep_free = roll(2) ? roll(1500) : 0;
	w->q.limits.max_age_s = roll(3) ? 0 : roll(1000);
	w->q.limits.max_segments = roll(3) ? 0 : roll(30);
	w->q.limits.max_captures = roll(2) ? 1 + roll(600) : 0;
	w->q.capturing = roll(2);
	for (size_t i = 0; i < w->q.nr; i++) {
		struct retention_file *f = &w->files[i];

		f->kind = roll(2) ? RETENTION_SEGMENT : (enum retention_kind)roll(5);
		f->bytes = roll(10) ? roll(100) : 0;
		f->end_s = 9000 + roll(1100);
		f->aged_from_s = roll(4) ? f->end_s : 9000 + roll(1100);
		f->pinned = roll(8) == 0;
		f->capturing = f->kind == RETENTION_ACTIVE && roll(2);
	}
}

static void
check_each(const struct world *w)
{
	bool gone[FILES_MAX] = { false };

	for (size_t n = 0; n < w->nr_out; n++) {
		size_t i = w->out[n];

		assert_true(i < w->q.nr);
		assert_false(gone[i]);
		assert_true(may_go(&w->files[i]));
		/* Nothing goes for space when what went before was enough. */
		if (!overdue(w, i)) {
			bool all[FILES_MAX];

			memcpy(all, gone, sizeof(all));
			for (size_t k = 0; k < w->q.nr; k++)
				all[k] |= overdue(w, k);
			assert_false(holds(w, all, 0) && holds(w, all, w->q.need));
			/* And nothing that frees nothing. */
			assert_true(w->files[i].bytes > 0);
		}
		gone[i] = true;
	}
	for (size_t i = 0; i < w->q.nr; i++) {
		if (overdue(w, i))
			assert_true(gone[i]);
	}
}

/* Spared while anything else can go. */
static bool
is_young(const struct world *w, size_t i)
{
	const struct retention_file *f = &w->files[i];

	if (f->kind == RETENTION_QUARANTINE)
		return false;
	if (f->kind == RETENTION_SEGMENT)
		return newer_segments(w, i) < RETENTION_KEEP;
	for (size_t k = 0; k < w->q.nr; k++) {
		/* Younger than the oldest of the spared, or all are. */
		if (w->files[k].kind == RETENTION_SEGMENT && may_go(&w->files[k]) &&
		    newer_segments(w, k) == RETENTION_KEEP - 1)
			return f->end_s >= w->files[k].end_s;
	}
	return true;
}

/* Of two that could go for space, what went is not spared if the other is not, nor newer. */
static void
check_order(const struct world *w)
{
	for (size_t i = 0; i < w->q.nr; i++) {
		if (!w->gone[i] || overdue(w, i))
			continue;
		for (size_t k = 0; k < w->q.nr; k++) {
			const struct retention_file *f = &w->files[k];

			if (w->gone[k] || !may_go(f) || f->bytes == 0)
				continue;
			assert_false(is_young(w, i) && !is_young(w, k));
			if (is_young(w, i) == is_young(w, k))
				assert_true(f->end_s >= w->files[i].end_s);
		}
	}
}

static void
test_properties(void **state)
{
	static struct world w;

	for (int round = 0; round < 200000; round++) {
		bool all[FILES_MAX];

		make(&w);
		w.nr_out = plan(&w);
		assert_true(w.nr_out <= w.q.nr);
		check_each(&w);
		check_order(&w);
		for (size_t i = 0; i < w.q.nr; i++)
			all[i] = may_go(&w.files[i]);
		/* What can be held is held; what can be granted is granted. */
		if (holds(&w, all, 0))
			assert_true(holds(&w, w.gone, 0));
		if (holds(&w, all, w.q.need))
			assert_true(enough(&w));
	}
}

static void
fill(struct world *w, size_t nr, enum retention_kind kind)
{
	memset(w, 0, sizeof(*w));
	w->q.files = w->files;
	w->q.nr = nr;
	w->q.fs_free = 1 << 20;
	w->q.now_s = 10000;
	for (size_t i = 0; i < nr; i++)
		w->files[i] = (struct retention_file){
			.kind = kind, .bytes = 10, .end_s = 9000 + i, .aged_from_s = 9000 + i
		};
}

static void
test_oldest_first(void **state)
{
	struct world w;

	fill(&w, 20, RETENTION_SEGMENT);
	w.q.limits.max_use = 200;
	w.q.need = 25;
	assert_int_equal(plan(&w), 3);
	assert_true(enough(&w));
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(w.out[i], i);
}

/* What is damaged goes before the newest segments, even when it is newer. */
static void
test_newest_stay(void **state)
{
	struct world w;

	fill(&w, 10, RETENTION_SEGMENT);
	w.files[9].kind = RETENTION_QUARANTINE;
	w.q.limits.max_use = 80;
	assert_int_equal(plan(&w), 2);
	assert_int_equal(w.out[0], 0);
	assert_int_equal(w.out[1], 9);
	/* With nothing else left the oldest of the newest go too. */
	w.q.limits.max_use = 60;
	assert_int_equal(plan(&w), 4);
	assert_int_equal(w.out[2], 1);
	assert_int_equal(w.out[3], 2);
}

/* A wish that cannot be granted costs nothing. */
static void
test_wish(void **state)
{
	struct world w;

	fill(&w, 10, RETENTION_SEGMENT);
	w.q.limits.max_use = 100;
	w.q.need = 101;
	assert_int_equal(plan(&w), 0);
	assert_false(enough(&w));
	w.q.need = 100;
	assert_int_equal(plan(&w), 10);
	assert_true(enough(&w));
}

/* A capture is as old as the segments of its time, and goes after them. */
static void
test_capture(void **state)
{
	struct world w;

	fill(&w, 3, RETENTION_SEGMENT);
	w.files[0].kind = RETENTION_CAPTURE;
	w.files[0].end_s = w.files[1].end_s;
	w.q.limits.max_use = 10;
	assert_int_equal(plan(&w), 2);
	assert_int_equal(w.out[0], 1);
	assert_int_equal(w.out[1], 0);
}

/* A capture pushes out captures, once they have their share; and never more than a segment's. */
static void
test_share_of_captures(void **state)
{
	struct world w;

	fill(&w, 20, RETENTION_SEGMENT);
	for (size_t i = 16; i < 20; i++)
		w.files[i].kind = RETENTION_CAPTURE;
	w.files[0].kind = RETENTION_ACTIVE;
	w.files[0].capturing = true;
	w.q.limits.max_use = 200;
	w.q.limits.max_captures = 60;
	w.q.capturing = true;
	w.q.need = 10;
	assert_int_equal(plan(&w), 1);
	assert_true(enough(&w));
	assert_int_equal(w.out[0], 1);
	w.q.limits.max_captures = 50;
	assert_int_equal(plan(&w), 1);
	assert_true(enough(&w));
	assert_int_equal(w.out[0], 16);
	/* One that alone is larger than that gets no more, and costs nobody anything. */
	w.q.need = 41;
	assert_int_equal(plan(&w), 0);
	assert_false(enough(&w));
	/* The stream's bytes are no capture's. */
	w.q.capturing = false;
	w.q.need = 10;
	assert_int_equal(plan(&w), 1);
	assert_true(enough(&w));
	assert_int_equal(w.out[0], 1);
	/* Nor does it wait for captures that cannot go. */
	w.files[0].bytes = 60;
	w.q.need = 80;
	w.q.limits.max_use = 250;
	assert_true(plan(&w) > 0);
	assert_true(enough(&w));
	w.files[0].bytes = 10;
	/* A share that has become smaller is kept at once. */
	w.q.limits.max_captures = 25;
	w.q.need = 0;
	assert_int_equal(plan(&w), 3);
	assert_true(enough(&w));
}

static void
test_extremes(void **state)
{
	struct world w;

	memset(&w, 0, sizeof(w));
	w.q.need = UINT64_MAX;
	w.q.limits.keep_free = UINT64_MAX;
	assert_int_equal(plan(&w), 0);
	fill(&w, 2, RETENTION_SEGMENT);
	w.files[0].bytes = w.files[1].bytes = UINT64_MAX;
	w.files[0].end_s = w.files[0].aged_from_s = UINT64_MAX;
	w.q.limits.max_age_s = UINT64_MAX;
	w.q.limits.max_use = 1;
	/* Sums that are over every limit are held at it: no wrap makes an archive look small. */
	assert_true(plan(&w) >= 1);
}

static void
test_share(void **state)
{
	assert_int_equal(retention_share(1000, 100, UINT64_MAX), 100);
	assert_int_equal(retention_share(UINT64_C(1) << 40, 100, UINT64_C(4) << 30),
			 UINT64_C(4) << 30);
	assert_int_equal(retention_share(UINT64_MAX, 1000, UINT64_MAX), UINT64_MAX);
	assert_int_equal(retention_share(0, 150, 5), 0);
	assert_int_equal(retention_share(1999, 1, 5), 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_properties),  cmocka_unit_test(test_oldest_first),
		cmocka_unit_test(test_newest_stay), cmocka_unit_test(test_wish),
		cmocka_unit_test(test_capture),	    cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_share),	    cmocka_unit_test(test_share_of_captures),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("retention", tests, NULL, NULL);
}

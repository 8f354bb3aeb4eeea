/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "symbolizer/input/covered.h"

#define CPUS_NONE 65536 /* so many, and no more, are looked at */
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static struct input_set
make_set(struct covered_span *spans, size_t nr_spans, struct gap *gaps, size_t nr_gaps)
{
	struct input_set s = { .spans = spans, .nr_spans = nr_spans };

	s.gaps.gaps = gaps;
	s.gaps.nr = nr_gaps;
	return s;
}

static double
covers(const struct input_set *s, uint64_t from, uint64_t until)
{
	struct covered *c = covered_new(s);
	double ns;

	assert_non_null(c);
	ns = covered_ns(c, from, until);
	covered_free(c);
	return ns;
}

/* CPUs times time; what lies between two recordings is not covered. */
static void
spans_add_up(void **state)
{
	struct covered_span spans[] = { { 1000, 2000, 4, false }, { 3000, 3500, 2, false } };
	const struct input_set s = make_set(spans, 2, NULL, 0);
	uint64_t from, until;

	assert_true(covered_range(&s, &from, &until));
	assert_int_equal(from, 1000);
	assert_int_equal(until, 3500);
	assert_true(covers(&s, 0, UINT64_MAX) == 4000 + 1000);
	assert_true(covers(&s, 1900, 3100) == 400 + 200);
	assert_true(covers(&s, 2000, 3000) == 0);
	assert_true(covers(&s, 3500, 4000) == 0);
}

static void
nothing_covers_nothing(void **state)
{
	const struct input_set s = make_set(NULL, 0, NULL, 0);
	uint64_t from, until;

	assert_false(covered_range(&s, &from, &until));
	assert_true(covers(&s, 0, UINT64_MAX) == 0);
	assert_true(covered_kept(&s) == 1);
}

/* Gaps of one CPU are its own; those of all are once in each, also where both are at the same time. */
static void
gaps_are_not_covered(void **state)
{
	struct covered_span spans[] = { { 0, 1000, 4, false } };
	struct gap gaps[] = {
		{ .cpu = 1, .from_ns = 300, .until_ns = 500 },
		{ .cpu = GAP_CPU_ALL, .from_ns = 400, .until_ns = 600 },
		{ .cpu = 1,
		  .from_ns = 100,
		  .until_ns = 350 }, /* overlaps the first, and is before it */
		{ .cpu = 2, .from_ns = 900, .until_ns = 0 },	 /* has not ended */
		{ .cpu = 3, .from_ns = 5000, .until_ns = 6000 }, /* elsewhere */
	};
	const struct input_set s = make_set(spans, 1, gaps, ARRAY_SIZE(gaps));

	/* CPU 1: 100 to 600; the others: 400 to 600; CPU 2 also 900 to 1000 */
	assert_true(covers(&s, 0, 1000) == 4000 - 500 - 3 * 200 - 100);
	assert_true(covers(&s, 0, 100) == 400);
	assert_true(covers(&s, 400, 600) == 0);
	assert_true(covers(&s, 450, 950) == 4 * 500 - 4 * 150 - 50);
}

/* A recording of tasks covers time, on whatever CPU: the gap of one CPU is not its. */
static void
tasks_cover_time(void **state)
{
	struct covered_span spans[] = { { 0, 1000, 1, true } };
	struct gap gaps[] = { { .cpu = 1, .from_ns = 0, .until_ns = 500 },
			      { .cpu = GAP_CPU_ALL, .from_ns = 900, .until_ns = 1000 } };
	const struct input_set s = make_set(spans, 1, gaps, 2);

	assert_true(covers(&s, 0, 1000) == 900);
}

/* One ns and one CPU after another. */
static double
counted(const struct input_set *s, uint64_t from, uint64_t until)
{
	const struct covered_span *span = &s->spans[0];
	double sum = 0;

	for (uint64_t t = from > span->from_ns ? from : span->from_ns;
	     t < until && t < span->until_ns; t++)
		for (uint32_t cpu = 0; cpu < span->cpus; cpu++) {
			bool gap = false;

			for (size_t i = 0; i < s->gaps.nr; i++) {
				const struct gap *g = &s->gaps.gaps[i];

				gap |= (g->cpu == cpu || g->cpu == GAP_CPU_ALL) &&
					g->from_ns <= t && (g->until_ns == 0 || t < g->until_ns);
			}
			sum += !gap;
		}
	return sum;
}

/* Many gaps, in any order, at the same times, before, behind and beside one another. */
static void
gaps_of_any_kind(void **state)
{
	uint32_t random = 12345;

	for (unsigned int round = 0; round < 300; round++) {
		struct covered_span span = { 20, 180, 4, false };
		struct gap gaps[24];
		struct input_set s;
		uint64_t from;

		for (size_t i = 0; i < ARRAY_SIZE(gaps); i++) {
			uint32_t length;

			random = random * 1664525 + 1013904223;
			length = (random >> 8) % 40;
			gaps[i] = (struct gap){ .cpu = (random >> 16) % 5,
						.from_ns = 1 + (random >> 20) % 200 };
			if (gaps[i].cpu == 4)
				gaps[i].cpu = GAP_CPU_ALL;
			/* Some do not end, some have no length. */
			gaps[i].until_ns = length == 39 ? 0 : gaps[i].from_ns + length;
		}
		s = make_set(&span, 1, gaps, round % (ARRAY_SIZE(gaps) + 1));
		from = random % 100;
		assert_true(covers(&s, 0, UINT64_MAX) == counted(&s, 0, UINT64_MAX));
		assert_true(covers(&s, from, from + 60) == counted(&s, from, from + 60));
		assert_true(covers(&s, from, from + 1) == counted(&s, from, from + 1));
	}
}

/* Shifted by a clock that wraps, one ends before it begins: it is none. */
static void
backward_gaps_are_none(void **state)
{
	struct covered_span spans[] = { { 100, 1100, 2, false } };
	struct gap gaps[] = { { .cpu = 1, .from_ns = 900, .until_ns = 300 },
			      { .cpu = GAP_CPU_ALL, .from_ns = UINT64_MAX - 5, .until_ns = 200 },
			      { .cpu = CPUS_NONE, .from_ns = 0, .until_ns = 500 } };
	const struct input_set s = make_set(spans, 1, gaps, ARRAY_SIZE(gaps));

	assert_true(covers(&s, 0, UINT64_MAX) == 2000);
}

static void
lost_samples_shorten(void **state)
{
	struct input_set s = make_set(NULL, 0, NULL, 0);

	s.loss = loss_new();
	assert_non_null(s.loss);
	s.samples = 900;
	assert_int_equal(loss_add(s.loss, 0, LOSS_KERNEL_SAMPLES, 100), 0);
	assert_true(covered_kept(&s) == 0.9);
	loss_free(s.loss);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_add_up),		  cmocka_unit_test(nothing_covers_nothing),
		cmocka_unit_test(gaps_are_not_covered),	  cmocka_unit_test(tasks_cover_time),
		cmocka_unit_test(lost_samples_shorten),	  cmocka_unit_test(gaps_of_any_kind),
		cmocka_unit_test(backward_gaps_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

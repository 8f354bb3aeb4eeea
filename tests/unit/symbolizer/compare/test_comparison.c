/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include <linux/perf_event.h>

#include "symbolizer/compare/comparison.h"
#include "tests/lab/profile_add.h"
#include "tests/lab/synthetic.h"

#define HAVE (PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)
#define WINDOW_NS UINT64_C(1000000000)
#define TEXT UINT64_C(0xffffffff81000000)

/* A recording of RATE_WINDOWS seconds of one CPU: how many samples each function has in a second. */
struct side {
	struct synthetic s;
	struct resolver *resolver;
	struct profile *profile;
	struct report *report;
	struct report_options ro;
	struct profile_options po;
};

static struct side sides[COMPARISON_SIDES];
static struct comparison *comparison;
static bool tasks;

static void
begin(struct side *b, uint64_t period, const unsigned *counts, const char *const *names, size_t n)
{
	static const struct report_list keys = { { REPORT_sym, REPORT_time }, 2, false, "" };
	struct fmt_where where = { 0 };

	memset(b, 0, sizeof(*b));
	synthetic_begin(&b->s, HAVE);
	for (size_t i = 0; i < n; i++)
		synthetic_ksym(&b->s, TEXT + i * 0x100, TEXT + i * 0x100 + 0x100, "", names[i]);
	synthetic_comm(&b->s, 100, 100, "load");
	b->s.period = period;
	for (size_t w = 0; w < RATE_WINDOWS; w++)
		for (size_t i = 0; i < n; i++)
			for (unsigned k = 0; k < counts[i]; k++) {
				const uint64_t words[] = { (uint64_t)PERF_CONTEXT_KERNEL,
							   TEXT + i * 0x100 + 4 };

				b->s.now = (100 + w) * WINDOW_NS + (i * 100 + k) * 1000000;
				synthetic_sample(&b->s, 100, 100, words[1], words, 2);
			}
	synthetic_read(&b->s);
	b->ro.keys = b->ro.columns = keys;
	b->ro.quantum_ns = WINDOW_NS;
	report_profile_options(&b->ro, &b->po);
	b->resolver = resolver_new(NULL);
	b->profile = profile_new(b->resolver, NULL, &b->po);
	assert_non_null(b->profile);
	assert_int_equal(profile_add(b->profile, &b->po, b->s.stream, &where), 0);
	assert_int_equal(report_build(b->profile, &b->ro, &b->report), 0);
}

static void
end(void)
{
	comparison_free(comparison);
	comparison = NULL;
	for (int i = 0; i < COMPARISON_SIDES; i++) {
		report_free(sides[i].report);
		profile_free(sides[i].profile);
		resolver_free(sides[i].resolver);
		synthetic_end(&sides[i].s);
	}
}

static void
compare(enum comparison_per per, double cpus_of_new)
{
	static struct comparison_input inputs[COMPARISON_SIDES];
	const struct comparison_options o = {
		.report = &sides[0].ro, .per = per, .confidence = 0.99, .samples_min = 10
	};

	for (int side = 0; side < COMPARISON_SIDES; side++) {
		inputs[side] = (struct comparison_input){ .profile = sides[side].profile,
							  .report = sides[side].report,
							  .tasks = tasks,
							  .work = side ? 4 : 2 };
		comparison_split(100, RATE_WINDOWS, inputs[side].ends);
		for (size_t i = 0; i < RATE_WINDOWS; i++)
			inputs[side].covered[i] = (double)WINDOW_NS * (side ? cpus_of_new : 1);
	}
	assert_int_equal(comparison_build(inputs, &o, &comparison), 0);
}

static const struct comparison_row *
row(size_t i, const char *symbol)
{
	const struct comparison_row *r = comparison_row_at(comparison, i);

	assert_string_equal(r->values[REPORT_sym].text, symbol);
	return r;
}

static bool
near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

/* The functions lie elsewhere in the other build, which has one more, and lacks one. */
static const char *const before[] = { "same", "slower", "gone" };
static const char *const after[] = { "new", "slower", "same" };
static const unsigned counts_before[] = { 20, 20, 1 }, counts_after[] = { 5, 30, 20 };

static void
rows_have_one_name(void **state)
{
	begin(&sides[0], 10000000, counts_before, before, 3);
	begin(&sides[1], 10000000, counts_after, after, 3);
	compare(COMPARISON_PER_CPU, 1);
	assert_int_equal(comparison_events(comparison), 1);
	assert_int_equal(comparison_event_at(comparison, 0)->nr, 4);
	assert_true(comparison_event_at(comparison, 0)->clock);
	/* 20 and 30 samples of 10 ms in a second */
	assert_true(near(row(0, "slower")->self.before, 0.2) &&
		    near(row(0, "slower")->self.after, 0.3) && row(0, "slower")->self.significant);
	assert_true(row(1, "new")->self.before == 0 && near(row(1, "new")->self.after, 0.05));
	assert_true(near(row(2, "gone")->self.change, -0.01) && row(2, "gone")->self.significant);
	assert_true(row(3, "same")->self.change == 0 && !row(3, "same")->self.significant);
	assert_int_equal(row(3, "same")->samples[COMPARISON_NEW], 20 * RATE_WINDOWS);
	assert_int_equal(comparison_event_at(comparison, 0)->significant, 3);
	end();
}

/* Twice the rate on twice the CPUs: samples of half the period, and each function runs on both. */
static void
rates_and_cpus_are_normalised(void **state)
{
	static const unsigned four_times[] = { 80, 80, 4 };

	begin(&sides[0], 10000000, counts_before, before, 3);
	begin(&sides[1], 5000000, four_times, before, 3);
	compare(COMPARISON_PER_CPU, 2);
	for (size_t i = 0; i < 3; i++)
		assert_true(near(comparison_row_at(comparison, i)->self.change, 0));
	assert_int_equal(comparison_event_at(comparison, 0)->significant, 0);
	end();
}

static void
sums_and_shares(void **state)
{
	begin(&sides[0], 10000000, counts_before, before, 3);
	begin(&sides[1], 10000000, counts_after, after, 3);
	compare(COMPARISON_PER_NONE, 1);
	assert_true(near(row(0, "slower")->self.after, 0.3 * RATE_WINDOWS));
	comparison_free(comparison);
	compare(COMPARISON_PER_TOTAL, 1);
	for (size_t i = 0; i < 4; i++) {
		const struct comparison_row *r = comparison_row_at(comparison, i);

		if (strcmp(r->values[REPORT_sym].text, "slower") == 0) {
			assert_true(near(r->self.before, 20.0 / 41));
			assert_true(near(r->self.after, 30.0 / 55));
		}
	}
	end();
}

/* One side has no sample, and so no event. */
static void
one_side_alone(void **state)
{
	static const char *const names[] = { "much" };
	static const unsigned some[] = { 10 };

	begin(&sides[0], 10000000, some, names, 1);
	begin(&sides[1], 10000000, some, names, 0);
	compare(COMPARISON_PER_CPU, 1);
	assert_true(row(0, "much")->tried && row(0, "much")->self.significant);
	assert_null(comparison_event_at(comparison, 0)->names[COMPARISON_NEW]);
	end();
}

/* Of tasks, sums are counts: all of a row's samples may be in one window; with work they are over it. */
static void
the_same_work_is_counted(void **state)
{
	static const char *const names[] = { "same" };
	static const unsigned one[] = { 4 }, two[] = { 8 };

	begin(&sides[0], 10000000, one, names, 1);
	begin(&sides[1], 10000000, two, names, 1);
	tasks = true;
	compare(COMPARISON_PER_NONE, 1);
	assert_true(comparison_by_counts(comparison));
	/* 128 and 256 samples: by scipy 1.10 p is 6.1e-11 of the counts alone; and nothing else tells of the machine. */
	assert_true(row(0, "same")->self.significant && row(0, "same")->self.p > 6.1e-11 &&
		    row(0, "same")->self.p < 1e-4);
	comparison_free(comparison);
	compare(COMPARISON_PER_WORK, 1);
	assert_true(near(row(0, "same")->self.before, 0.01 * 4 * RATE_WINDOWS / 2) &&
		    near(row(0, "same")->self.change, 0) && row(0, "same")->self.p > 0.9);
	comparison_free(comparison);
	compare(COMPARISON_PER_TOTAL, 1);
	assert_false(comparison_by_counts(comparison));
	tasks = false;
	/* Of CPUs, windows tell, and rates are the same. */
	comparison_free(comparison);
	compare(COMPARISON_PER_WORK, 1);
	assert_false(comparison_by_counts(comparison));
	assert_true(near(row(0, "same")->self.after, 0.01 * 8 * RATE_WINDOWS / 4));
	end();
}

static void
buckets_fill_windows(void **state)
{
	uint64_t ends[RATE_WINDOWS];
	size_t last = 0;

	comparison_split(100, RATE_WINDOWS, ends);
	assert_int_equal(comparison_window(ends, 100), 0);
	assert_int_equal(comparison_window(ends, 131), 31);
	/* A time before the beginning, or behind the end. */
	assert_int_equal(comparison_window(ends, 7), 0);
	assert_int_equal(comparison_window(ends, UINT64_MAX), 31);
	/* Of three buckets the first windows have one each. */
	comparison_split(100, 3, ends);
	assert_int_equal(comparison_window(ends, 101), 1);
	assert_int_equal(comparison_window(ends, 102), 2);
	comparison_split(0, 0, ends);
	assert_int_equal(comparison_window(ends, 5), 31);
	/* Of more buckets than windows each has some, in order. */
	comparison_split(50, 1000, ends);
	for (uint64_t i = 0; i < 1000; i++) {
		const size_t w = comparison_window(ends, 50 + i);

		assert_true(w == last || w == last + 1);
		last = w;
	}
	assert_int_equal(last, RATE_WINDOWS - 1);
	assert_int_equal(ends[0], 50 + 32); /* 1000 / 32 is 31.25 */
}

/* Half of the buckets have nine tenths of the weight: each window has as much, to half a bucket. */
static void
weights_fill_windows(void **state)
{
	uint64_t ends[RATE_WINDOWS];
	double weights[1000], in[RATE_WINDOWS] = { 0 };

	for (size_t i = 0; i < 1000; i++)
		weights[i] = i >= 200 && i < 700 ? 9 : 1;
	comparison_split_weights(50, weights, 1000, ends);
	assert_int_equal(ends[RATE_WINDOWS - 1], 1050);
	for (size_t i = 0; i < 1000; i++)
		in[comparison_window(ends, 50 + i)] += weights[i];
	for (size_t i = 0; i < RATE_WINDOWS; i++)
		assert_true(fabs(in[i] - 5000.0 / RATE_WINDOWS) <= 9);
	/* All in one bucket, or nothing: nothing is lost, and nothing is divided by 0. */
	memset(weights, 0, sizeof(weights));
	comparison_split_weights(50, weights, 1000, ends);
	assert_int_equal(ends[RATE_WINDOWS - 1], 1050);
	weights[500] = 1;
	comparison_split_weights(50, weights, 1000, ends);
	assert_true(ends[0] <= 550 && ends[RATE_WINDOWS - 1] == 1050);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_have_one_name),
		cmocka_unit_test(rates_and_cpus_are_normalised),
		cmocka_unit_test(sums_and_shares),
		cmocka_unit_test(one_side_alone),
		cmocka_unit_test(the_same_work_is_counted),
		cmocka_unit_test(buckets_fill_windows),
		cmocka_unit_test(weights_fill_windows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

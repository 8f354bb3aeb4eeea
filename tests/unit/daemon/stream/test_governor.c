/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The governor against a made-up process whose cost is fixed + a share per Hz, second by second.
 */
#include "daemon/stream/governor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define SECOND_NS UINT64_C(1000000000)

struct world {
	struct governor g;
	struct governor_budget budget;
	struct governor_reading now;
	uint64_t configured_hz;
	double fixed, per_hz; /* seconds of CPU a second */
	double bytes_per_hz;
	double sideband, sideband_bytes; /* of the fixed cost; they follow its budget */
	double fixed_apart;		 /* what is in no other cost */
	unsigned int lowered, raised, trimmed;
};

static void
world_init(struct world *w, uint64_t hz, double budget_percent, double percent_at_hz)
{
	*w = (struct world){ .configured_hz = hz };
	governor_init(&w->g);
	w->now.now_ns = 1000 * SECOND_NS;
	w->budget.sideband = true;
	w->budget.cpu_milli_percent = (uint64_t)(budget_percent * 1000);
	w->per_hz = percent_at_hz / 100 / (double)hz;
}

static uint64_t
world_hz(const struct world *w)
{
	return governor_frequency(&w->g, w->configured_hz);
}

static void
world_run(struct world *w, unsigned int seconds)
{
	while (seconds--) {
		double hz = (double)world_hz(w);

		w->now.now_ns += SECOND_NS;
		double sideband = w->budget.sideband ? 1 / (double)(1u << w->g.sideband) : 1;

		w->now.cpu_ns +=
			(uint64_t)((w->fixed + w->per_hz * hz + w->sideband * sideband) * 1e9);
		w->now.fixed_cpu_ns += (uint64_t)(w->fixed_apart * 1e9);
		w->now.sideband_cpu_ns += (uint64_t)(w->sideband * sideband * 1e9);
		w->now.written_bytes +=
			(uint64_t)(w->bytes_per_hz * hz + w->sideband_bytes * sideband);
		w->now.sideband_bytes += (uint64_t)(w->sideband_bytes * sideband);
		switch (governor_decide(&w->g, &w->budget, &w->now, w->configured_hz)) {
		case GOVERNOR_LOWER:
			w->lowered++;
			break;
		case GOVERNOR_RAISE:
			w->raised++;
			break;
		case GOVERNOR_TRIM:
			w->trimmed++;
			break;
		case GOVERNOR_STAY:
			break;
		}
	}
}

static double
world_percent(const struct world *w)
{
	return (w->fixed + w->per_hz * (double)world_hz(w)) * 100;
}

static void
test_within_budget(void **state)
{
	struct world w;

	world_init(&w, 19, 1, 0.9);
	world_run(&w, 3600);
	assert_int_equal(w.lowered + w.raised + w.trimmed, 0);
	assert_int_equal(world_hz(&w), 19);
	assert_string_equal(governor_reason(&w.g), "");
}

static void
test_no_limits(void **state)
{
	struct world w;

	world_init(&w, 999, 0, 90);
	w.now.rss_bytes = UINT64_C(1) << 40;
	world_run(&w, 3600);
	assert_int_equal(w.lowered + w.raised + w.trimmed, 0);
}

static void
test_lowers_and_comes_back(void **state)
{
	struct world w;

	world_init(&w, 999, 1, 12);
	world_run(&w, 30);
	assert_true(world_percent(&w) <= 1);
	assert_int_equal(world_hz(&w), 62);
	assert_string_equal(governor_reason(&w.g), "cpu_budget");
	/* The load stays: so does the frequency. */
	world_run(&w, 3600);
	assert_true(world_percent(&w) <= 1);
	assert_int_equal(w.lowered, 1);
	/* The load is over. */
	w.per_hz /= 100;
	world_run(&w, 150);
	assert_int_equal(world_hz(&w), 999);
	assert_string_equal(governor_reason(&w.g), "");
	world_run(&w, 3600);
	assert_int_equal(w.lowered, 1);
	assert_int_equal(w.raised, 1);
}

/* Side-band takes all there is: the frequency is not what is lowered, and it all comes back. */
static void
test_sideband_pays_for_itself(void **state)
{
	struct world w;

	world_init(&w, 19, 1, 0.1);
	w.sideband = 0.03;
	world_run(&w, 60);
	for (int s = 0; s < 600; s++) {
		world_run(&w, 1);
		assert_int_equal(w.g.sideband, 2);
	}
	assert_int_equal(world_hz(&w), 19);
	assert_int_equal(w.lowered, 0);
	assert_string_equal(governor_sideband_reason(&w.g), "cpu_budget");
	assert_string_equal(governor_reason(&w.g), "");
	w.sideband = 1;
	world_run(&w, 600);
	assert_int_equal(w.g.sideband, GOVERNOR_SIDEBAND_MAX);
	assert_int_equal(world_hz(&w), 19);
	w.sideband = 0;
	world_run(&w, 300);
	assert_int_equal(w.g.sideband, 0);
}

static void
test_sideband_on_disk(void **state)
{
	struct world w;

	world_init(&w, 99, 0, 0);
	w.budget.disk_bytes_per_s = 100000;
	w.bytes_per_hz = 100;
	w.sideband_bytes = 300000;
	world_run(&w, 60);
	assert_int_equal(world_hz(&w), 99);
	assert_true(w.g.sideband >= 1);
	assert_string_equal(governor_sideband_reason(&w.g), "disk_budget");
}

/* Side-band that has no budget cannot be lowered: the samples answer for all of it. */
static void
test_sideband_without_budget(void **state)
{
	struct world w;

	world_init(&w, 999, 1, 2);
	w.budget.sideband = false;
	w.sideband = 0.02;
	world_run(&w, 60);
	assert_int_equal(w.g.sideband, 0);
	assert_string_equal(governor_reason(&w.g), "cpu_budget");
	world_run(&w, 3600);
	assert_int_equal(world_hz(&w), GOVERNOR_FLOOR_HZ);
	/* It had one until now: what was lowered is not there any more. */
	world_init(&w, 19, 1, 0.1);
	w.sideband = 0.03;
	world_run(&w, 60);
	assert_int_equal(w.g.sideband, 2);
	w.budget.sideband = false;
	governor_forget(&w.g);
	world_run(&w, 60);
	assert_int_equal(w.g.sideband, 0);
	assert_string_equal(governor_reason(&w.g), "cpu_budget");
}

/* Samples that are over are lowered, also while side-band is. */
static void
test_both_over(void **state)
{
	struct world w;

	world_init(&w, 999, 1, 4);
	w.sideband = 0.3;
	world_run(&w, 60);
	assert_true(world_hz(&w) < 999);
	assert_true(world_hz(&w) >= 124);
	assert_int_equal(w.g.sideband, GOVERNOR_SIDEBAND_MAX);
}

/* A rotation's snapshot, or a start: seconds of work, then nothing. */
static void
test_bursts(void **state)
{
	struct world w;

	world_init(&w, 19, 1, 0.1);
	for (int i = 0; i < 60; i++) {
		w.now.cpu_ns += SECOND_NS * 3 / 4;
		world_run(&w, 60);
	}
	assert_int_equal(w.lowered, 0);
}

static void
test_start_is_free(void **state)
{
	struct world w;

	world_init(&w, 19, 1, 0.1);
	world_run(&w, 1);
	w.now.cpu_ns += 10 * SECOND_NS;
	world_run(&w, 60);
	assert_int_equal(w.lowered, 0);
}

static void
test_floor(void **state)
{
	struct world w;

	world_init(&w, 19, 1, 0);
	w.fixed = 0.5;
	world_run(&w, 3600);
	assert_int_equal(world_hz(&w), GOVERNOR_FLOOR_HZ);
	assert_int_equal(w.lowered, 1);
	assert_int_equal(w.raised, 0);
	w.fixed = 0;
	world_run(&w, 150);
	assert_int_equal(world_hz(&w), 19);
}

/* The cost is fixed, so that a raise would fit although twice the cost would not. */
static void
test_probes(void **state)
{
	struct world w;

	world_init(&w, 16, 1, 0);
	w.fixed = 0.02;
	world_run(&w, 20);
	assert_int_equal(world_hz(&w), 8);
	w.fixed = 0.006;
	world_run(&w, 400);
	assert_int_equal(world_hz(&w), 16);
}

/* A load that comes back whenever there is room: fewer and fewer raises. */
static void
test_does_not_swing(void **state)
{
	struct world w;
	unsigned int hour[6] = { 0 };

	world_init(&w, 100, 1, 1.5);
	for (unsigned int i = 0; i < 6 * 3600; i++) {
		/* Cheap when lowered, dear when not: the worst that can happen to it. */
		w.per_hz = world_hz(&w) == 100 ? 0.00015 : 0.00002;
		hour[i / 3600] -= w.lowered;
		world_run(&w, 1);
		hour[i / 3600] += w.lowered;
	}
	assert_true(hour[0] <= 12);
	assert_true(hour[5] <= 4);
	assert_true(hour[5] <= hour[0]);
}

static void
test_memory(void **state)
{
	struct world w;

	world_init(&w, 19, 1, 0.1);
	w.budget.memory_bytes = 64 << 20;
	w.now.rss_bytes = 70 << 20;
	world_run(&w, 21);
	assert_int_equal(w.trimmed, 1);
	assert_int_equal(w.lowered, 0);
	world_run(&w, 80);
	assert_int_equal(w.lowered, 1);
	assert_int_equal(world_hz(&w), 9);
	assert_string_equal(governor_reason(&w.g), "memory_budget");
	/* Just below is no reason to raise. */
	w.now.rss_bytes = 63 << 20;
	world_run(&w, 3600);
	assert_int_equal(world_hz(&w), 9);
	w.now.rss_bytes = 30 << 20;
	world_run(&w, 90);
	assert_int_equal(world_hz(&w), 19);
}

/* Trimming helped: that is all. */
static void
test_trim_is_enough(void **state)
{
	struct world w;

	world_init(&w, 19, 1, 0.1);
	w.budget.memory_bytes = 64 << 20;
	w.now.rss_bytes = 70 << 20;
	world_run(&w, 21);
	assert_int_equal(w.trimmed, 1);
	w.now.rss_bytes = 20 << 20;
	world_run(&w, 3600);
	assert_int_equal(w.lowered, 0);
	assert_int_equal(w.trimmed, 1);
}

static void
test_disk(void **state)
{
	struct world w;

	world_init(&w, 999, 0, 5);
	w.budget.disk_bytes_per_s = 10000;
	w.bytes_per_hz = 30;
	world_run(&w, 60);
	assert_int_equal(world_hz(&w), 249);
	assert_string_equal(governor_reason(&w.g), "disk_budget");
}

static void
test_hold(void **state)
{
	struct world w;

	world_init(&w, 19, 1, 5);
	w.now.hold = true;
	world_run(&w, 600);
	assert_int_equal(w.lowered, 0);
	w.now.hold = false;
	world_run(&w, 30);
	assert_true(w.lowered >= 1);
}

static void
test_new_configuration(void **state)
{
	struct world w;

	world_init(&w, 999, 1, 4);
	world_run(&w, 60);
	assert_int_equal(world_hz(&w), 249);
	w.configured_hz = 3;
	governor_forget(&w.g);
	assert_int_equal(world_hz(&w), GOVERNOR_FLOOR_HZ);
	world_run(&w, 75);
	assert_int_equal(world_hz(&w), 3);
}

/* Side-band that takes eight times the budget, and less of it than can be left out. */
static void
test_unheld_is_told(void **state)
{
	struct world w;
	double times;

	(void)state;
	world_init(&w, 19, 1, 0.1);
	w.fixed = 0.08;
	world_run(&w, 20);
	assert_string_equal(governor_unheld(&w.g, &times), "");
	/* The frequency is lowered to 1 Hz first, and then nothing is left. */
	world_run(&w, 60);
	assert_int_equal(world_hz(&w), 1);
	assert_string_equal(governor_unheld(&w.g, &times), "cpu_budget");
	assert_float_equal(times, 8, 0.1);
	/* A moment within the budget is no end of it. */
	w.fixed = 0.001;
	world_run(&w, 30);
	assert_string_equal(governor_unheld(&w.g, &times), "cpu_budget");
	world_run(&w, 40);
	assert_string_equal(governor_unheld(&w.g, &times), "");
	/* The same of the disk. */
	w.budget.disk_bytes_per_s = 1000;
	w.sideband_bytes = 100000;
	world_run(&w, 120);
	assert_int_equal(w.g.sideband, GOVERNOR_SIDEBAND_MAX);
	assert_string_equal(governor_unheld(&w.g, &times), "disk_budget");
	assert_float_equal(times, 12.5, 0.1);
	/* What nothing lowers, as a flight recorder's threads, costs no names and no samples, but is told. */
	world_init(&w, 19, 1, 0.1);
	w.sideband = 0.006;
	w.fixed_apart = 0.02;
	world_run(&w, 80);
	assert_int_equal(w.lowered, 0);
	assert_int_equal(w.g.sideband, 0);
	assert_string_equal(governor_unheld(&w.g, &times), "cpu_budget");
	assert_float_equal(times, 2.7, 0.1);
	/* Another configuration is judged anew. */
	governor_forget(&w.g);
	assert_string_equal(governor_unheld(&w.g, &times), "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_within_budget),
		cmocka_unit_test(test_no_limits),
		cmocka_unit_test(test_lowers_and_comes_back),
		cmocka_unit_test(test_sideband_pays_for_itself),
		cmocka_unit_test(test_sideband_on_disk),
		cmocka_unit_test(test_sideband_without_budget),
		cmocka_unit_test(test_both_over),
		cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_start_is_free),
		cmocka_unit_test(test_floor),
		cmocka_unit_test(test_probes),
		cmocka_unit_test(test_does_not_swing),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_trim_is_enough),
		cmocka_unit_test(test_disk),
		cmocka_unit_test(test_hold),
		cmocka_unit_test(test_new_configuration),
		cmocka_unit_test(test_unheld_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

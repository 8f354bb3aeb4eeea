/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * @full
 *
 * Simulated pairs of recordings, each a number of functions by windows, with seeds: how often does a pair of
 * equal loads show anything, and how often is a function found that became slower?
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "symbolizer/statistics/rate_change.h"

#define FUNCTIONS 40
#define PAIRS 1000
#define FINE 4 /* steps of a window, for bursts that are shorter than it */

/* --- numbers ------------------------------------------------------------------------------ */

static double
uniform(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return ((double)(*seed >> 11) + 0.5) / 9007199254740992.0;
}

static double
normal(uint64_t *seed)
{
	return sqrt(-2 * log(uniform(seed))) * cos(2 * M_PI * uniform(seed));
}

static double
poisson(uint64_t *seed, double mean)
{
	double limit, product;
	int n = 0;

	if (mean > 12)
		return fmax(0, floor(mean + sqrt(mean) * normal(seed) + 0.5));
	limit = exp(-mean);
	for (product = uniform(seed); product > limit; product *= uniform(seed))
		n++;
	return n;
}

/* --- loads -------------------------------------------------------------------------------- */

/* What the load does in a step, as a factor of its mean 1; burst is kept from step to step. */
typedef double load_fn(uint64_t *seed, double *burst);

static double
steady(uint64_t *seed, double *burst)
{
	(void)seed;
	(void)burst;
	return 1;
}

/* On for a third of the time, for a window and a half on average. */
static double
bursty(uint64_t *seed, double *burst)
{
	const double end = 1.0 / (1.5 * FINE);

	if (*burst < 0)
		*burst = uniform(seed) < 1.0 / 3;
	else if (uniform(seed) < (*burst > 0 ? end : end / 2))
		*burst = *burst <= 0;
	return *burst > 0 ? 3 : 0;
}

/* On for a twentieth of the time, in bursts as long: of two times, one may well have none. */
static double
rare(uint64_t *seed, double *burst)
{
	const double end = 1.0 / (1.5 * FINE);

	if (*burst < 0)
		*burst = uniform(seed) < 1.0 / 20;
	else if (uniform(seed) < (*burst > 0 ? end : end / 19))
		*burst = *burst <= 0;
	return *burst > 0 ? 20 : 0;
}

/* Wanders by a tenth, with a memory of two windows. */
static double
wandering(uint64_t *seed, double *burst)
{
	const double keep = exp(-1.0 / (2 * FINE));

	if (*burst < 0)
		*burst = 100 + normal(seed);
	*burst = 100 + keep * (*burst - 100) + sqrt(1 - keep * keep) * normal(seed);
	return fmax(0, 1 + 0.1 * (*burst - 100));
}

/* A function's share falls by a tenth from one to the next, so that the last have few samples. */
static double
mean_of(size_t function, double samples)
{
	return samples * pow(0.9, (double)function) / 10;
}

static void
simulate(uint64_t *seed, load_fn *load, double mean, double *windows)
{
	double burst = -1;

	for (size_t i = 0; i < RATE_WINDOWS; i++) {
		windows[i] = 0;
		for (int k = 0; k < FINE; k++)
			windows[i] +=
				poisson(seed, mean * load(seed, &burst) / (RATE_WINDOWS * FINE));
	}
}

/* Compares two times, the second `longer` times as long, in which function 0 is `slower` as slow. */
static void
compare(uint64_t *seed, load_fn *load, double samples, double longer, double slower,
	struct rate_change *changes)
{
	double covered[2][RATE_WINDOWS], windows[2][RATE_WINDOWS];
	struct rate_change *all[FUNCTIONS];

	for (size_t i = 0; i < RATE_WINDOWS; i++) {
		covered[0][i] = 10;
		covered[1][i] = 10 * longer;
	}
	for (size_t f = 0; f < FUNCTIONS; f++) {
		const struct rate_series before = { windows[0], covered[0], 1 },
					 after = { windows[1], covered[1], 1 };

		simulate(seed, load, mean_of(f, samples), windows[0]);
		simulate(seed, load, mean_of(f, samples) * longer * (f == 0 ? slower : 1),
			 windows[1]);
		rate_change_find(&before, &after, 0.99, &changes[f]);
		all[f] = &changes[f];
	}
	assert_int_equal(rate_changes_judge(all, FUNCTIONS, 0.99), 0);
}

/* Pairs in which anything is called significant. */
static int
alarms(load_fn *load, double samples, double longer)
{
	uint64_t seed = 0x9e3779b97f4a7c15;
	struct rate_change changes[FUNCTIONS];
	int n = 0;

	for (int pair = 0; pair < PAIRS; pair++) {
		bool any = false;

		compare(&seed, load, samples, longer, 1, changes);
		for (size_t f = 0; f < FUNCTIONS; f++)
			any |= changes[f].significant;
		n += any;
	}
	print_message("%d of %d pairs of %g samples\n", n, PAIRS, samples);
	return n;
}

static void
equal_loads_are_noise(void **state)
{
	static load_fn *const loads[] = { steady, bursty, rare, wandering };

	for (size_t i = 0; i < 4; i++)
		for (double samples = 300; samples <= 100000; samples *= 18)
			assert_true(alarms(loads[i], samples, samples == 5400 ? 3 : 1) <=
				    PAIRS / 20);
}

/* Pairs in which function 0 is significant, and changed most of all that are. */
static int
finds(load_fn *load, double samples, double longer, double slower)
{
	uint64_t seed = 0x9e3779b97f4a7c15;
	struct rate_change changes[FUNCTIONS];
	int n = 0;

	for (int pair = 0; pair < PAIRS; pair++) {
		bool first;

		compare(&seed, load, samples, longer, slower, changes);
		first = changes[0].significant && changes[0].change > 0;
		for (size_t f = 1; f < FUNCTIONS; f++)
			first &= !changes[f].significant ||
				fabs(changes[f].change) < changes[0].change;
		n += first;
	}
	print_message("found in %d of %d pairs of %g samples\n", n, PAIRS, samples);
	return n;
}

static void
ten_percent_are_found(void **state)
{
	/* 20,000 samples of it: 10 % are ten standard deviations of a difference of counts. */
	assert_true(finds(steady, 200000, 1, 1.1) >= PAIRS * 99 / 100);
	assert_true(finds(wandering, 400000, 0.5, 1.5) >= PAIRS * 9 / 10);
	assert_true(finds(steady, 200000, 1, 0.9) == 0); /* faster, not slower */
	/* With a tenth of the samples there is nothing to be sure of. */
	assert_true(finds(steady, 2000, 1, 1.1) <= PAIRS / 20);
}

/* --- by hand ------------------------------------------------------------------------------ */

static void
fill(double *to, double value)
{
	for (size_t i = 0; i < RATE_WINDOWS; i++)
		to[i] = value;
}

static void
rates_are_of_what_is_covered(void **state)
{
	double covered[2][RATE_WINDOWS], weights[2][RATE_WINDOWS];
	const struct rate_series a = { weights[0], covered[0], 1 },
				 b = { weights[1], covered[1], 1 };
	struct rate_change c;

	fill(covered[0], 2);
	fill(weights[0], 10);
	fill(covered[1], 4);
	fill(weights[1], 22);
	/* A gap of half the time: no samples, and nothing that was looked at. */
	for (size_t i = 8; i < 24; i++)
		covered[1][i] = weights[1][i] = 0;
	rate_change_find(&a, &b, 0.99, &c);
	assert_true(fabs(c.before - 5) < 1e-12 && fabs(c.after - 5.5) < 1e-12);
	assert_true(fabs(c.change - 0.5) < 1e-12);
	assert_true(c.margin > 0 && c.margin < 0.5 && c.p < 1e-6);
}

/* All of the change in one window is a burst. */
static void
one_burst_is_noise(void **state)
{
	double covered[RATE_WINDOWS], weights[2][RATE_WINDOWS];
	const struct rate_series a = { weights[0], covered, 1 }, b = { weights[1], covered, 1 };
	struct rate_change c;

	fill(covered, 1);
	fill(weights[0], 0);
	fill(weights[1], 0);
	weights[1][5] = 10000;
	rate_change_find(&a, &b, 0.99, &c);
	assert_true(c.p > 0.2 && c.margin > c.change);
}

/* Samples of one time alone are as many events, less one; bursts are one event each. By scipy 1.10: 2 * betainc(n, 1, share). */
static void
what_is_new_is_counted(void **state)
{
	double covered[RATE_WINDOWS], none[RATE_WINDOWS], weights[RATE_WINDOWS];
	struct rate_series with = { weights, covered, 1 }, without = { none, covered, 1 };
	struct rate_change c, back;

	fill(covered, 1);
	fill(none, 0);
	fill(weights, 1);
	rate_change_find(&without, &with, 0.99, &c);
	rate_change_find(&with, &without, 0.99, &back);
	assert_true(c.change == 1 && back.change == -1 && c.p == back.p);
	/* All windows are alike: no variance but a sample's; 32 of them. */
	assert_true(fabs(c.p / 9.313225746154785e-10 - 1) < 1e-9); /* 2 / 2^31 */
	/* Eight bursts of ten, a window each and one apart: three times the variance of windows. */
	fill(weights, 0);
	for (size_t i = 0; i < RATE_WINDOWS; i += 4)
		weights[i] = 10;
	rate_change_find(&without, &with, 0.99, &c);
	/* 80 of variance 10 * 10 * 8 * 3/4 * 32/31 + 1: 10.32 events, less one. */
	assert_true(fabs(c.p / 0.0031363967821393156 - 1) < 1e-9);
	/* The side without was looked at for a third as long: the chance of a burst to be there is a quarter. */
	for (size_t i = 0; i < RATE_WINDOWS; i++)
		covered[i] = 1.0 / 3;
	with.covered = (const double[RATE_WINDOWS]){ [0 ... RATE_WINDOWS - 1] = 1 };
	rate_change_find(&without, &with, 0.99, &c);
	assert_true(fabs(c.p / 0.1370933035727964 - 1) < 1e-9);
}

/* Nothing covered, or one window only, or no samples: nothing is known, and nothing is divided by 0. */
static void
too_little_is_noise(void **state)
{
	double covered[RATE_WINDOWS], none[RATE_WINDOWS], weights[RATE_WINDOWS];
	const struct rate_series a = { weights, covered, 1 }, nothing = { none, none, 1 },
				 zero = { none, covered, 0 };
	struct rate_change c;

	fill(covered, 1);
	fill(weights, 3);
	fill(none, 0);
	rate_change_find(&a, &nothing, 0.99, &c);
	assert_true(c.p == 1 && isinf(c.margin) && c.before == 3 && c.after == 0);
	rate_change_find(&zero, &zero, 0.99, &c);
	assert_true(c.p == 1 && c.change == 0);
	fill(covered, 0);
	covered[3] = 1;
	rate_change_find(&a, &a, 0.99, &c);
	assert_true(c.p == 1 && isinf(c.margin));
}

/* Holm: the n smallest p are compared with a/m, a/(m-1)..., and the first that fails ends it. */
static void
many_are_compared(void **state)
{
	struct rate_change c[] = { { .p = 0.004 }, { .p = 0.0024 }, { .p = 0.0034 }, { .p = 0.9 } };
	struct rate_change *all[] = { &c[0], &c[1], &c[2], &c[3] };

	assert_int_equal(rate_changes_judge(all, 4, 0.99), 0);
	assert_true(c[1].significant);	/* <= 0.01 / 4 */
	assert_false(c[2].significant); /* > 0.01 / 3 */
	assert_false(c[0].significant); /* <= 0.01 / 2, but behind one that is not */
	assert_false(c[3].significant);
	assert_int_equal(rate_changes_judge(NULL, 0, 0.99), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_loads_are_noise),
		cmocka_unit_test(ten_percent_are_found),
		cmocka_unit_test(rates_are_of_what_is_covered),
		cmocka_unit_test(one_burst_is_noise),
		cmocka_unit_test(what_is_new_is_counted),
		cmocka_unit_test(too_little_is_noise),
		cmocka_unit_test(many_are_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The same work twice: known values, and simulated pairs of runs, with seeds: how often is anything called changed
 * that is not, and what is found?
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>

#include "symbolizer/statistics/count_change.h"

#define FUNCTIONS 40
#define PAIRS 2000

static bool
is(double a, double b)
{
	return fabs(a / b - 1) < 1e-9;
}

/* By scipy 1.10: 2 * min(binom.cdf(first, n, share), binom.sf(first - 1, n, share)), at most 1. */
static void
binomial_tails(void **state)
{
	static const struct {
		double first, second, share, p;
	} known[] = {
		{ 1020, 1590, 0.5, 4.98769994384915e-29 },
		{ 1590, 1020, 0.5, 4.98769994384915e-29 },
		{ 0, 15, 0.5, 6.103515625e-05 },
		{ 15, 0, 0.5, 6.103515625e-05 },
		{ 0, 10, 1.0 / 3, 0.03468305983166521 },
		{ 10, 0, 1.0 / 3, 3.387017561686056e-05 },
		{ 100, 130, 0.5, 0.05561357778139239 },
		{ 20, 41, 1.0 / 3, 1 },
		{ 12, 12, 0.5, 1 },
		{ 0, 0, 0.5, 1 },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		assert_true(is(count_change_p(known[i].first, known[i].second, known[i].share),
			       known[i].p));
}

static struct count_sum
samples(double n, double grain, double work, double rest)
{
	return (struct count_sum){ n * grain, n * grain * grain, grain, work, rest };
}

static double
p_of(struct count_sum before, struct count_sum after)
{
	struct rate_change c, back;

	count_change_find(&before, &after, 0.99, &c);
	count_change_find(&after, &before, 0.99, &back);
	assert_true(is(back.p, c.p) && is(back.margin, c.margin) &&
		    fabs(back.change + c.change) < 1e-9);
	return c.p;
}

/* 1.02 s and 1.59 s of 1 ms each: eleven standard deviations, and not one of them depends on when it was. */
static void
what_took_half_as_long_again(void **state)
{
	const struct count_sum a = samples(1020, 0.001, 1, 5), b = samples(1590, 0.001, 1, 5);
	struct rate_change c;

	count_change_find(&a, &b, 0.99, &c);
	assert_true(is(c.before, 1.02) && is(c.after, 1.59) && is(c.change, 0.57));
	assert_true(p_of(a, b) < 1e-15);
	/*
	 * 2.575829 standard deviations of sqrt(1020 + 1 + 1590 + 1) ms and 1.1 % of either; of the one more, likewise:
	 * sqrt(1.021 * (0.001 + 0.000121 * 1.02) + 1.591 * (0.001 + 0.000121 * 1.59)) = 0.0551734 s.
	 */
	assert_true(fabs(c.margin - 0.1421173) < 1e-6);
}

/* Where there is none on one side, p is the other's alone: n of 2 n times a half. */
static void
what_is_new(void **state)
{
	const struct count_sum none = { .grain = 0.001, .work = 1, .rest = 5 },
			       few = samples(5, 0.001, 1, 5), some = samples(30, 0.001, 1, 5);
	struct rate_change c;

	count_change_find(&none, &few, 0.99, &c);
	assert_true(c.p > 0.05 && c.margin > c.change);
	count_change_find(&none, &some, 0.99, &c);
	assert_true(c.before == 0 && is(c.after, 0.03));
	/* The allowance makes 29.7 of 30. */
	assert_true(c.p > 2 * pow(0.5, 30) && c.p < 2 * pow(0.5, 29));
	assert_true(is(p_of(none, some), c.p));
	count_change_find(&none, &none, 0.99, &c);
	assert_true(c.p == 1 && c.change == 0);
}

/* Twice the work, in samples half as long; nothing changed. */
static void
per_unit_of_work(void **state)
{
	const struct count_sum a = samples(1000, 0.002, 100, 20), b = samples(4000, 0.001, 200, 40),
			       c = samples(6000, 0.001, 200, 40);
	struct rate_change change;

	count_change_find(&a, &b, 0.99, &change);
	assert_true(is(change.before, 0.02) && is(change.after, 0.02) && change.p > 0.9);
	count_change_find(&a, &c, 0.99, &change);
	assert_true(is(change.change, 0.01) && change.p < 1e-6);
}

/* However many samples there are, two runs differ: 1 % is nothing, 10 % is a change. */
static void
runs_differ(void **state)
{
	const struct count_sum a = samples(1e8, 1e-6, 1, 500);

	assert_true(p_of(a, samples(1.01e8, 1e-6, 1, 500)) > 0.1);
	assert_true(p_of(a, samples(1.1e8, 1e-6, 1, 500)) < 1e-8);
}

/* What the rest of the run shows as well is the machine's, up to a quarter or so. */
static void
machines_differ(void **state)
{
	const struct count_sum a = samples(1e6, 1e-6, 1, 5);

	/* Between both guesses, and a little beyond. */
	assert_true(p_of(a, samples(1.1e6, 1e-6, 1, 5 * 1.2)) == 1);
	assert_true(p_of(a, samples(1.22e6, 1e-6, 1, 5 * 1.2)) > 0.1);
	assert_true(p_of(a, samples(1.55e6, 1e-6, 1, 5 * 1.1)) < 1e-8);
	/* The rest became slower, and this did not, or even faster. */
	assert_true(p_of(a, samples(1e6, 1e-6, 1, 5 * 1.2)) > 0.9);
	assert_true(p_of(a, samples(8e5, 1e-6, 1, 5 * 1.2)) < 1e-8);
	/* No machine takes twice as long: all of it changed. */
	assert_true(p_of(a, samples(2e6, 1e-6, 1, 10)) < 1e-3);
	/* With no rest to tell, 10 % may be the machine, and 55 % are not. */
	assert_true(p_of(samples(1e6, 1e-6, 1, 0), samples(1.1e6, 1e-6, 1, 0)) > 0.1);
	assert_true(p_of(samples(1e6, 1e-6, 1, 0), samples(1.55e6, 1e-6, 1, 0)) < 1e-4);
}

/* --- simulated ---------------------------------------------------------------------------- */

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
	const double limit = exp(-mean);
	double product;
	int n = 0;

	if (mean > 50)
		return fmax(0, floor(mean + sqrt(mean) * normal(seed) + 0.5));
	for (product = uniform(seed); product > limit; product *= uniform(seed))
		n++;
	return n;
}

/* The counts of a run, as a whole faster or slower; *ret_all: their sum. */
static void
simulate(uint64_t *seed, double total, double differ, double slower, double counts[FUNCTIONS],
	 double *ret_all)
{
	const double fast = exp(differ * normal(seed));

	*ret_all = 0;
	for (int f = 0; f < FUNCTIONS; f++) {
		const double part = fast * (1 + RUNS_DIFFER * normal(seed));

		counts[f] = poisson(seed, total * pow(0.8, f) / 5 * part * (f ? 1 : slower));
		*ret_all += counts[f];
	}
}

/* Pairs of which a row is significant, or, with slower above 1, of which function 0 is. */
static int
count_pairs(double total, double differ, double slower)
{
	uint64_t seed = 0x9e3779b97f4a7c15;
	int n = 0;

	for (int pair = 0; pair < PAIRS; pair++) {
		struct rate_change changes[FUNCTIONS], *all[FUNCTIONS];
		double counts[2][FUNCTIONS], sums[2];
		size_t tried = 0;
		bool any = false;

		simulate(&seed, total, differ, 1, counts[0], &sums[0]);
		simulate(&seed, total, differ, slower, counts[1], &sums[1]);
		for (int f = 0; f < FUNCTIONS; f++) {
			const double na = counts[0][f], nb = counts[1][f];
			const struct count_sum a = samples(na, 1, 1, sums[0] - na),
					       b = samples(nb, 1, 1, sums[1] - nb);

			count_change_find(&a, &b, 0.99, &changes[f]);
			if (na + nb >= 10)
				all[tried++] = &changes[f];
		}
		assert_int_equal(rate_changes_judge(all, tried, 0.99), 0);
		for (size_t i = 0; i < tried; i++)
			any |= all[i]->significant && (slower == 1 || all[i] == &changes[0]);
		n += any;
	}
	print_message("%d of %d pairs of %g samples, runs that differ by %g %%, %g times slower\n",
		      n, PAIRS, total, 100 * differ, slower);
	return n;
}

static void
equal_work_is_noise(void **state)
{
	for (double total = 100; total <= 1000000; total *= 10) {
		assert_true(count_pairs(total, 0, 1) <= PAIRS / 20);
		assert_true(count_pairs(total, SPEED_DIFFERS, 1) <= PAIRS / 20);
	}
}

static void
slower_is_found(void **state)
{
	/* A fifth of 10,000 samples, and a half more: 2000 and 3000. */
	assert_true(count_pairs(10000, 0.01, 1.5) == PAIRS);
	assert_true(count_pairs(10000, SPEED_DIFFERS, 1.5) >= PAIRS * 9 / 10);
	/* 40,000 and 10 % more: 13 standard deviations of the counts, and 5 with how runs differ. */
	assert_true(count_pairs(200000, 0.01, 1.1) >= PAIRS * 8 / 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(binomial_tails),  cmocka_unit_test(what_took_half_as_long_again),
		cmocka_unit_test(what_is_new),	   cmocka_unit_test(per_unit_of_work),
		cmocka_unit_test(runs_differ),	   cmocka_unit_test(equal_work_is_noise),
		cmocka_unit_test(machines_differ), cmocka_unit_test(slower_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

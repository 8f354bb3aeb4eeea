/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/statistics/count_change.h"

#include <math.h>

#include "symbolizer/statistics/beta.h"

#define DEVIATIONS_MAX 39 /* of the normal distribution: what is farther out is 0 as a double */

double
count_change_p(double first, double second, double share)
{
	const double few = second > 0 ? beta_share(second, first + 1, 1 - share) : 1;
	const double many = first > 0 ? beta_share(first, second + 1, share) : 1;

	return fmin(1, 2 * fmin(few, many));
}

/* How many standard deviations a normal value is within, but for that probability. */
static double
deviations(double p)
{
	double low = 0, high = DEVIATIONS_MAX;

	while (high - low > 1e-12 * high) {
		const double middle = low + (high - low) / 2;

		if (erfc(middle / M_SQRT2) > p)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* The variance of the sum over its mean: what an event of a Poisson process with that variance would weigh. */
static double
grain_of(const struct count_sum *s, double differ)
{
	if (s->weight <= 0)
		return s->grain;
	return s->squares / s->weight + differ * differ * s->weight;
}

/* How much longer the same took the second time, by the rest of the run: a logarithm, and its variance. */
static double
find_speed(const struct count_sum *before, const struct count_sum *after, double *ret_variance)
{
	const double known = SPEED_DIFFERS * SPEED_DIFFERS;
	double ratio, error;

	*ret_variance = known;
	if (before->rest <= 0 || after->rest <= 0)
		return 0;
	ratio = log(after->rest / after->work / (before->rest / before->work));
	error = before->grain / before->rest + after->grain / after->rest;
	*ret_variance = known * error / (known + error);
	ratio *= known / (known + error);
	return fmax(-SPEED_MAX, fmin(SPEED_MAX, ratio));
}

static double
p_at(const struct count_sum *before, const struct count_sum *after, double speed, double differ)
{
	const double a = grain_of(before, differ), b = grain_of(after, differ);
	const double work_a = before->work / a, work_b = exp(speed) * after->work / b;

	return count_change_p(before->weight / a, after->weight / b, work_a / (work_a + work_b));
}

void
count_change_find(const struct count_sum *before, const struct count_sum *after, double confidence,
		  struct rate_change *ret)
{
	struct rate_change c = { .margin = INFINITY, .p = 1 };
	const double a = grain_of(before, RUNS_DIFFER), b = grain_of(after, RUNS_DIFFER);
	double variance, speed, change, differ;

	c.before = before->weight / before->work;
	c.after = after->weight / after->work;
	c.change = c.after - c.before;
	*ret = c;
	if (a <= 0 || b <= 0)
		return;
	/* One event more of each: none is not known to be none. */
	variance = a * (before->weight + before->grain) / (before->work * before->work) +
		b * (after->weight + after->grain) / (after->work * after->work);
	ret->margin = deviations(1 - confidence) * sqrt(variance);
	speed = find_speed(before, after, &variance);
	change = log(c.after / c.before); /* infinite, or no number, where there is none */
	if (change * speed > 0 && fabs(change) < fabs(speed))
		return; /* between both guesses */
	/* Of each side, whose variances add up. */
	differ = sqrt(RUNS_DIFFER * RUNS_DIFFER + variance / 2 +
		      PARTS_DIFFER * PARTS_DIFFER * speed * speed / 2);
	ret->p = fmax(p_at(before, after, 0, RUNS_DIFFER), p_at(before, after, speed, differ));
}

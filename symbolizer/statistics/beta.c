/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/statistics/beta.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#define STEPS_MAX 500
#define TINY 1e-300 /* in place of a 0 that would be divided by */

static double
not_zero(double x)
{
	return fabs(x) < TINY ? TINY : x;
}

/* The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method. */
static double
beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), h = d;

	for (int m = 1; m < STEPS_MAX; m++) {
		const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 / not_zero(1 + even * d);
		c = not_zero(1 + even / c);
		h *= d * c;
		d = 1 / not_zero(1 + odd * d);
		c = not_zero(1 + odd / c);
		step = d * c;
		h *= step;
		if (fabs(step - 1) < DBL_EPSILON)
			break;
	}
	return h;
}

double
beta_share(double a, double b, double x)
{
	const bool swap = x > (a + 1) / (a + b + 2);
	double front;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	return swap ? 1 - front * beta_fraction(b, a, 1 - x) / b
		    : front * beta_fraction(a, b, x) / a;
}

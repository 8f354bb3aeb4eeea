/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/statistics/rate_change.h"

#include <math.h>
#include <stdlib.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/statistics/count_change.h"
#include "symbolizer/statistics/student.h"

#define TOGETHER_MAX 4

/* The variance of a rate, and how many degrees of freedom its estimate has; df 0: there is none. */
struct spread {
	double variance, df;
};

static void
add_up(const struct rate_series *s, double *weight, double *covered)
{
	*weight = *covered = 0;
	for (size_t i = 0; i < RATE_WINDOWS; i++) {
		*weight += s->weights[i];
		*covered += s->covered[i];
	}
}

/* The variance of a ratio of two sums, by the windows' deviations from it. */
static struct spread
spread_of(const struct rate_series *s, size_t together, double rate, double all)
{
	double squares = 0;
	size_t n = 0;

	for (size_t i = 0; i < RATE_WINDOWS; i += together) {
		double weight = 0, covered = 0;

		for (size_t k = i; k < i + together; k++) {
			weight += s->weights[k];
			covered += s->covered[k];
		}
		if (covered <= 0)
			continue;
		squares += (weight - rate * covered) * (weight - rate * covered);
		n++;
	}
	if (n < 2)
		return (struct spread){ 0, 0 };
	return (struct spread){ squares * (double)n / (double)(n - 1) / (all * all),
				(double)(n - 1) };
}

static struct spread
widest(const struct rate_series *s, double rate, double covered)
{
	struct spread most = { 0, 0 };

	for (size_t together = 1; together <= TOGETHER_MAX; together *= 2) {
		const struct spread one = spread_of(s, together, rate, covered);

		if (one.df > 0 && (most.df <= 0 || one.variance > most.variance))
			most = one;
	}
	if (most.df > 0)
		most.variance += s->grain * s->grain / (covered * covered);
	return most;
}

/*
 * One time has some weight and the other has none: as events of a Poisson process, each of which weighs as much as the
 * windows tell, so that a burst is one event. A mean of 0 has no variance of its own, which Welch's t would believe.
 */
static double
new_p(const struct rate_series *some, const struct spread *spread, const struct rate_series *none)
{
	double weight, covered, weight_none, covered_none, grain;

	add_up(some, &weight, &covered);
	add_up(none, &weight_none, &covered_none);
	grain = fmax(some->grain, spread->variance * covered * covered / weight);
	if (grain <= 0)
		return 1;
	covered /= grain;
	covered_none /= fmax(grain, none->grain);
	/* One less, for what a burst weighs is an estimate. */
	return count_change_p(fmax(weight / grain - 1, 0), 0, covered / (covered + covered_none));
}

void
rate_change_find(const struct rate_series *before, const struct rate_series *after,
		 double confidence, struct rate_change *ret)
{
	struct rate_change c = { .margin = INFINITY, .p = 1 };
	double weight_before, weight_after, covered_before, covered_after, variance, df;
	struct spread a, b;

	add_up(before, &weight_before, &covered_before);
	add_up(after, &weight_after, &covered_after);
	c.before = covered_before > 0 ? weight_before / covered_before : 0;
	c.after = covered_after > 0 ? weight_after / covered_after : 0;
	c.change = c.after - c.before;
	*ret = c;
	if (covered_before <= 0 || covered_after <= 0)
		return;
	a = widest(before, c.before, covered_before);
	b = widest(after, c.after, covered_after);
	variance = a.variance + b.variance;
	if (a.df <= 0 || b.df <= 0 || variance <= 0)
		return;
	/* Welch and Satterthwaite: the times need not have equal variances. */
	df = variance * variance /
		(a.variance * a.variance / a.df + b.variance * b.variance / b.df);
	ret->margin = student_t(1 - confidence, df) * sqrt(variance);
	ret->p = student_p(c.change / sqrt(variance), df);
	if (weight_before <= 0 && weight_after > 0)
		ret->p = new_p(after, &b, before);
	else if (weight_after <= 0 && weight_before > 0)
		ret->p = new_p(before, &a, after);
}

static int
compare_p(const void *va, const void *vb)
{
	const struct rate_change *a = *(struct rate_change *const *)va,
				 *b = *(struct rate_change *const *)vb;

	return (a->p > b->p) - (a->p < b->p);
}

int
rate_changes_judge(struct rate_change *const *changes, size_t n, double confidence)
{
	struct rate_change **sorted = calloc(n + 1, sizeof(struct rate_change *));
	bool significant = true;

	if (!sorted)
		return -FMT_E_NOMEM;
	for (size_t i = 0; i < n; i++)
		sorted[i] = changes[i];
	qsort(sorted, n, sizeof(struct rate_change *), compare_p);
	for (size_t i = 0; i < n; i++) {
		significant = significant && sorted[i]->p <= (1 - confidence) / (double)(n - i);
		sorted[i]->significant = significant;
	}
	free(sorted);
	return 0;
}

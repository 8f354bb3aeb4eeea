/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rate_change: by how much a rate differs between two times, and how sure that is.
 *
 * Each time is cut into windows of equal length. How much the windows of one time differ among each other
 * tells how much two equal times would. Samples alone do not: a load comes in bursts, and whatever the
 * function did in one window it goes on with in the next. So windows are also taken two and four at
 * a time, and the largest of the three variances counts. Bursts longer than an eighth of the time are not
 * seen by this. What is in one time alone is tested against none by a count of such bursts. Windows need not be of
 * equal length.
 */
#ifndef SYMBOLIZER_STATISTICS_RATE_CHANGE_H
#define SYMBOLIZER_STATISTICS_RATE_CHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RATE_WINDOWS 32 /* of a time; a multiple of 4 */

/* What was counted in each window, and how long that was looked at: 0 where nothing was recorded. */
struct rate_series {
	const double *weights, *covered; /* RATE_WINDOWS of each, in the order of time */
	double grain; /* what one sample weighs: no variance is below its square */
};

struct rate_change {
	double before, after; /* rates: weight of all windows over what they cover */
	double change;	      /* after - before */
	double margin; /* half the width of the interval around it; INFINITY: nothing is known */
	double p; /* probability of at least this change between times of the same load, at most */
	bool significant; /* for rate_changes_judge() */
};

/* confidence of the interval: in (0, 1). */
void rate_change_find(const struct rate_series *before, const struct rate_series *after,
		      double confidence, struct rate_change *ret);

/*
 * Marks those that are significant by Holm's method: in 1 - confidence of all comparisons of equal
 * loads, at most, is one of them marked, however many there are. 0, -FMT_E_NOMEM.
 */
int rate_changes_judge(struct rate_change *const *changes, size_t n, double confidence);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_change: the same work done twice: by how much its weight differs, and how sure that is.
 *
 * Where the work is the same, its phases are no noise: a function that runs for one second of ten, in both runs, has
 * a sum that is as certain as that of one that runs all the time. What differs is how many samples happen to hit it
 * (their number is no less certain than that of a Poisson process), and how fast the machine is meanwhile. That is
 * known without looking at windows of time, as rate_change has to: what the machine does to a run it does to all
 * of it, so the rest of the run tells. A row is judged between two guesses: that the machine was as fast both times,
 * and that it is the machine what the rest shows (up to SPEED_MAX).
 */
#ifndef SYMBOLIZER_STATISTICS_COUNT_CHANGE_H
#define SYMBOLIZER_STATISTICS_COUNT_CHANGE_H

#include "symbolizer/statistics/rate_change.h"

/*
 * Standard deviations of the CPU time of one and the same work, as shares of it: of a loop on a virtual machine whose CPUs
 * others used as well (30 runs); of whole runs of programs that use much memory, with eight others on each CPU (python
 * 12 %, xz 10 %, of 120 runs each); and by how much parts of such a run differ, as a share of how much the whole does.
 */
#define RUNS_DIFFER 0.011
#define SPEED_DIFFERS 0.1
#define PARTS_DIFFER 0.3
#define SPEED_MAX (2.5 * SPEED_DIFFERS) /* as a logarithm */

struct count_sum {
	double weight;	/* of all samples */
	double squares; /* the sum of their weights' squares */
	double grain;	/* what one sample weighs, where there is none here */
	double work;	/* units of work that were done; above 0 */
	double rest;	/* of the run's weight, what is not of this row */
};

/*
 * Rates are of work. p is the exact one of two Poisson counts (a binomial test), of as many samples as have such a
 * variance; a side without any is as good as another. confidence: in (0, 1), of the interval, which has no guess about
 * the machine but RUNS_DIFFER.
 */
void count_change_find(const struct count_sum *before, const struct count_sum *after,
		       double confidence, struct rate_change *ret);

/*
 * Probability, at most, that of as many events as both counts have so few, or so many, are the first, where each one
 * is with probability share, in (0, 1). Counts need not be whole.
 */
double count_change_p(double first, double second, double share);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * comparison: two reports by windows of time as one: per row the rates of both, and what became of them.
 *
 * Rows are the same by what they are called, whichever build of a program they are of, and wherever
 * its file was. Numbers only; printing is the command's.
 */
#ifndef SYMBOLIZER_COMPARE_COMPARISON_H
#define SYMBOLIZER_COMPARE_COMPARISON_H

#include "symbolizer/profile/report.h"
#include "symbolizer/statistics/rate_change.h"

enum comparison_side { COMPARISON_BASELINE, COMPARISON_NEW, COMPARISON_SIDES };

/* What a weight is divided by. */
enum comparison_per {
	COMPARISON_PER_CPU,   /* the CPU time that was covered */
	COMPARISON_PER_TOTAL, /* the weight of all samples that passed the filters */
	COMPARISON_PER_NONE,  /* nothing: sums */
	COMPARISON_PER_WORK,  /* units of work that were done */
};

/* A report whose keys have REPORT_time. */
struct comparison_input {
	const struct profile *profile; /* has the names of its events */
	const struct report *report;
	uint64_t ends[RATE_WINDOWS];  /* of REPORT_time's numbers, those at which windows end */
	double covered[RATE_WINDOWS]; /* ns of CPUs, by window */
	double work;		      /* units of it, above 0: for COMPARISON_PER_WORK */
	bool tasks;		      /* it is of tasks, and not of whole CPUs */
};

/* Which window the samples of a bucket are in. */
size_t comparison_window(const uint64_t ends[RATE_WINDOWS], uint64_t bucket);
/* Windows of as many buckets each, and of as many of their weights (nr of them). */
void comparison_split(uint64_t first_bucket, uint64_t nr, uint64_t ends[RATE_WINDOWS]);
void comparison_split_weights(uint64_t first_bucket, const double *weights, uint64_t nr,
			      uint64_t ends[RATE_WINDOWS]);

struct comparison_options {
	/* Of both; children: totals are compared, too, and order the rows. */
	const struct report_options *report;
	enum comparison_per per;
	double confidence;    /* in (0, 1) */
	uint64_t samples_min; /* rows of fewer on both sides together are not tried */
};

struct comparison_event {
	const char *names[COMPARISON_SIDES]; /* NULL: it has none */
	bool clock;			     /* weights are seconds; else what the event counts */
	bool by_period;			     /* else samples: the event has no period */
	size_t first, nr;		     /* its rows */
	uint64_t samples[COMPARISON_SIDES];
	double weight[COMPARISON_SIDES]; /* of all rows' self, not divided by anything */
	size_t tried, significant;	 /* rows */
};

struct comparison_row {
	size_t event;
	struct report_value values[REPORT_SHARED_MAX]; /* by key; REPORT_time's is 0 */
	uint64_t samples[COMPARISON_SIDES], total_samples[COMPARISON_SIDES];
	struct rate_change self, total; /* of total nothing, unless children are asked for */
	bool tried;			/* has enough samples; else significant is false */
};

struct comparison;

/* inputs and the strings of their reports are borrowed for its life. 0, -FMT_E_NOMEM. */
int comparison_build(const struct comparison_input inputs[COMPARISON_SIDES],
		     const struct comparison_options *o, struct comparison **ret);
void comparison_free(struct comparison *c);

/*
 * Events that both have, by name, in the baseline's order, then those of one only. Where each has one event, these
 * are compared whatever they are called, if both are clocks or neither is.
 */
size_t comparison_events(const struct comparison *c);
/*
 * Is it the same work twice, of which each side has all? Then samples are counted (count_change), and when they were is
 * the work's own. Tasks, per work or as sums.
 */
bool comparison_by_counts(const struct comparison *c);
const struct comparison_event *comparison_event_at(const struct comparison *c, size_t i);
/*
 * What is significant by the size of its change, then the rest by the larger of its rates, then by name:
 * the order is always the same.
 */
const struct comparison_row *comparison_row_at(const struct comparison *c, size_t i);

#endif

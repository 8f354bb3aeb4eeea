/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/compare/comparison.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/slots.h"
#include "symbolizer/export/stack_export.h"
#include "symbolizer/statistics/count_change.h"

#define NS 1e9

/* Weights of a row by window, of one side. */
struct series {
	double self[RATE_WINDOWS], total[RATE_WINDOWS];
	double self_squares, total_squares; /* of the samples' weights */
};

struct comparison {
	const struct comparison_input *inputs;
	struct comparison_options options;
	struct comparison_event *events;
	size_t nr_events, cap_events;
	struct comparison_row *rows;
	size_t nr_rows, cap_rows;
	struct slots row_slots;
	struct series *series[COMPARISON_SIDES]; /* by row */
	size_t cap_series[COMPARISON_SIDES];
	/* What is divided by, by event and side. */
	struct divisor {
		double windows[RATE_WINDOWS];
	} * divisors;
	size_t cap_divisors;
};

/* --- windows ------------------------------------------------------------------------------ */

size_t
comparison_window(const uint64_t ends[RATE_WINDOWS], uint64_t bucket)
{
	size_t w = 0;

	/* A sample may have a time before its recording's beginning, or behind the end: of a clock that was set. */
	while (w < RATE_WINDOWS - 1 && bucket >= ends[w])
		w++;
	return w;
}

void
comparison_split(uint64_t first_bucket, uint64_t nr, uint64_t ends[RATE_WINDOWS])
{
	/* Where there are fewer buckets than windows, the last ones have none. */
	for (size_t w = 0; w < RATE_WINDOWS; w++)
		ends[w] = first_bucket +
			(nr < RATE_WINDOWS
				 ? (w < nr ? w + 1 : nr)
				 : (uint64_t)ceil((double)nr * (double)(w + 1) / RATE_WINDOWS));
}

void
comparison_split_weights(uint64_t first_bucket, const double *weights, uint64_t nr,
			 uint64_t ends[RATE_WINDOWS])
{
	double all = 0, before = 0;
	uint64_t i = 0;

	for (uint64_t k = 0; k < nr; k++)
		all += weights[k];
	for (size_t w = 0; w < RATE_WINDOWS; w++) {
		const double until = all * (double)(w + 1) / RATE_WINDOWS;

		/* A bucket is in the window in which half of it is. */
		while (i < nr && before + weights[i] / 2 < until)
			before += weights[i++];
		ends[w] = first_bucket + (w == RATE_WINDOWS - 1 ? nr : i);
	}
}

/* --- events ------------------------------------------------------------------------------- */

static const char *
section_name(const struct comparison_input *in, size_t section)
{
	return profile_event_name(in->profile, report_section_at(in->report, section)->event);
}

/* The event of the baseline that this one of the new side is compared with; NULL: none. */
static struct comparison_event *
counterpart(struct comparison *c, const char *name)
{
	const bool alone = report_sections(c->inputs[COMPARISON_BASELINE].report) == 1 &&
		report_sections(c->inputs[COMPARISON_NEW].report) == 1;

	for (size_t i = 0; i < c->nr_events; i++) {
		struct comparison_event *e = &c->events[i];

		if (!e->names[COMPARISON_NEW] &&
		    (strcmp(e->names[COMPARISON_BASELINE], name) == 0 ||
		     (alone && e->clock == stack_export_is_clock(name))))
			return e;
	}
	return NULL;
}

static int
add_event(struct comparison *c, enum comparison_side side, size_t section, size_t *ret)
{
	const struct report_section *s = report_section_at(c->inputs[side].report, section);
	const char *name = section_name(&c->inputs[side], section);
	struct comparison_event *e = side == COMPARISON_NEW ? counterpart(c, name) : NULL;
	int err;

	if (!e) {
		err = array_reserve(c->events, c->nr_events, c->cap_events, 1);
		if (err < 0)
			return err;
		e = &c->events[c->nr_events++];
		*e = (struct comparison_event){ .clock = stack_export_is_clock(name) };
	}
	e->names[side] = name;
	e->by_period |= s->weight.period > 0;
	e->samples[side] = s->weight.samples;
	*ret = (size_t)(e - c->events);
	return 0;
}

/* --- rows --------------------------------------------------------------------------------- */

static bool
text_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool
row_same(const void *owner, uint32_t index, const void *key)
{
	const struct comparison *c = owner;
	const struct report_list *keys = &c->options.report->keys;
	const struct comparison_row *a = &c->rows[index], *b = key;
	bool same = a->event == b->event;

	for (size_t i = 0; i < keys->n && same; i++) {
		const struct report_value *va = &a->values[keys->v[i]];
		const struct report_value *vb = &b->values[keys->v[i]];

		same = va->number == vb->number && text_same(va->text, vb->text);
	}
	return same;
}

static uint32_t
row_hash(const struct comparison *c, const struct comparison_row *row)
{
	const struct report_list *keys = &c->options.report->keys;
	uint64_t h = row->event;

	for (size_t i = 0; i < keys->n; i++) {
		const struct report_value *v = &row->values[keys->v[i]];

		h = slots_mix(h, v->number);
		if (v->text)
			h = slots_mix_bytes(h, v->text, strlen(v->text));
	}
	return (uint32_t)slots_mix(h, 0);
}

static int
find_row(struct comparison *c, const struct comparison_row *key, size_t *ret)
{
	const size_t known = c->nr_rows;
	uint32_t i = 0;
	int err = 0;

	for (int side = 0; side < COMPARISON_SIDES && err == 0; side++)
		err = array_reserve(c->series[side], known, c->cap_series[side], 1);
	if (err == 0)
		err = slots_keep(&c->row_slots, row_hash(c, key), row_same, c, key, c->rows,
				 c->nr_rows, c->cap_rows, &i);
	if (err == 0 && i == known)
		for (int side = 0; side < COMPARISON_SIDES; side++)
			c->series[side][i] = (struct series){ 0 };
	*ret = i;
	return err;
}

/* In seconds, or what the event counts. */
static double
weight_of(const struct comparison_event *e, const struct profile_weight *w)
{
	if (!e->by_period)
		return (double)w->samples;
	return e->clock ? (double)w->period / NS : (double)w->period;
}

/* As if samples that a report has as one row weighed the same. */
static double
squares_of(const struct comparison_event *e, const struct profile_weight *w)
{
	const double weight = weight_of(e, w);

	return w->samples ? weight * weight / (double)w->samples : 0;
}

static int
add_row(struct comparison *c, enum comparison_side side, size_t event,
	const struct report_row *from)
{
	const struct comparison_input *in = &c->inputs[side];
	const uint64_t bucket = report_value(in->report, from, REPORT_time).number;
	const size_t window = comparison_window(in->ends, bucket);
	struct comparison_event *e = &c->events[event];
	struct comparison_row key = { .event = event };
	struct series *series;
	size_t row;
	int err;

	for (enum report_column k = 0; k < REPORT_SHARED_MAX; k++)
		if (k != REPORT_time)
			key.values[k] = report_value(in->report, from, k);
	err = find_row(c, &key, &row);
	if (err < 0)
		return err;
	c->rows[row].samples[side] += from->self.samples;
	c->rows[row].total_samples[side] += from->total.samples;
	series = &c->series[side][row];
	series->self[window] += weight_of(e, &from->self);
	series->total[window] += weight_of(e, &from->total);
	series->self_squares += squares_of(e, &from->self);
	series->total_squares += squares_of(e, &from->total);
	e->weight[side] += weight_of(e, &from->self);
	c->divisors[event * COMPARISON_SIDES + side].windows[window] += weight_of(e, &from->self);
	return 0;
}

static int
add_section(struct comparison *c, enum comparison_side side, size_t section)
{
	const struct report *r = c->inputs[side].report;
	const struct report_section *s = report_section_at(r, section);
	const size_t known = c->nr_events;
	size_t event = 0; /* gcc 14 does not see that it is found */
	int err = add_event(c, side, section, &event);

	if (err == 0 && event == known) {
		err = array_reserve(c->divisors, known * COMPARISON_SIDES, c->cap_divisors,
				    COMPARISON_SIDES);
		if (err == 0)
			memset(&c->divisors[known * COMPARISON_SIDES], 0,
			       COMPARISON_SIDES * sizeof(*c->divisors));
	}
	for (size_t i = s->first; i < s->first + s->nr && err == 0; i++)
		err = add_row(c, side, event, report_row_at(r, i));
	return err;
}

/* --- changes ------------------------------------------------------------------------------ */

bool
comparison_by_counts(const struct comparison *c)
{
	return c->inputs[COMPARISON_BASELINE].tasks && c->inputs[COMPARISON_NEW].tasks &&
		(c->options.per == COMPARISON_PER_NONE || c->options.per == COMPARISON_PER_WORK);
}

/* What sums are divided by. */
static double
work_of(const struct comparison *c, size_t side)
{
	return c->options.per == COMPARISON_PER_WORK ? c->inputs[side].work : 1;
}

static void
set_divisors(struct comparison *c)
{
	for (size_t i = 0; i < c->nr_events * COMPARISON_SIDES; i++) {
		const size_t side = i % COMPARISON_SIDES;
		const double *covered = c->inputs[side].covered;
		double *windows = c->divisors[i].windows, all = 0;

		if (c->options.per == COMPARISON_PER_TOTAL)
			continue;
		for (size_t k = 0; k < RATE_WINDOWS; k++)
			all += covered[k];
		for (size_t k = 0; k < RATE_WINDOWS; k++)
			windows[k] = c->options.per == COMPARISON_PER_CPU
				? covered[k] / NS
				: covered[k] * work_of(c, side) / (all > 0 ? all : 1);
	}
}

/* What one sample of the side weighs, of any row: a row of few tells too little of that. */
static double
grain(const struct comparison_event *e, enum comparison_side side)
{
	/* A side that has none knows no better than the other. */
	if (e->samples[side] == 0)
		side = COMPARISON_SIDES - 1 - side;
	return e->samples[side] ? e->weight[side] / (double)e->samples[side] : 0;
}

static double
sum_of(const double windows[RATE_WINDOWS])
{
	double sum = 0;

	for (size_t i = 0; i < RATE_WINDOWS; i++)
		sum += windows[i];
	return sum;
}

/*
 * What the kernel does in a task's time is not all the task's work: interrupts, and switches to those that run beside it.
 * These come in bursts, of which windows tell.
 */
static bool
is_kernels(const struct comparison *c, const struct comparison_row *row)
{
	const struct report_list *keys = &c->options.report->keys;
	const char *dso = report_has(keys, REPORT_dso) ? row->values[REPORT_dso].text : NULL;

	return (report_has(keys, REPORT_sym) && row->values[REPORT_sym].number) ||
		(dso && dso[0] == '[');
}

/* A row's own time, or with what it called. */
static void
find_change(const struct comparison *c, size_t i, bool total, struct rate_change *ret)
{
	const size_t event = c->rows[i].event;
	struct count_sum sums[COMPARISON_SIDES];
	struct rate_series windows[COMPARISON_SIDES];

	for (size_t side = 0; side < COMPARISON_SIDES; side++) {
		const struct series *s = &c->series[side][i];
		const double one = grain(&c->events[event], (enum comparison_side)side);

		windows[side] =
			(struct rate_series){ total ? s->total : s->self,
					      c->divisors[event * COMPARISON_SIDES + side].windows,
					      one };
		sums[side] = (struct count_sum){
			.weight = sum_of(windows[side].weights),
			.squares = total ? s->total_squares : s->self_squares,
			.grain = one,
			.work = work_of(c, side),
		};
		sums[side].rest = fmax(0, c->events[event].weight[side] - sums[side].weight);
	}
	rate_change_find(&windows[0], &windows[1], c->options.confidence, ret);
	if (comparison_by_counts(c)) {
		const double p = is_kernels(c, &c->rows[i]) ? ret->p : 0;

		count_change_find(&sums[0], &sums[1], c->options.confidence, ret);
		ret->p = fmax(p, ret->p);
	}
}

static void
find_changes(struct comparison *c, size_t i)
{
	struct comparison_row *row = &c->rows[i];

	find_change(c, i, false, &row->self);
	if (c->options.report->children)
		find_change(c, i, true, &row->total);
	/* Of children these are more. */
	row->tried = row->total_samples[0] + row->total_samples[1] >= c->options.samples_min;
	c->events[row->event].tried += row->tried;
}

/* The change by which rows are ordered. */
static const struct rate_change *
main_change(const struct comparison *c, const struct comparison_row *row)
{
	return c->options.report->children ? &row->total : &row->self;
}

/* Of each event apart: nobody asks whether any of several events changed. */
static int
judge(struct comparison *c, size_t event, bool total)
{
	struct rate_change **changes = calloc(c->nr_rows + 1, sizeof(struct rate_change *));
	size_t n = 0;
	int err;

	if (!changes)
		return -FMT_E_NOMEM;
	for (size_t i = 0; i < c->nr_rows; i++)
		if (c->rows[i].event == event && c->rows[i].tried)
			changes[n++] = total ? &c->rows[i].total : &c->rows[i].self;
	err = rate_changes_judge(changes, n, c->options.confidence);
	free(changes);
	return err;
}

static int
compare_rows(const void *va, const void *vb, void *arg)
{
	const struct comparison *c = arg;
	const struct comparison_row *a = va, *b = vb;
	const struct rate_change *ca = main_change(c, a), *cb = main_change(c, b);
	double sa = fabs(ca->change), sb = fabs(cb->change);
	int r = (a->event > b->event) - (a->event < b->event);

	if (r == 0)
		r = cb->significant - ca->significant;
	if (r == 0 && !ca->significant) {
		sa = fmax(ca->before, ca->after);
		sb = fmax(cb->before, cb->after);
	}
	if (r == 0)
		r = (sb > sa) - (sb < sa);
	for (int k = 0; k < REPORT_SHARED_MAX && r == 0; k++)
		r = report_value_compare(&a->values[k], &b->values[k]);
	return r;
}

static void
sort_rows(struct comparison *c)
{
	size_t first = 0;

	if (c->nr_rows > 0)
		qsort_r(c->rows, c->nr_rows, sizeof(*c->rows), compare_rows, c);
	for (size_t event = 0; event < c->nr_events; event++) {
		struct comparison_event *e = &c->events[event];

		e->first = first;
		for (; first < c->nr_rows && c->rows[first].event == event; first++)
			e->significant += main_change(c, &c->rows[first])->significant;
		e->nr = first - e->first;
	}
}

static int
build(struct comparison *c)
{
	int err = 0;

	for (int side = 0; side < COMPARISON_SIDES; side++)
		for (size_t i = 0; i < report_sections(c->inputs[side].report) && err == 0; i++)
			err = add_section(c, (enum comparison_side)side, i);
	if (err < 0)
		return err;
	set_divisors(c);
	for (size_t i = 0; i < c->nr_rows; i++)
		find_changes(c, i);
	for (size_t event = 0; event < c->nr_events && err == 0; event++) {
		err = judge(c, event, false);
		if (err == 0 && c->options.report->children)
			err = judge(c, event, true);
	}
	if (err == 0)
		sort_rows(c);
	return err;
}

int
comparison_build(const struct comparison_input inputs[COMPARISON_SIDES],
		 const struct comparison_options *o, struct comparison **ret)
{
	struct comparison *c = calloc(1, sizeof(*c));
	int err = -FMT_E_NOMEM;

	if (c) {
		c->inputs = inputs;
		c->options = *o;
		err = build(c);
	}
	if (err < 0) {
		comparison_free(c);
		return err;
	}
	/* They have served. */
	slots_done(&c->row_slots);
	for (int side = 0; side < COMPARISON_SIDES; side++) {
		free(c->series[side]);
		c->series[side] = NULL;
	}
	*ret = c;
	return 0;
}

void
comparison_free(struct comparison *c)
{
	if (!c)
		return;
	free(c->events);
	free(c->rows);
	slots_done(&c->row_slots);
	free(c->series[COMPARISON_BASELINE]);
	free(c->series[COMPARISON_NEW]);
	free(c->divisors);
	free(c);
}

size_t
comparison_events(const struct comparison *c)
{
	return c->nr_events;
}

const struct comparison_event *
comparison_event_at(const struct comparison *c, size_t i)
{
	assert(i < c->nr_events);
	return &c->events[i];
}

const struct comparison_row *
comparison_row_at(const struct comparison *c, size_t i)
{
	assert(i < c->nr_rows);
	return &c->rows[i];
}

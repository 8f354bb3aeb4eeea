/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/view/sides.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/export/stack_export.h"
#include "symbolizer/input/covered.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/load/time_buckets.h"

#define WIDTH_MIN_NS 1000
/* Of a recording of tasks, of which windows of their own time are made. */
#define OWN_BUCKETS (32 * RATE_WINDOWS)
#define OWN_BUCKETS_MAX (4 * OWN_BUCKETS)

int
sides_init(struct sides_options *o, const char *command)
{
	int status;

	memset(o, 0, sizeof(*o));
	status = load_init(&o->load[COMPARISON_BASELINE], command);
	return status ? status : load_init(&o->load[COMPARISON_NEW], command);
}

void
sides_done(struct sides_options *o)
{
	load_done(&o->load[COMPARISON_BASELINE]);
	load_done(&o->load[COMPARISON_NEW]);
}

static int
set_normalize(struct sides_options *o, const char *text)
{
	static const char *const words[] = { "cpu", "total", "none" };

	for (int i = 0; i < 3; i++)
		if (strcmp(text, words[i]) == 0) {
			o->per = (enum comparison_per)i;
			o->per_given = true;
			return CLI_GO_ON;
		}
	return cli_usage_error(o->load[0].command, "--normalize %s: cpu, total or none", text);
}

static bool
parse_work(const char *text, char end, double *ret, const char **ret_next)
{
	char *stop;
	const double v = strtod(text, &stop);

	*ret = v;
	*ret_next = stop + 1;
	return stop != text && *stop == end && isfinite(v) && v > 0;
}

static int
set_work(struct sides_options *o, const char *text)
{
	const char *next = text;

	if (!parse_work(next, ',', &o->work[COMPARISON_BASELINE], &next) ||
	    !parse_work(next, '\0', &o->work[COMPARISON_NEW], &next))
		return cli_usage_error(o->load[0].command,
				       "--work %s: not two numbers above 0, as 1000,1200", text);
	return CLI_GO_ON;
}

/* It is the baseline's, too, unless this has times of its own, which may come later. */
static int
set_time(struct sides_options *o, int value, const char *text)
{
	if (o->nr_times == SIDES_KEPT_MAX)
		return cli_usage_error(o->load[0].command, "more than %d options of time",
				       SIDES_KEPT_MAX);
	o->times[o->nr_times].option = value;
	o->times[o->nr_times++].text = text;
	return load_set(&o->load[COMPARISON_NEW], value, text);
}

int
sides_set(struct sides_options *o, int value, const char *text)
{
	int status;

	switch (value) {
#define X(id, name, arg, help)                                                                     \
	case FILTER_OPTION_##id:                                                                   \
		return set_time(o, value, text);                                                   \
	case SIDES_OPTION_##id:                                                                    \
		o->own_times = true;                                                               \
		return load_set(&o->load[COMPARISON_BASELINE], FILTER_OPTION_##id, text);
		SIDES_TIMES(X)
#undef X
	case SIDES_OPTION_normalize:
		return set_normalize(o, text);
	case SIDES_OPTION_work:
		return set_work(o, text);
	}
	status = load_set(&o->load[COMPARISON_BASELINE], value, text);
	return status == CLI_GO_ON ? load_set(&o->load[COMPARISON_NEW], value, text) : status;
}

int
sides_files(struct sides_options *o, int n, char **files)
{
	const char *command = o->load[0].command;
	int status = CLI_GO_ON;

	if (o->work[COMPARISON_NEW] > 0 && o->per_given)
		return cli_usage_error(command, "--work and --normalize: one of them");
	if (o->work[COMPARISON_NEW] > 0)
		o->per = COMPARISON_PER_WORK;
	if (n > 0 && o->load[0].path)
		return cli_usage_error(command, "--input and '%s': one of them", files[0]);
	if (n > 2)
		return cli_usage_error(command, "'%s' is one file too many", files[2]);
	if (n < 2 && !o->own_times)
		return cli_usage_error(command,
				       "two recordings, or --baseline-since, "
				       "--baseline-until or --baseline-time");
	if (n > 0) {
		o->load[COMPARISON_BASELINE].path = files[0];
		o->load[COMPARISON_NEW].path = files[n - 1];
	}
	for (int side = 0; side < COMPARISON_SIDES; side++)
		if (o->load[side].path && strcmp(o->load[side].path, "-") == 0 &&
		    (side == 1 || !o->load[1].path || strcmp(o->load[1].path, "-") == 0) && n != 2)
			return cli_usage_error(command, "standard input cannot be read twice");
	if (n == 2 && strcmp(files[0], "-") == 0 && strcmp(files[1], "-") == 0)
		return cli_usage_error(command, "standard input cannot be read twice");
	for (size_t i = 0; i < o->nr_times && !o->own_times && status == CLI_GO_ON; i++)
		status = load_set(&o->load[COMPARISON_BASELINE], o->times[i].option,
				  o->times[i].text);
	return status;
}

/* One window less than there may be: the first one need not begin where the time does. */
static int
choose_width(void *unused, struct input_set *set, struct profile_options *po)
{
	(void)unused;
	set->wants_spans = true;
	if (po->by_time) {
		const uint64_t n = input_set_is_of_tasks(set) ? OWN_BUCKETS
							      : (uint64_t)RATE_WINDOWS;
		const uint64_t width = input_set_extent(set) / (n - 1) + 1;

		po->bucket_ns = width > WIDTH_MIN_NS ? width : WIDTH_MIN_NS;
	}
	return 0;
}

/*
 * Windows of the tasks' own time: as much of it in each, however long they waited for a CPU. By samples where no event is
 * a clock. 0, -FMT_E_NOMEM.
 */
static int
split_own_time(struct sides *s, int side, uint64_t first, uint64_t nr)
{
	const struct profile *p = s->load[side].profile;
	double *weights = calloc(nr, sizeof(double)), *samples = calloc(nr, sizeof(double));
	bool clock = false;

	for (size_t i = 0; weights && samples && i < profile_stacks(p); i++) {
		struct profile_stack stack;
		uint64_t bucket;

		profile_stack_at(p, i, &stack);
		bucket = stack.time > first ? stack.time - first : 0;
		bucket = bucket < nr ? bucket : nr - 1;
		samples[bucket] += (double)stack.weight.samples;
		if (stack_export_is_clock(profile_event_name(p, stack.event))) {
			weights[bucket] += (double)stack.weight.period;
			clock |= stack.weight.period > 0;
		}
	}
	if (weights && samples)
		comparison_split_weights(first, clock ? weights : samples, nr, s->ends[side]);
	free(weights);
	free(samples);
	return weights && samples ? 0 : -FMT_E_NOMEM;
}

/* What the windows of a side cover, which are chosen here: 0, -FMT_E_NOMEM. */
static int
cut_windows(struct sides *s, int side, const struct covered *c, uint64_t from, uint64_t until)
{
	struct load *l = &s->load[side];
	const struct profile_options *po = &l->profile_options;
	const uint64_t shift = time_buckets_shift(&l->set, po);
	const uint64_t first = (from + shift) / po->bucket_ns;
	const uint64_t nr = (until + shift - 1) / po->bucket_ns + 1 - first;

	comparison_split(first, nr, s->ends[side]);
	if (s->tasks[side] && nr <= OWN_BUCKETS_MAX && split_own_time(s, side, first, nr) < 0)
		return -FMT_E_NOMEM;
	/* The first bucket may begin before the clock does. */
	for (size_t w = 0; w < RATE_WINDOWS; w++) {
		until = time_buckets_start(&l->set, po, s->ends[side][w]);
		if (s->ends[side][w] > (w ? s->ends[side][w - 1] : first)) {
			s->covered[side][w] = covered_kept(&l->set) * covered_ns(c, from, until);
			from = until;
		}
	}
	return 0;
}

static int
find_windows(struct sides *s, int side)
{
	struct load *l = &s->load[side];
	uint64_t from, until;
	struct covered *c;
	int err = 0;

	if (!covered_range(&l->set, &from, &until))
		return 0;
	c = covered_new(&l->set);
	if (!c)
		return -FMT_E_NOMEM;
	s->tasks[side] = l->set.spans[0].tasks;
	s->covered_ns[side] = covered_ns(c, from, until) * covered_kept(&l->set);
	if (l->profile_options.by_time)
		err = cut_windows(s, side, c, from, until);
	covered_free(c);
	return err;
}

int
sides_open(struct sides *s, const struct sides_options *o, const struct profile_options *po)
{
	int status = 0;

	memset(s, 0, sizeof(*s));
	for (int side = 0; side < COMPARISON_SIDES && status == 0; side++) {
		struct load_options load = o->load[side];

		load.opening = choose_width;
		status = load_open(&s->load[side], &load, po);
		if (status == 0 && find_windows(s, side) < 0) {
			screen_text_warn("%s", fmt_error_text(-FMT_E_NOMEM));
			status = EXIT_FAILED;
		}
	}
	return status;
}

void
sides_close(struct sides *s)
{
	load_close(&s->load[COMPARISON_BASELINE]);
	load_close(&s->load[COMPARISON_NEW]);
}

int
sides_status(const struct sides *s)
{
	return s->load[0].status ? s->load[0].status : s->load[1].status;
}

/* Of samples that passed the filters. */
static struct profile_weight
weight_of(const struct profile *p, int event)
{
	struct profile_weight all = { 0 };

	for (size_t i = 0; i < profile_stacks(p); i++) {
		struct profile_stack s;

		profile_stack_at(p, i, &s);
		if (s.event == event)
			profile_weigh(&all, &s.weight);
	}
	return all;
}

double
sides_scale(const struct sides *s, const struct sides_options *o, enum comparison_side side,
	    const int events[COMPARISON_SIDES])
{
	struct profile_weight w[COMPARISON_SIDES];
	double sums[COMPARISON_SIDES], one, divisors[COMPARISON_SIDES];

	for (int i = 0; i < COMPARISON_SIDES; i++) {
		w[i] = weight_of(s->load[i].profile, events[i]);
		sums[i] = (double)(w[i].period ? w[i].period : w[i].samples);
		divisors[i] = o->per == COMPARISON_PER_CPU ? s->covered_ns[i]
			: o->per == COMPARISON_PER_TOTAL   ? sums[i]
			: o->per == COMPARISON_PER_WORK	   ? o->work[i]
							   : 1;
	}
	/* What a sample of the new side weighs. */
	one = w[1].samples && sums[1] > 0 ? sums[1] / (double)w[1].samples : 1;
	return divisors[side] > 0 ? divisors[COMPARISON_NEW] / divisors[side] / one : 0;
}

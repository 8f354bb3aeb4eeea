/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/view/sides.h"

#include <string.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/input/covered.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/load/time_buckets.h"

#define WIDTH_MIN_NS 1000

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
			return CLI_GO_ON;
		}
	return cli_usage_error(o->load[0].command, "--normalize %s: cpu, total or none", text);
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
	}
	status = load_set(&o->load[COMPARISON_BASELINE], value, text);
	return status == CLI_GO_ON ? load_set(&o->load[COMPARISON_NEW], value, text) : status;
}

int
sides_files(struct sides_options *o, int n, char **files)
{
	const char *command = o->load[0].command;
	int status = CLI_GO_ON;

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
		const uint64_t width = input_set_extent(set) / (RATE_WINDOWS - 1) + 1;

		po->bucket_ns = width > WIDTH_MIN_NS ? width : WIDTH_MIN_NS;
	}
	return 0;
}

/* The first bucket of [first, first + nr] whose window is this one, or a later one. */
static uint64_t
window_begin(uint64_t first, uint64_t nr, size_t window)
{
	uint64_t low = first, high = first + nr;

	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;

		if (comparison_window(first, nr, middle) < window)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* What its windows cover: 0, -FMT_E_NOMEM. */
static int
find_windows(struct sides *s, int side)
{
	struct load *l = &s->load[side];
	const struct profile_options *po = &l->profile_options;
	const uint64_t shift = time_buckets_shift(&l->set, po);
	const double kept = covered_kept(&l->set);
	uint64_t from, until, first, nr;
	struct covered *c;

	if (!covered_range(&l->set, &from, &until))
		return 0;
	c = covered_new(&l->set);
	if (!c)
		return -FMT_E_NOMEM;
	s->tasks[side] = l->set.spans[0].tasks;
	s->covered_ns[side] = covered_ns(c, from, until) * kept;
	if (po->by_time) {
		first = (from + shift) / po->bucket_ns;
		nr = (until + shift - 1) / po->bucket_ns + 1 - first;
		s->first_bucket[side] = first;
		s->nr_buckets[side] = nr;
		/* The first bucket may begin before the clock does. */
		for (size_t w = 0; w < RATE_WINDOWS; w++) {
			const uint64_t end = window_begin(first, nr, w + 1);

			until = time_buckets_start(&l->set, po, end);
			s->covered[side][w] = kept * covered_ns(c, from, until);
			from = until;
		}
	}
	covered_free(c);
	return 0;
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
sides_scale(const struct sides *s, enum comparison_per per, enum comparison_side side,
	    const int events[COMPARISON_SIDES])
{
	struct profile_weight w[COMPARISON_SIDES];
	double sums[COMPARISON_SIDES], one, divisors[COMPARISON_SIDES];

	for (int i = 0; i < COMPARISON_SIDES; i++) {
		w[i] = weight_of(s->load[i].profile, events[i]);
		sums[i] = (double)(w[i].period ? w[i].period : w[i].samples);
		divisors[i] = per == COMPARISON_PER_CPU ? s->covered_ns[i]
			: per == COMPARISON_PER_TOTAL	? sums[i]
							: 1;
	}
	/* What a sample of the new side weighs. */
	one = w[1].samples && sums[1] > 0 ? sums[1] / (double)w[1].samples : 1;
	return divisors[side] > 0 ? divisors[COMPARISON_NEW] / divisors[side] / one : 0;
}

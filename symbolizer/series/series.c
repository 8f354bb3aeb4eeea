/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/series/series.h"

#include <bsd/stdlib.h>
#include <err.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "format/bytes/time_text.h"
#include "symbolizer/text/screen_text.h"

#define COLUMNS_MAX 100000 /* of what is asked for by its width */
#define ROWS_MAX 1000000

#define X(name, ...) " " #name
#define KEYS TIME_SERIES_KEYS(X)

int
series_init(struct series_options *o, const char *command)
{
	*o = (struct series_options){ .rows_max = SERIES_ROWS_MAX };
	return load_init(&o->load, command);
}

void
series_done(struct series_options *o)
{
	load_done(&o->load);
}

int
series_set_key(struct series_options *o, const char *text)
{
	o->key = time_series_key_of(text);
	o->key_given = true;
	if (o->key < TIME_SERIES_KEYS_MAX)
		return CLI_GO_ON;
	return cli_usage_error(o->load.command, "--by %s: is none of" KEYS, text);
}

int
series_set(struct series_options *o, int value, const char *text)
{
	const char *bad;

	switch (value) {
	case SERIES_OPTION_bucket:
		if (time_text_duration(text, &o->bucket_ns) == 0 && o->bucket_ns > 0)
			return CLI_GO_ON;
		return cli_usage_error(o->load.command, "--bucket %s: not a span of time", text);
	case SERIES_OPTION_max:
		o->rows_max = (size_t)strtonum(text, 1, ROWS_MAX, &bad);
		if (!bad)
			return CLI_GO_ON;
		return cli_usage_error(o->load.command, "--max %s: not a number of rows", text);
	case SERIES_OPTION_each:
		o->each = true;
		return CLI_GO_ON;
	case SERIES_OPTION_percentage:
		return cli_set_percentage(o->load.command, text, &o->absolute);
	case SERIES_OPTION_json:
		o->json = true;
		return CLI_GO_ON;
	}
	return load_set(&o->load, value, text);
}

/* --- from samples to series -------------------------------------------------------------- */

static uint64_t
choose_bucket(const struct series_options *o, uint64_t extent_ns)
{
	uint64_t ns = o->bucket_ns;

	if (ns == 0)
		ns = time_grid_width(extent_ns, o->parts ? o->columns_of_parts : o->columns);
	if (!o->parts)
		return ns;
	if (o->bucket_ns == 0 && ns < SERIES_PARTS_LEAST_NS)
		ns = SERIES_PARTS_LEAST_NS;
	return ns > SERIES_PARTS ? ns / SERIES_PARTS : 1;
}

/* Before anything is read: by how long it is. */
static int
choose_options(void *arg, struct input_set *set, struct profile_options *po)
{
	struct series_options *o = arg;
	const uint64_t extent_ns = input_set_extent(set);

	if (o->parts_if_short && !o->key_given && o->bucket_ns == 0 &&
	    extent_ns > SERIES_PARTS_EXTENT_NS)
		o->parts = false;
	time_series_profile_options(o->parts		   ? TIME_SERIES_ALL
					    : o->key_given ? o->key
							   : TIME_SERIES_unit,
				    !o->parts && !o->key_given, po);
	/* A page tells how a unit is asked for, which is known by its groups (row_choice.h). */
	po->by_cgroup |= o->output && po->by_unit;
	po->bucket_ns = choose_bucket(o, extent_ns);
	po->spread = true;
	set->wants_spans = true;
	return 0;
}

/* Older recordings, and those of hosts without control groups, have none. */
static bool
has_cgroups(const struct profile *p)
{
	struct profile_stack s;

	for (size_t i = 0; i < profile_stacks(p); i++) {
		profile_stack_at(p, i, &s);
		if (s.unit && strcmp(s.unit, "[unknown]") != 0)
			return true;
	}
	return false;
}

static void
choose_key(struct series *s)
{
	const struct series_options *o = s->options;

	s->key = o->parts ? TIME_SERIES_ALL : o->key_given ? o->key : TIME_SERIES_unit;
	if (!o->parts && !o->key_given && !has_cgroups(s->load.profile))
		s->key = TIME_SERIES_comm;
}

static size_t
columns_max(const struct series_options *o)
{
	const size_t fit = o->parts ? o->columns_of_parts : o->columns;

	return (o->bucket_ns ? COLUMNS_MAX : fit) * (o->parts ? SERIES_PARTS : 1);
}

int
series_open(struct series *s, struct series_options *o)
{
	const struct profile_options po = { .bucket_wall = true };
	int status;

	memset(s, 0, sizeof(*s));
	s->options = o;
	s->event = -2;
	s->units = event_units_new();
	if (!s->units) {
		warnx("out of memory");
		return EXIT_FAILED;
	}
	o->load.opened = event_units_look;
	o->load.opened_arg = s->units;
	o->load.opening = choose_options;
	o->load.opening_arg = o;
	o->load.told = !o->json && !o->output;
	status = load_open(&s->load, &o->load, &po);
	if (status != 0)
		return status;
	choose_key(s);
	if (time_grid_make(&s->grid, &s->load, columns_max(o)) < 0) {
		warnx("out of memory");
		return EXIT_FAILED;
	}
	if (o->bucket_ns == 0 || s->grid.per == 1)
		return 0;
	screen_text_warn("--bucket: that is more than %d columns", COLUMNS_MAX);
	return EXIT_FAILED;
}

void
series_close(struct series *s)
{
	time_series_free(s->rows);
	time_grid_done(&s->grid);
	event_units_free(s->units);
	load_close(&s->load);
}

int
series_next(struct series *s, int *event)
{
	struct time_series_options o = { .key = s->key,
					 .from = s->grid.from,
					 .per = s->grid.per,
					 .nr = s->grid.nr,
					 .rows_max = s->key == TIME_SERIES_ALL
						 ? 0
						 : s->options->rows_max };
	int err;

	for (; s->grid.nr > 0; (*event)++) {
		*event = profile_event_from(s->load.profile, *event);
		if (*event == profile_events(s->load.profile))
			break;
		o.event = s->event = *event;
		s->unit = event_units_of(s->units, load_event_name(&s->load, *event), &s->hz);
		o.by_samples = s->unit == EVENT_ABOUT_SECONDS;
		time_series_free(s->rows);
		s->rows = NULL;
		err = time_series_build(s->load.profile, &o, &s->rows);
		if (err < 0)
			return err;
		if (time_series_all(s->rows)->weight.samples > 0) {
			(*event)++;
			return 1;
		}
	}
	return 0;
}

/* --- numbers ----------------------------------------------------------------------------- */

const char *
series_unit_name(const struct series *s)
{
	static const char *const names[] = {
		[EVENT_COUNTS] = "events",
		[EVENT_SECONDS] = "cpu-seconds",
		[EVENT_WAITED] = "seconds",
		[EVENT_ABOUT_SECONDS] = "estimated-cpu-seconds",
	};

	return names[s->unit];
}

double
series_value(const struct series *s, const struct profile_weight *w)
{
	return event_units_value(s->unit, s->hz, w);
}

double
series_rate(const struct series *s, const struct profile_weight *w, uint64_t ns)
{
	return series_value(s, w) * (double)SECOND_NS / (double)ns;
}

struct profile_weight
series_base(const struct series *s)
{
	return s->options->absolute ? profile_event_whole(s->load.profile, s->event)
				    : time_series_all(s->rows)->weight;
}

double
series_share(const struct series *s, const struct profile_weight *w)
{
	const struct profile_weight base = series_base(s);
	const double all = series_value(s, &base);

	return all > 0 ? 100 * series_value(s, w) / all : 0;
}

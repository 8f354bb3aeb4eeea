/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Series over time as one JSON object: spoor-timeline(1) lists its keys. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/text/json_value.h"
#include "symbolizer/series/series_print.h"

/* A member with a value that is made here; NULL: out of memory. */
static int
put(const char *key, json_t *value)
{
	printf("\"%s\":", key);
	if (value)
		(void)json_value_dump(value, stdout,
				      JSON_ENCODE_ANY | JSON_REAL_PRECISION(10) | JSON_COMPACT);
	json_decref(value);
	putchar(',');
	return value ? 0 : -FMT_E_NOMEM;
}

static json_t *
text_of(const char *s)
{
	return json_value_text(s ? s : "[unknown]");
}

static void
put_marks(const struct time_grid *g, const char *key, enum time_mark wanted)
{
	bool first = true;

	printf("\"%s\":[", key);
	for (size_t i = 0; i < g->nr; i++)
		if (g->marks[i] == wanted) {
			printf("%s%zu", first ? "" : ",", i);
			first = false;
		}
	fputs("],", stdout);
}

/* Of what is not shown, the comma before it has been. */
static int
put_head(const struct series *s)
{
	const struct input_set *set = &s->load.set;
	const struct profile_totals *t = profile_totals(s->load.profile);
	const struct time_grid *g = &s->grid;
	const uint64_t start = g->nr > 0 ? time_grid_start(g, 0) : 0;
	const char *by = s->key == TIME_SERIES_ALL ? "all" : time_series_key_name(s->key);
	int err;

	putchar('{');
	err = put("file", text_of(set->path));
	err |= put("hostname", text_of(set->hostname ? set->hostname : ""));
	err |= put("first_ns", json_value_number(set->first_ns));
	err |= put("last_ns", json_value_number(set->last_ns));
	err |= put("first_realtime_ns", json_value_known(input_set_realtime(set, set->first_ns)));
	err |= put("last_realtime_ns", json_value_known(input_set_realtime(set, set->last_ns)));
	err |= put("samples", json_value_number(t->samples));
	err |= put("filtered", json_value_number(t->filtered));
	err |= put("lost", json_value_number(set->loss ? loss_samples(set->loss) : 0));
	err |= put("by", json_string(by));
	err |= put("start_ns", json_value_number(start));
	err |= put("start_realtime_ns", json_value_known(input_set_realtime(set, start)));
	err |= put("width_ns", json_value_number(g->width_ns));
	err |= put("columns", json_value_number(g->nr));
	putchar('\n');
	put_marks(g, "not_recorded", TIME_NOT_RECORDED);
	put_marks(g, "incomplete", TIME_PART);
	return err ? -FMT_E_NOMEM : 0;
}

static void
put_cells(const struct series *s, const struct time_series_row *row)
{
	fputs("\"samples_at\":[", stdout);
	for (size_t i = 0; i < s->grid.nr; i++)
		printf("%s%" PRIu64, i ? "," : "", row->cells[i].samples);
	fputs("],\"period_at\":[", stdout);
	for (size_t i = 0; i < s->grid.nr; i++)
		printf("%s%" PRIu64, i ? "," : "", row->cells[i].period);
	putchar(']');
}

static int
put_row(const struct series *s, const struct time_series_row *row)
{
	int err = put("value", json_real(series_value(s, &row->weight)));

	err |= put("share", json_real(series_share(s, &row->weight)));
	err |= put("samples", json_value_number(row->weight.samples));
	err |= put("period", json_value_number(row->weight.period));
	put_cells(s, row);
	putchar('}');
	return err;
}

/* What the row is of: its name, and a number where one belongs to it. */
static int
put_named(const struct series *s, const struct time_series_row *row)
{
	int err = 0;

	putchar('{');
	if (s->key != TIME_SERIES_cpu)
		err = put("name", text_of(row->name));
	if (s->key == TIME_SERIES_pid || s->key == TIME_SERIES_cpu)
		err |= put(time_series_key_name(s->key), json_integer((int32_t)row->number));
	if (s->key == TIME_SERIES_sym)
		err |= put("kernel", json_boolean(row->number));
	return err | put_row(s, row);
}

static int
put_sum(const struct series *s, const char *key, const struct time_series_row *row)
{
	int err;

	printf(",\n\"%s\":{", key);
	err = put("rows", json_value_number(row->members));
	return err | put_row(s, row);
}

static int
put_event(const struct series *s)
{
	const struct profile_weight whole = profile_event_whole(s->load.profile, s->event);
	int err;

	putchar('{');
	err = put("event", text_of(load_event_name(&s->load, s->event)));
	err |= put("unit", json_string(series_unit_name(s)));
	err |= put("frequency", s->hz > 0 ? json_real(s->hz) : json_null());
	err |= put("whole_samples", json_value_number(whole.samples));
	err |= put("whole_period", json_value_number(whole.period));
	fputs("\"rows\":[", stdout);
	for (size_t i = 0; i < time_series_rows(s->rows); i++) {
		fputs(i ? ",\n" : "\n", stdout);
		err |= put_named(s, time_series_row_at(s->rows, i));
	}
	putchar(']');
	err |= put_sum(s, "others", time_series_others(s->rows));
	err |= put_sum(s, "all", time_series_all(s->rows));
	putchar('}');
	return err ? -FMT_E_NOMEM : 0;
}

int
series_print_json(const struct series_print *p)
{
	struct series *s = p->series;
	int event = -1, more = 0, err = put_head(s);
	bool first = true;

	fputs("\"events\":[", stdout);
	while (err == 0 && (more = series_next(s, &event)) > 0) {
		fputs(first ? "\n" : ",\n", stdout);
		first = false;
		err = put_event(s);
	}
	puts("]}");
	return err ? err : more;
}

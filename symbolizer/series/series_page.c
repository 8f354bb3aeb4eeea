/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/series/series_page.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "format/bytes/fmt_error.h"
#include "format/bytes/time_text.h"
#include "symbolizer/cli/output.h"
#include "symbolizer/page/page.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/view/heading.h"
#include "symbolizer/series/row_choice.h"

/* Scripts have 53 bits for a number: ns are text. */
static void
put_ns(struct page_json *j, const char *key, uint64_t ns)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRId64, (int64_t)ns);
	page_json_text(j, key, text);
}

static int
put_facts(struct series *s, struct page_json *j)
{
	struct buf facts;
	int err;

	buf_init(&facts);
	err = heading_keep(&s->load, &facts);
	page_json_text(j, "title", s->load.set.path);
	page_json_number(j, "lost", s->load.set.loss ? loss_samples(s->load.set.loss) : 0);
	page_json_texts(j, "facts", &facts);
	page_json_texts(j, "filters", &s->options->load.filters);
	page_json_texts(j, "places", &s->options->load.places);
	buf_done(&facts);
	return err;
}

static void
put_marks(struct page_json *j, const char *key, const struct time_grid *g, enum time_mark wanted)
{
	page_json_open(j, key, '[');
	for (size_t i = 0; i < g->nr; i++)
		if (g->marks[i] == wanted)
			page_json_number(j, NULL, i);
	page_json_close(j, ']');
}

/* realtime_ns: from the clock of start_ns to the time since 1970; null: nobody knows. */
static void
put_times(const struct series *s, struct page_json *j)
{
	const struct clock_triple *start = &s->load.set.start;
	const time_t seconds = (time_t)(start->realtime / (uint64_t)SECOND_NS);
	const struct time_grid *g = &s->grid;
	struct tm tm;
	int64_t zone = localtime_r(&seconds, &tm) ? tm.tm_gmtoff : 0;

	page_json_text(j, "file", s->load.set.path);
	page_json_number(j, "archive", s->load.set.archive);
	page_json_text(j, "by", s->key == TIME_SERIES_ALL ? "all" : time_series_key_name(s->key));
	page_json_number(j, "parts", s->options->parts ? SERIES_PARTS : 0);
	page_json_number(j, "cells", g->nr);
	put_ns(j, "first_cell", g->per ? g->from / g->per : 0);
	put_ns(j, "start_ns", g->nr > 0 ? time_grid_start(g, 0) : 0);
	if (start->realtime != 0)
		put_ns(j, "realtime_ns", start->realtime - start->monotonic);
	else
		page_json_text(j, "realtime_ns", NULL);
	page_json_real(j, "zone_s", (double)zone);
	put_ns(j, "width_ns", g->width_ns);
	put_marks(j, "not_recorded", g, TIME_NOT_RECORDED);
	put_marks(j, "incomplete", g, TIME_PART);
}

static void
put_cells(const struct series *s, const struct time_series_row *row, struct page_json *j)
{
	page_json_open(j, "samples", '[');
	for (size_t i = 0; i < s->grid.nr; i++)
		page_json_number(j, NULL, row->cells[i].samples);
	page_json_close(j, ']');
	page_json_open(j, "period", '[');
	for (size_t i = 0; i < s->grid.nr; i++)
		page_json_number(j, NULL, row->cells[i].period);
	page_json_close(j, ']');
}

static void
put_sum(const struct series *s, const char *key, const struct time_series_row *row,
	struct page_json *j)
{
	page_json_open(j, key, '{');
	page_json_number(j, "rows", row->members);
	put_cells(s, row, j);
	page_json_close(j, '}');
}

/* options: the words of a command that choose the row; null: none choose it alone. */
static void
put_row_options(struct row_choice *c, const struct time_series_row *row, struct page_json *j)
{
	struct row_options o;

	if (!row_choice_find(c, row, &o)) {
		page_json_text(j, "options", NULL);
		return;
	}
	page_json_open(j, "options", '[');
	if (o.name) {
		page_json_text(j, NULL, o.name);
		page_json_text(j, NULL, o.value);
	}
	if (o.mode)
		page_json_text(j, NULL, o.mode);
	page_json_close(j, ']');
}

static void
put_row(const struct series *s, struct row_choice *c, const struct time_series_row *row,
	struct page_json *j)
{
	page_json_open(j, NULL, '{');
	if (s->key != TIME_SERIES_cpu)
		page_json_text(j, "name", row->name);
	if (s->key == TIME_SERIES_pid || s->key == TIME_SERIES_cpu)
		page_json_real(j, "number", (double)(int32_t)row->number);
	else
		page_json_text(j, "number", NULL);
	put_row_options(c, row, j);
	put_cells(s, row, j);
	page_json_close(j, '}');
}

static void
put_event(const struct series *s, struct row_choice *c, struct page_json *j)
{
	const struct profile_weight whole = series_base(s);
	const struct time_series_row *all = time_series_all(s->rows);

	page_json_open(j, NULL, '{');
	page_json_text(j, "event", load_event_name(&s->load, s->event));
	page_json_text(j, "option", row_choice_event(c));
	page_json_text(j, "unit", series_unit_name(s));
	page_json_real(j, "frequency", s->hz);
	page_json_number(j, "whole_samples", whole.samples);
	page_json_number(j, "whole_period", whole.period);
	page_json_number(j, "all_samples", all->weight.samples);
	page_json_number(j, "all_period", all->weight.period);
	page_json_open(j, "rows", '[');
	for (size_t i = 0; i < time_series_rows(s->rows); i++)
		put_row(s, c, time_series_row_at(s->rows, i), j);
	page_json_close(j, ']');
	put_sum(s, "others", time_series_others(s->rows), j);
	put_sum(s, "all", all, j);
	page_json_close(j, '}');
}

static int
put_page(struct series *s, FILE *out)
{
	struct row_choice *c = row_choice_new(s);
	int event = -1, more = 0, rest,
	    err = c ? page_begin(out, &page_heat, s->load.set.path) : -FMT_E_NOMEM;
	struct page_json j;

	if (err < 0) {
		row_choice_free(c);
		return err;
	}
	page_json_init(&j, out);
	page_json_open(&j, NULL, '{');
	err = put_facts(s, &j);
	put_times(s, &j);
	page_json_open(&j, "events", '[');
	while (err == 0 && (more = series_next(s, &event)) > 0)
		put_event(s, c, &j);
	page_json_close(&j, ']');
	page_json_close(&j, '}');
	rest = page_json_done(&j);
	page_end(out, &page_heat);
	row_choice_free(c);
	return err ? err : more ? more : rest;
}

int
series_page(struct series *s)
{
	struct output out;
	int err, status = output_open(&out, s->options->output, &s->load.set.access);

	if (status != 0)
		return status;
	err = put_page(s, out.file);
	if (err < 0) {
		screen_text_warn("%s", fmt_error_text(err));
		status = EXIT_FAILED;
	}
	return output_close(&out, status);
}

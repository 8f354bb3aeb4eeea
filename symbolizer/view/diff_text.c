/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison as text: what both sides are, and a table of rates, their change, and how sure it is. */
#include "symbolizer/view/diff_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/cli/pager.h"
#include "symbolizer/compare/moved.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/view/heading.h"
#include "symbolizer/view/unknown_text.h"

/* Objects whose names one side alone lacks: as many, of those with such a share of its samples. */
#define LACKING_SHOWN 5
#define LACKING_PERCENT 0.5

#define NUMBER_TEXT 32

/* A sentence; where a terminal has no room for it, further lines begin with indent. */
#define say(indent, ...) screen_text_print(stdout, cli_columns(), indent, __VA_ARGS__)

static const char *const side_names[COMPARISON_SIDES] = { "Baseline", "New" };

const struct rate_change *
diff_change(const struct diff_print *p, const struct comparison_row *row)
{
	return p->options->report->children ? &row->total : &row->self;
}

/* --- what both sides are ------------------------------------------------------------------ */

/* Does the other side lack names of it, too? */
static bool
lacks(const struct report *r, const char *dso_path)
{
	for (size_t i = 0; i < report_unknowns(r); i++) {
		const struct report_unknown *u = report_unknown_at(r, i);

		if (u->miss != RESOLVE_OK && u->dso_path && strcmp(u->dso_path, dso_path) == 0)
			return true;
	}
	return false;
}

static int
print_lacking(const struct diff_print *p, int side)
{
	const struct report *r = p->reports[side], *other = p->reports[!side];
	const uint64_t samples = profile_totals(p->sides->load[side].profile)->samples;
	size_t shown = 0;

	for (size_t i = 0; i < report_unknowns(r) && shown < LACKING_SHOWN; i++) {
		const struct report_unknown *u = report_unknown_at(r, i);
		const double share = 100.0 * (double)u->samples / (double)samples;
		char *path;

		if (u->miss == RESOLVE_OK || share < LACKING_PERCENT || !u->dso_path ||
		    lacks(other, u->dso_path))
			continue;
		path = escape_dup(u->dso_path);
		if (!path)
			return -FMT_E_NOMEM;
		say("#   ",
		    "# Here alone names of %s are missing (%.2f%% of the samples): %s; its "
		    "functions do not compare",
		    path, share, resolve_miss_text(u->miss));
		free(path);
		shown++;
	}
	return 0;
}

static int
print_side(const struct diff_print *p, int side)
{
	struct load *l = &p->sides->load[side];
	const struct profile_totals *t = profile_totals(l->profile);
	uint64_t unknown = 0;
	int err;

	printf("# --- %s\n", side_names[side]);
	err = heading_print(l);
	if (err < 0)
		return err;
	say("#   ", "# Covered: %.3f %s", p->sides->covered_ns[side] / 1e9,
	    p->sides->tasks[side] ? "seconds of its tasks" : "CPU seconds");
	for (int miss = RESOLVE_OK + 1; miss < RESOLVE_MISSES; miss++)
		unknown += miss != RESOLVE_NO_NAME ? t->unresolved[miss] : 0;
	if (unknown > 0)
		unknown_text_sum(UNKNOWN_SYMBOL, unknown, t->samples, "");
	if (t->unresolved[RESOLVE_NO_NAME] > 0)
		unknown_text_sum(UNKNOWN_NAME, t->unresolved[RESOLVE_NO_NAME], t->samples, "");
	err = print_lacking(p, side);
	puts("#");
	return err;
}

/* --- rows --------------------------------------------------------------------------------- */

bool
diff_below_limit(const struct diff_print *p, const struct comparison_row *row)
{
	const struct comparison_event *e = comparison_event_at(p->comparison, row->event);
	const struct rate_change *c = diff_change(p, row);
	double most = 0;

	if (c->significant)
		return false;
	for (int side = 0; side < COMPARISON_SIDES; side++) {
		const uint64_t of = e->samples[side];
		const double share = of ? 100.0 * (double)row->total_samples[side] / (double)of : 0;

		most = share > most ? share : most;
	}
	return most < p->percent_limit;
}

/* What a unit of work takes may be of any size. */
static void
seconds_text(double value, bool sign, char out[NUMBER_TEXT])
{
	static const char *const units[] = { "s", "ms", "us", "ns" };
	size_t i = 0;

	for (; i < 3 && value != 0 && fabs(value) < 1; i++)
		value *= 1000;
	snprintf(out, NUMBER_TEXT, sign ? "%+.4g%s" : "%.4g%s", value, units[i]);
}

/* Shares of time are percent; what has no bound has the letters of thousands. */
static void
number_text(const struct diff_print *p, const struct comparison_event *e, double value, bool sign,
	    char out[NUMBER_TEXT])
{
	static const char letters[] = " kMGTPE";
	size_t i = 0;

	if (isinf(value) || isnan(value)) {
		snprintf(out, NUMBER_TEXT, "?");
	} else if (p->options->per == COMPARISON_PER_TOTAL ||
		   (p->options->per == COMPARISON_PER_CPU && e->clock)) {
		snprintf(out, NUMBER_TEXT, sign ? "%+.2f%%" : "%.2f%%", 100 * value);
	} else if (e->clock && p->options->per == COMPARISON_PER_WORK) {
		seconds_text(value, sign, out);
	} else if (e->clock) {
		snprintf(out, NUMBER_TEXT, sign ? "%+.3fs" : "%.3fs", value);
	} else {
		for (; fabs(value) >= 1000 && letters[i + 1]; i++)
			value /= 1000;
		snprintf(out, NUMBER_TEXT, sign ? "%+.4g%.1s" : "%.4g%.1s", value,
			 i > 0 ? &letters[i] : "");
	}
}

static void
add_relative(struct table *t, const struct rate_change *c)
{
	const enum table_color color = c->change > 0 ? TABLE_HOT : TABLE_WARM;

	if (!c->significant)
		table_cell(t, "~", TABLE_PLAIN);
	else if (c->before <= 0)
		table_cell(t, "new", color);
	else if (c->after <= 0)
		table_cell(t, "gone", color);
	else
		table_cellf(t, color, "%+.1f%%", 100 * c->change / c->before);
}

static void
add_rates(const struct diff_print *p, struct table *t, const struct comparison_event *e,
	  const struct rate_change *c)
{
	char text[NUMBER_TEXT];

	number_text(p, e, c->before, false, text);
	table_cell(t, text, TABLE_PLAIN);
	number_text(p, e, c->after, false, text);
	table_cell(t, text, TABLE_PLAIN);
	number_text(p, e, c->change, true, text);
	table_cell(t, text, TABLE_PLAIN);
	number_text(p, e, c->margin, false, text);
	table_cell(t, text, TABLE_PLAIN);
	add_relative(t, c);
}

static const struct {
	const char *title;
	bool number;
} keys[] = {
#define X(name, title, number, ...) { title, number },
	REPORT_KEYS(X)
#undef X
};

static void
add_value(struct table *t, struct buf *scratch, enum report_column key,
	  const struct report_value *v)
{
	char line[24] = "";

	if (key == REPORT_address) {
		table_cellf(t, TABLE_PLAIN, "0x%016" PRIx64, v->number);
		return;
	}
	if (keys[key].number) {
		table_cellf(t, TABLE_PLAIN, "%" PRId32, (int32_t)v->number);
		return;
	}
	buf_clear(scratch);
	if (key == REPORT_sym)
		buf_append(scratch, v->number ? "[k] " : "[.] ", 4);
	if (key == REPORT_srcline)
		snprintf(line, sizeof(line), ":%" PRIu64, v->number);
	escape(scratch, v->text ? v->text : "[unknown]");
	buf_append(scratch, line, strlen(line) + 1);
	table_cell(t, buf_failed(scratch) ? NULL : (const char *)scratch->p, TABLE_PLAIN);
}

#define RATE_COLUMNS 5

static struct table *
make_table(const struct diff_print *p, struct table_column *columns)
{
	const struct report_list *list = &p->options->report->keys;
	size_t n = 0;

	columns[n++] = (struct table_column){ "Baseline", true, false, false };
	columns[n++] = (struct table_column){ "New", true, false, false };
	columns[n++] = (struct table_column){ "Change", true, false, false };
	columns[n++] = (struct table_column){ "+-", true, false, false };
	columns[n++] = (struct table_column){ "Relative", true, false, false };
	for (size_t i = 0; i < list->n; i++)
		if (list->v[i] != REPORT_time)
			columns[n++] = (struct table_column){ keys[list->v[i]].title,
							      keys[list->v[i]].number,
							      !keys[list->v[i]].number, false };
	return table_new(columns, n);
}

/* *ret: rows that were left out. */
static void
add_rows(const struct diff_print *p, const struct comparison_event *e, struct table *t, size_t *ret)
{
	const struct report_list *list = &p->options->report->keys;
	struct buf scratch;

	*ret = 0;
	buf_init(&scratch);
	for (size_t i = e->first; i < e->first + e->nr; i++) {
		const struct comparison_row *row = comparison_row_at(p->comparison, i);

		if (diff_below_limit(p, row)) {
			(*ret)++;
			continue;
		}
		add_rates(p, t, e, diff_change(p, row));
		for (size_t k = 0; k < list->n; k++)
			if (list->v[k] != REPORT_time)
				add_value(t, &scratch, list->v[k], &row->values[list->v[k]]);
	}
	buf_done(&scratch);
}

/* What the numbers are. */
static const char *
unit_text(const struct diff_print *p, const struct comparison_event *e)
{
	switch (p->options->per) {
	case COMPARISON_PER_TOTAL:
		return "shares of all samples that passed the filters";
	case COMPARISON_PER_NONE:
		return e->clock ? "CPU seconds" : e->by_period ? "events" : "samples";
	case COMPARISON_PER_WORK:
		return e->clock	       ? "CPU time per unit of work"
			: e->by_period ? "events per unit of work"
				       : "samples per unit of work";
	case COMPARISON_PER_CPU:
		break;
	}
	return e->clock	       ? "CPU time per covered CPU time"
		: e->by_period ? "events per second of covered CPU time"
			       : "samples per second of covered CPU time";
}

static int
print_moved(const struct diff_print *p, const struct comparison_event *e)
{
	struct moved m;
	char *names[COMPARISON_SIDES];
	int err = moved_find(p->comparison, e, &p->options->report->keys, &m);

	if (err < 0 || m.functions == 0)
		return err;
	for (int side = 0; side < COMPARISON_SIDES; side++) {
		names[side] = escape_dup(m.objects[side]);
		err = names[side] ? err : -FMT_E_NOMEM;
	}
	if (err == 0)
		say("#   ",
		    "# %zu function%s in %s of the baseline, and in %s of the new side: -s sym compares "
		    "functions whatever their object",
		    m.functions, m.functions == 1 ? " is" : "s are", names[0], names[1]);
	for (int side = 0; side < COMPARISON_SIDES; side++)
		free(names[side]);
	return err;
}

static int
print_heading(const struct diff_print *p, const struct comparison_event *e)
{
	char *names[COMPARISON_SIDES];
	int err = 0;

	for (int side = 0; side < COMPARISON_SIDES; side++) {
		names[side] = escape_dup(e->names[side] ? e->names[side] : "");
		err = names[side] ? err : -FMT_E_NOMEM;
	}
	if (err == 0 && e->names[0] && e->names[1] && strcmp(names[0], names[1]) != 0)
		say("#   ", "# Event '%s', and '%s' of the new side: %s", names[0], names[1],
		    unit_text(p, e));
	else if (err == 0)
		say("#   ", "# Event '%s'%s: %s", names[e->names[0] ? 0 : 1],
		    !e->names[0]	   ? ", of the new side alone"
			    : !e->names[1] ? ", of the baseline alone"
					   : "",
		    unit_text(p, e));
	say("#   ",
	    "# %zu of %zu rows changed, with %g%% confidence in all of them together; +- is the %g%% "
	    "interval of each; ~ is noise: no more than how %s differ anyway",
	    e->significant, e->tried, 100 * p->options->confidence, 100 * p->options->confidence,
	    comparison_by_counts(p->comparison) ? "two samplings of the same work"
						: "these windows of time");
	if (err == 0)
		err = print_moved(p, e);
	puts("#");
	for (int side = 0; side < COMPARISON_SIDES; side++)
		free(names[side]);
	return err;
}

static int
print_event(const struct diff_print *p, const struct comparison_event *e)
{
	struct table_column columns[RATE_COLUMNS + REPORT_KEYS_MAX];
	struct table *t = make_table(p, columns);
	size_t left_out;
	int err;

	if (!t)
		return -FMT_E_NOMEM;
	add_rows(p, e, t, &left_out);
	err = print_heading(p, e);
	if (err == 0)
		err = table_print(t, stdout, &p->table);
	if (err == 0 && left_out > 0) {
		puts("#");
		say("#   ", "# Left out: %zu rows of noise below %g%% of the samples", left_out,
		    p->percent_limit);
	}
	table_free(t);
	return err;
}

int
diff_print_text(const struct diff_print *p)
{
	int err = 0;

	pager_start();
	for (int side = 0; side < COMPARISON_SIDES && err == 0; side++)
		err = print_side(p, side);
	for (size_t i = 0; i < comparison_events(p->comparison) && err == 0; i++) {
		if (i > 0)
			puts("\n#");
		err = print_event(p, comparison_event_at(p->comparison, i));
	}
	return err;
}

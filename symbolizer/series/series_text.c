/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Series over time as text: what a column and a full cell are, times above the columns, and a row each:
 * how much, its share, the most in a column, the cells, whose it is.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "format/bytes/unit_name.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/text/short_names.h"
#include "symbolizer/view/heading.h"
#include "symbolizer/series/heat_shade.h"
#include "symbolizer/series/series_print.h"

#define NUMBERS_COLUMNS 31 /* those before the cells, and the blanks around them */
#define PIPE_COLUMNS 60
#define NAME_COLUMNS_MIN 16
#define NAME_COLUMNS_MAX 40
#define CELLS_MIN 10

#define say(p, indent, ...) screen_text_print(stdout, (p)->terminal, indent, __VA_ARGS__)

static int
name_columns(int terminal)
{
	const int n = terminal / 4;

	return n < NAME_COLUMNS_MIN    ? NAME_COLUMNS_MIN
		: n > NAME_COLUMNS_MAX ? NAME_COLUMNS_MAX
				       : n;
}

size_t
series_print_columns(int terminal, bool parts)
{
	const int n = terminal - (parts ? 6 : NUMBERS_COLUMNS + name_columns(terminal));

	if (terminal == 0)
		return PIPE_COLUMNS;
	return n < CELLS_MIN ? CELLS_MIN : (size_t)n;
}

/* --- words ------------------------------------------------------------------------------- */

/* "1.87", "12.3k": at most six columns. */
static void
short_number(double v, char *out, size_t size)
{
	static const char suffixes[] = " kMGTPE";
	size_t i = 0;

	for (; v >= 999.5 && suffixes[i + 1]; i++)
		v /= 1000;
	snprintf(out, size,
		 v < 9.995	     ? "%.2f%.*s"
			 : v < 99.95 ? "%.1f%.*s"
				     : "%.0f%.*s",
		 v, i > 0, &suffixes[i]);
}

static const char *
value_title(const struct series *s)
{
	static const char *const titles[] = {
		[EVENT_COUNTS] = "Events",
		[EVENT_SECONDS] = "CPU s",
		[EVENT_WAITED] = "Waited s",
		[EVENT_ABOUT_SECONDS] = "~CPU s",
	};

	return titles[s->unit];
}

static void
value_text(const struct series *s, const struct profile_weight *w, char *out, size_t size)
{
	if (s->unit == EVENT_COUNTS)
		short_number(series_value(s, w), out, size);
	else
		snprintf(out, size, "%.2f", series_value(s, w));
}

bool
series_print_name(const struct series *s, const struct time_series_row *row, struct buf *out)
{
	const char *name = row->name ? row->name : "[unknown]";
	char number[32] = "";

	if (s->key == TIME_SERIES_pid)
		snprintf(number, sizeof(number), "%" PRId32 " ", (int32_t)row->number);
	if (s->key == TIME_SERIES_cpu)
		snprintf(number, sizeof(number), "CPU %" PRId32, (int32_t)row->number);
	if (s->key == TIME_SERIES_sym)
		snprintf(number, sizeof(number), "[%c] ", row->number ? 'k' : '.');
	buf_text(out, number);
	if (s->key != TIME_SERIES_cpu)
		escape(out, name);
	return !buf_failed(out);
}

static double
most_of(const struct series *s, const struct time_series_row *row)
{
	double most = 0;

	for (size_t i = 0; i < s->grid.nr; i++) {
		const double v = series_value(s, &row->cells[i]);

		most = v > most ? v : most;
	}
	return most;
}

/* --- rows -------------------------------------------------------------------------------- */

static void
put_cells(const struct series_print *p, const struct time_series_row *row, double most)
{
	const struct series *s = p->series;

	for (size_t i = 0; i < s->grid.nr; i++) {
		const int shade = heat_shade_of(series_value(s, &row->cells[i]), most);

		if (shade == 0 && s->grid.marks[i] == TIME_NOT_RECORDED)
			fputs(p->utf8 ? "×" : "x", stdout);
		else if (!p->heat)
			fputs(heat_shade_height(shade, p->utf8), stdout);
		else if (p->color && shade > 0)
			printf("\033[48;5;%dm \033[0m", heat_shade_color(shade));
		else
			fputs(heat_shade_grey(shade, p->utf8), stdout);
	}
}

static void
put_row(const struct series_print *p, const struct time_series_row *row, double most,
	const char *name)
{
	const struct series *s = p->series;
	const double own = most_of(s, row);
	char value[32], peak[32];

	value_text(s, &row->weight, value, sizeof(value));
	short_number(own * 1e9 / (double)s->grid.width_ns, peak, sizeof(peak));
	printf("%10s  %6.2f%%  %6s  ", value, series_share(s, &row->weight), peak);
	put_cells(p, row, most > 0 ? most : own);
	printf("  %s\n", name);
}

/* Of a terminal as many columns as are left, and ids of containers short. */
static int
short_labels(const struct series_print *p, char **names, size_t nr, struct short_names **ret)
{
	const int room = p->terminal - NUMBERS_COLUMNS - (int)p->series->grid.nr;
	const bool groups = p->series->key == TIME_SERIES_unit ||
		p->series->key == TIME_SERIES_cgroup;

	for (size_t i = 0; groups && i < nr; i++)
		unit_name_shorten(names[i], names[i], strlen(names[i]) + 1);
	*ret = short_names_new((const char *const *)names, nr,
			       room < NAME_COLUMNS_MIN / 2 ? NAME_COLUMNS_MIN / 2 : room);
	return *ret ? 0 : -FMT_E_NOMEM;
}

static void
put_rows(const struct series_print *p, char **names, struct short_names *shorts)
{
	const struct series *s = p->series;
	const struct time_series_row *others = time_series_others(s->rows);
	const size_t nr = time_series_rows(s->rows);
	double most = 0;
	char text[64];

	for (size_t i = 0; i < nr && !s->options->each; i++) {
		const double own = most_of(s, time_series_row_at(s->rows, i));

		most = own > most ? own : most;
	}
	for (size_t i = 0; i < nr; i++)
		put_row(p, time_series_row_at(s->rows, i), most,
			shorts ? short_names_at(shorts, i) : names[i]);
	if (others->members > 0) {
		snprintf(text, sizeof(text), "(%zu other%s)", others->members,
			 others->members == 1 ? "" : "s");
		put_row(p, others, most, text);
	}
	/* On the rows' scale it would be full everywhere. */
	if (nr > 1)
		put_row(p, time_series_all(s->rows), 0, "(all)");
}

static int
print_rows(const struct series_print *p)
{
	const struct series *s = p->series;
	const size_t nr = time_series_rows(s->rows);
	char **names = calloc(nr + 1, sizeof(*names));
	struct short_names *shorts = NULL;
	int err = names ? 0 : -FMT_E_NOMEM;

	for (size_t i = 0; err == 0 && i < nr; i++) {
		struct buf b;

		buf_init(&b);
		if (series_print_name(s, time_series_row_at(s->rows, i), &b)) {
			buf_u8(&b, 0);
			names[i] = buf_failed(&b) ? NULL : strdup((const char *)b.p);
		}
		buf_done(&b);
		err = names[i] ? 0 : -FMT_E_NOMEM;
	}
	if (err == 0 && p->terminal > 0)
		err = short_labels(p, names, nr, &shorts);
	if (err == 0)
		put_rows(p, names, shorts);
	short_names_free(shorts);
	for (size_t i = 0; names && i < nr; i++)
		free(names[i]);
	free(names);
	return err;
}

/* --- above them -------------------------------------------------------------------------- */

/* In parts a full cell is as much as there is anywhere: how much, a line tells. */
static void
print_scale_of_parts(const struct series_print *p)
{
	const struct series *s = p->series;
	char width[32], part[32], most[32];

	time_grid_span_text(s->grid.width_ns * SERIES_PARTS, width, sizeof(width));
	time_grid_span_text(s->grid.width_ns, part, sizeof(part));
	short_number(most_of(s, time_series_all(s->rows)) * 1e9 / (double)s->grid.width_ns, most,
		     sizeof(most));
	say(p, "#   ",
	    "# A column is %s, from its bottom to its top, in parts of %s; most is %s %s.", width,
	    part, most, s->unit == EVENT_COUNTS ? "events a second" : "CPUs");
}

static void
print_scale(const struct series_print *p)
{
	const struct series *s = p->series;
	char width[32];

	time_grid_span_text(s->grid.width_ns, width, sizeof(width));
	if (s->options->parts)
		print_scale_of_parts(p);
	else
		say(p, "#   ", "# A column is %s, %s; peaks are %s.", width,
		    s->options->each ? "each row on a scale of its own"
				     : "rows on one scale, but (all) on its own",
		    s->unit == EVENT_COUNTS ? "events a second" : "CPUs");
	if (s->unit == EVENT_ABOUT_SECONDS)
		say(p, "#   ", "# CPU seconds are estimated: samples by %.0f a second.", s->hz);
	if (time_grid_has(&s->grid, TIME_NOT_RECORDED))
		say(p, "#   ", "# %s: not recorded.", p->utf8 ? "×" : "x");
	if (time_grid_has(&s->grid, TIME_PART))
		say(p, "#   ", "# !: a part, or some of the samples, is missing.");
}

static int
print_axis(const struct series_print *p)
{
	const struct series *s = p->series;
	struct buf b;
	int err;

	buf_init(&b);
	time_grid_axis(&s->grid, 0, s->grid.nr, &b);
	buf_u8(&b, 0);
	err = buf_failed(&b) ? -FMT_E_NOMEM : 0;
	if (err == 0)
		printf("#%9s  %7s  %6s  %s  %s\n", value_title(s), "Share", "Peak",
		       (const char *)b.p, time_series_key_title(s->key));
	buf_done(&b);
	if (err == 0 && time_grid_has(&s->grid, TIME_PART)) {
		printf("#%28s", "");
		for (size_t i = 0; i < s->grid.nr; i++)
			putchar(s->grid.marks[i] == TIME_PART ? '!' : ' ');
		putchar('\n');
	}
	return err;
}

static int
print_event(const struct series_print *p)
{
	const struct series *s = p->series;
	const struct time_series_row *all = time_series_all(s->rows);
	const struct profile_weight whole = profile_event_whole(s->load.profile, s->event);
	char *name = escape_dup(load_event_name(&s->load, s->event));
	int err = name ? 0 : -FMT_E_NOMEM;

	if (err == 0) {
		say(p, "#   ", "# Samples: %" PRIu64 " of event '%s'", all->weight.samples, name);
		if (whole.samples != all->weight.samples)
			say(p, "#   ", "# Of the whole: %.2f%%; shares are of %s",
			    100 * series_value(s, &all->weight) / series_value(s, &whole),
			    s->options->absolute ? "the whole" : "these samples");
		print_scale(p);
		puts("#");
	}
	free(name);
	if (err == 0 && s->options->parts) {
		series_print_parts(p);
		return 0;
	}
	if (err == 0)
		err = print_axis(p);
	return err ? err : print_rows(p);
}

int
series_print_text(const struct series_print *p)
{
	int event = -1, err = heading_print(&p->series->load), more = 0;
	bool first = true;

	while (err == 0 && (more = series_next(p->series, &event)) > 0) {
		if (!first)
			puts("\n#");
		first = false;
		err = print_event(p);
	}
	return err ? err : more;
}

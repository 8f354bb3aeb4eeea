/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One event as a map of heat: each column is a span of time, which goes from its bottom to its top in
 * SERIES_PARTS parts. On a terminal with colours two parts are one line.
 */
#include <inttypes.h>
#include <stdio.h>

#include "format/bytes/buf.h"
#include "symbolizer/series/heat_shade.h"
#include "symbolizer/series/series_print.h"

struct map {
	const struct series_print *p;
	const struct time_series_row *all;
	uint64_t first; /* the part at the bottom of the first column, before the first cell */
	size_t columns;
	double most;
};

/* The cell of a part of a column; false: it is none. */
static bool
find_cell(const struct map *m, size_t column, size_t part, size_t *ret)
{
	const uint64_t at = column * SERIES_PARTS + part;

	*ret = (size_t)(at - m->first);
	return at >= m->first && *ret < m->p->series->grid.nr;
}

static int
shade_at(const struct map *m, size_t column, size_t part)
{
	size_t i;

	if (!find_cell(m, column, part, &i))
		return 0;
	return heat_shade_of(series_value(m->p->series, &m->all->cells[i]), m->most);
}

static bool
is_missing(const struct map *m, size_t column, size_t part)
{
	size_t i;

	return find_cell(m, column, part, &i) && m->p->series->grid.marks[i] == TIME_NOT_RECORDED;
}

static void
put_two(const struct map *m, size_t column, size_t part)
{
	const int low = shade_at(m, column, part), high = shade_at(m, column, part + 1);

	if (low == 0 && high == 0)
		fputs(is_missing(m, column, part) ? "×" : " ", stdout);
	else if (low == 0)
		printf("\033[38;5;%dm▀\033[0m", heat_shade_color(high));
	else if (high == 0)
		printf("\033[38;5;%dm▄\033[0m", heat_shade_color(low));
	else
		printf("\033[38;5;%d;48;5;%dm▀\033[0m", heat_shade_color(high),
		       heat_shade_color(low));
}

static void
put_one(const struct map *m, size_t column, size_t part)
{
	const bool utf8 = m->p->utf8;
	const int shade = shade_at(m, column, part);

	if (shade == 0 && is_missing(m, column, part))
		fputs(utf8 ? "×" : "x", stdout);
	else if (m->p->color && shade > 0)
		printf("\033[48;5;%dm \033[0m", heat_shade_color(shade));
	else
		fputs(heat_shade_grey(shade, utf8), stdout);
}

/* Which part of a column a line is, where that is a round number. */
static void
put_line(const struct map *m, size_t part, size_t parts)
{
	const uint64_t width = m->p->series->grid.width_ns;
	char text[32] = "";

	if (part % 10 == 0)
		time_grid_span_text(part * width, text, sizeof(text));
	printf("%8s ", part % 10 == 0 ? text : "");
	for (size_t column = 0; column < m->columns; column++)
		(parts == 2 ? put_two : put_one)(m, column, part);
	putchar('\n');
}

void
series_print_parts(const struct series_print *p)
{
	const struct time_grid *g = &p->series->grid;
	struct map m = { .p = p, .all = time_series_all(p->series->rows) };
	const size_t parts = p->color && p->utf8 ? 2 : 1;
	struct time_grid whole = *g;
	struct buf b;

	m.first = g->from / g->per % SERIES_PARTS;
	m.columns = (m.first + g->nr + SERIES_PARTS - 1) / SERIES_PARTS;
	for (size_t i = 0; i < g->nr; i++) {
		const double v = series_value(p->series, &m.all->cells[i]);

		m.most = v > m.most ? v : m.most;
	}
	whole.from -= m.first * g->per;
	whole.per *= SERIES_PARTS;
	whole.width_ns *= SERIES_PARTS;
	buf_init(&b);
	time_grid_axis(&whole, 0, m.columns, &b);
	buf_u8(&b, 0);
	printf("#%8s%s\n", "", buf_failed(&b) ? "" : (const char *)b.p);
	buf_done(&b);
	for (size_t part = SERIES_PARTS; part > 0; part -= parts)
		put_line(&m, part - parts, parts);
}

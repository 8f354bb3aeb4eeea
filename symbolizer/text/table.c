/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/text/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/buf.h"
#include "format/bytes/fmt_error.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/text/short_names.h"

#define GAP 2	     /* between columns */
#define LEFT 2	     /* before the first: room for the "# " of the title */
#define CELL_MIN 8   /* no column is cut to less */
#define LAST_MORE 15 /* the names that are looked for: wider than the others, where one gives way */
#define RULER_MAX 64 /* a C++ name of a page needs no ruler of a page */
#define COLUMNS_MAX 16

struct cell {
	size_t text; /* where in texts */
	int width;
	enum table_color color;
};

struct table {
	const struct table_column *columns;
	size_t nr_columns;
	struct buf texts; /* NUL-terminated, one after another */
	struct buf cells; /* struct cell */
	size_t nr_cells;
};

struct table *
table_new(const struct table_column *columns, size_t nr_columns)
{
	struct table *t = calloc(1, sizeof(*t));

	if (!t || nr_columns > COLUMNS_MAX) {
		free(t);
		return NULL;
	}
	t->columns = columns;
	t->nr_columns = nr_columns;
	buf_init(&t->texts);
	buf_init(&t->cells);
	return t;
}

void
table_free(struct table *t)
{
	if (!t)
		return;
	buf_done(&t->texts);
	buf_done(&t->cells);
	free(t);
}

void
table_cell(struct table *t, const char *text, enum table_color color)
{
	struct cell c = { t->texts.len, 0, color };

	if (!text) {
		t->texts.failed = true;
		return;
	}
	c.width = screen_text_width(text);
	buf_append(&t->texts, text, strlen(text) + 1);
	buf_append(&t->cells, &c, sizeof(c));
	t->nr_cells++;
}

void
table_cellf(struct table *t, enum table_color color, const char *format, ...)
{
	char text[64];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	table_cell(t, text, color);
}

static struct cell
cell_at(const struct table *t, size_t i)
{
	struct cell c;

	memcpy(&c, t->cells.p + i * sizeof(c), sizeof(c));
	return c;
}

static void
measure(const struct table *t, int *widths)
{
	for (size_t i = 0; i < t->nr_columns; i++)
		widths[i] = screen_text_width(t->columns[i].title);
	for (size_t i = 0; i < t->nr_cells; i++) {
		int w = cell_at(t, i).width;

		if (w > widths[i % t->nr_columns])
			widths[i % t->nr_columns] = w;
	}
}

/* Takes what is too much from the widest of the columns from first on that may be cut. */
static void
fit(const struct table *t, int *widths, size_t first, int terminal)
{
	const size_t last = t->nr_columns - 1;
	int total = LEFT + GAP * (int)last;

	for (size_t i = 0; i < t->nr_columns; i++)
		total += widths[i];
	while (total > terminal) {
		int *widest = NULL, most = 0;

		for (size_t i = first; i < t->nr_columns; i++) {
			int width = i == last ? widths[i] - LAST_MORE : widths[i];

			if (!t->columns[i].cut || widths[i] <= CELL_MIN ||
			    (widest && width <= most))
				continue;
			widest = &widths[i];
			most = width;
		}
		if (!widest)
			return;
		(*widest)--;
		total--;
	}
}

static const char *
text_at(const struct table *t, size_t cell)
{
	return (const char *)t->texts.p + cell_at(t, cell).text;
}

/* The cells of a column that is narrower than they are: 0, -FMT_E_NOMEM. */
static int
shorten(const struct table *t, size_t column, int width, struct short_names **ret)
{
	const size_t rows = t->nr_cells / t->nr_columns;
	const char **names;

	names = calloc(rows + 1, sizeof(*names));
	for (size_t i = 0; names && i < rows; i++)
		names[i] = text_at(t, i * t->nr_columns + column);
	*ret = names ? short_names_new(names, rows, width) : NULL;
	free(names);
	return *ret ? 0 : -FMT_E_NOMEM;
}

/* How a table is printed. */
struct layout {
	const struct table *t;
	const struct table_options *o;
	FILE *out;
	int widest[COLUMNS_MAX], widths[COLUMNS_MAX];
	struct short_names
		*names[COLUMNS_MAX]; /* of columns that are too narrow; NULL: as they are */
};

/* Widths that were asked for hold; of the others, a terminal has room for so much. */
static void
set_widths(struct layout *l)
{
	const struct table_options *o = l->o;
	const struct table *t = l->t;

	measure(t, l->widest);
	memcpy(l->widths, l->widest, sizeof(l->widths));
	for (size_t i = 0; i < t->nr_columns && i < o->nr_widths; i++)
		if (o->widths[i] > 0 && (t->columns[i].cut || o->widths[i] > l->widest[i]))
			l->widths[i] = o->widths[i];
	if (o->terminal > 0)
		fit(t, l->widths, o->nr_widths, o->terminal);
}

static int
set_names(struct layout *l)
{
	int err = 0;

	for (size_t i = 0; i < l->t->nr_columns && err == 0; i++)
		if (l->widths[i] < l->widest[i] && !l->t->columns[i].tail)
			err = shorten(l->t, i, l->widths[i], &l->names[i]);
	return err;
}

/* A cell that would be two is made one, as perf report does. */
static void
print_separated(const struct layout *l, size_t column, const char *text)
{
	const char *separator = l->o->separator, *hit;

	if (column > 0)
		fputs(separator, l->out);
	for (; (hit = strstr(text, separator)); text = hit + strlen(separator))
		fprintf(l->out, "%.*s.", (int)(hit - text), text);
	fputs(text, l->out);
}

/* Bytes of a text that so many columns have room for. */
static int
fitting(const char *text, int columns)
{
	const char *end = text, *next = text;

	while (*next && (columns -= screen_text_next(&next)) >= 0)
		end = next;
	return (int)(end - text);
}

static void
print_cell(const struct layout *l, size_t column, const char *text, const char *color)
{
	bool right = l->t->columns[column].right, last = column + 1 == l->t->nr_columns;
	int pad = l->widths[column] - screen_text_width(text);
	int len = l->t->columns[column].tail ? fitting(text, l->widths[column]) : (int)strlen(text);

	if (column > 0)
		fprintf(l->out, "%*s", GAP, "");
	if (right && pad > 0)
		fprintf(l->out, "%*s", pad, "");
	fprintf(l->out, "%s%.*s%s", color ? color : "", len, text, color ? "\033[0m" : "");
	if (!right && !last && pad > 0)
		fprintf(l->out, "%*s", pad, "");
}

static void
print_title(const struct layout *l)
{
	const struct table *t = l->t;

	fputs("# ", l->out);
	for (size_t i = 0; i < t->nr_columns; i++) {
		char title[32];

		if (l->o->separator) {
			print_separated(l, i, t->columns[i].title);
			continue;
		}
		snprintf(title, sizeof(title), "%.*s", l->widths[i], t->columns[i].title);
		print_cell(l, i, title, NULL);
	}
	fputc('\n', l->out);
	if (l->o->separator)
		return;
	fputs("# ", l->out);
	for (size_t i = 0; i < t->nr_columns; i++) {
		fprintf(l->out, "%*s", i > 0 ? GAP : 0, "");
		for (int n = 0; n < l->widths[i] && (i + 1 < t->nr_columns || n < RULER_MAX); n++)
			fputc('.', l->out);
	}
	fputs("\n#\n", l->out);
}

static void
print_row(const struct layout *l, size_t row)
{
	static const char *const colors[] = {
		[TABLE_PLAIN] = NULL,
		[TABLE_HOT] = "\033[31m",
		[TABLE_WARM] = "\033[32m",
	};
	const struct table *t = l->t;

	if (!l->o->separator)
		fprintf(l->out, "%*s", LEFT, "");
	for (size_t i = 0; i < t->nr_columns; i++) {
		size_t cell = row * t->nr_columns + i;
		const char *text = l->names[i] ? short_names_at(l->names[i], row)
					       : text_at(t, cell);

		if (l->o->separator)
			print_separated(l, i, text);
		else
			print_cell(l, i, text, l->o->color ? colors[cell_at(t, cell).color] : NULL);
	}
	fputc('\n', l->out);
}

int
table_print(const struct table *t, FILE *out, const struct table_options *o)
{
	struct layout l = { .t = t, .o = o, .out = out };
	int err = 0;

	if (buf_failed(&t->texts) || buf_failed(&t->cells))
		return -FMT_E_NOMEM;
	set_widths(&l);
	if (!o->separator)
		err = set_names(&l);
	if (err == 0 && !o->rows_only)
		print_title(&l);
	for (size_t i = 0; i < t->nr_cells / t->nr_columns && err == 0; i++) {
		print_row(&l, i);
		if (o->below)
			err = o->below(o->below_arg, i);
	}
	for (size_t i = 0; i < t->nr_columns; i++)
		short_names_free(l.names[i]);
	return err;
}

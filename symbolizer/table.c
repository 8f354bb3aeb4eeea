/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/table.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "format/buf.h"
#include "format/fmt_error.h"
#include "symbolizer/escape.h"

#define GAP 2	     /* between columns */
#define LEFT 2	     /* before the first: room for the "# " of the title */
#define CELL_MIN 8   /* no column is cut to less */
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

static int
char_width(int32_t c)
{
	int w = c < 0 ? 1 : wcwidth((wchar_t)c);

	/* In a locale without UTF-8 nothing is known of it. */
	return w < 0 ? 1 : w;
}

int
table_width(const char *text)
{
	int width = 0;

	while (*text)
		width += char_width(escape_next(&text));
	return width;
}

void
table_cell(struct table *t, const char *text, enum table_color color)
{
	struct cell c = { t->texts.len, 0, color };

	if (!text) {
		t->texts.failed = true;
		return;
	}
	c.width = table_width(text);
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
		widths[i] = table_width(t->columns[i].title);
	for (size_t i = 0; i < t->nr_cells; i++) {
		int w = cell_at(t, i).width;

		if (w > widths[i % t->nr_columns])
			widths[i % t->nr_columns] = w;
	}
}

/* Takes what is too much from the widest column that may be cut, until it fits or none can. */
static void
fit(const struct table *t, int *widths, int terminal)
{
	int total = LEFT + GAP * ((int)t->nr_columns - 1);

	for (size_t i = 0; i < t->nr_columns; i++)
		total += widths[i];
	while (total > terminal) {
		int *widest = NULL;

		for (size_t i = 0; i < t->nr_columns; i++)
			if ((t->columns[i].cut || i + 1 == t->nr_columns) && widths[i] > CELL_MIN &&
			    (!widest || widths[i] > *widest))
				widest = &widths[i];
		if (!widest)
			return;
		(*widest)--;
		total--;
	}
}

/* Prints as much of text as has room in width, the cut marked by "..". */
static void
print_text(FILE *out, const char *text, int text_width, int width)
{
	const char *end = text;
	int left = width - 2;

	if (text_width <= width) {
		fputs(text, out);
		return;
	}
	while (*end) {
		const char *next = end;
		int w = char_width(escape_next(&next));

		if (w > left)
			break;
		left -= w;
		end = next;
	}
	fprintf(out, "%.*s..%*s", (int)(end - text), text, left, "");
}

static void
print_cell(const struct table *t, FILE *out, size_t column, const char *text, int text_width,
	   int width, const char *color)
{
	bool last = column + 1 == t->nr_columns;
	int pad = text_width < width ? width - text_width : 0;

	if (t->columns[column].right)
		fprintf(out, "%*s", pad, "");
	if (color)
		fputs(color, out);
	print_text(out, text, text_width, width);
	if (color)
		fputs("\033[0m", out);
	if (!t->columns[column].right && !last)
		fprintf(out, "%*s", pad, "");
	if (last)
		fputc('\n', out);
	else
		fprintf(out, "%*s", GAP, "");
}

static void
print_title(const struct table *t, FILE *out, const int *widths)
{
	fputs("# ", out);
	for (size_t i = 0; i < t->nr_columns; i++)
		print_cell(t, out, i, t->columns[i].title, table_width(t->columns[i].title),
			   widths[i], NULL);
	fputs("# ", out);
	for (size_t i = 0; i < t->nr_columns; i++) {
		for (int n = 0; n < widths[i] && (i + 1 < t->nr_columns || n < RULER_MAX); n++)
			fputc('.', out);
		if (i + 1 < t->nr_columns)
			fprintf(out, "%*s", GAP, "");
	}
	fputc('\n', out);
	fputs("#\n", out);
}

int
table_print(const struct table *t, FILE *out, int width, bool color)
{
	static const char *const colors[] = {
		[TABLE_PLAIN] = NULL,
		[TABLE_HOT] = "\033[31m",
		[TABLE_WARM] = "\033[32m",
	};
	int widths[COLUMNS_MAX];

	if (buf_failed(&t->texts) || buf_failed(&t->cells))
		return -FMT_E_NOMEM;
	measure(t, widths);
	if (width > 0)
		fit(t, widths, width);
	print_title(t, out, widths);
	for (size_t i = 0; i < t->nr_cells; i++) {
		const struct cell c = cell_at(t, i);
		size_t column = i % t->nr_columns;

		if (column == 0)
			fprintf(out, "%*s", LEFT, "");
		print_cell(t, out, column, (const char *)t->texts.p + c.text, c.width,
			   widths[column], color ? colors[c.color] : NULL);
	}
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table: rows of cells in aligned columns, as perf report's readers know them.
 *
 * Cells have to be escaped already (escape.h): the table counts columns of the terminal, and
 * shortens names only when it is told a terminal's width, or that of a column; what goes to a
 * file or a pipe is whole.
 */
#ifndef SYMBOLIZER_TEXT_TABLE_H
#define SYMBOLIZER_TEXT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum table_color { TABLE_PLAIN, TABLE_HOT, TABLE_WARM };

struct table_column {
	const char *title;
	bool right; /* numbers */
	bool cut;   /* may be shortened (short_names.h) to fit */
	bool tail;  /* then at its end: it is text, and no name */
};

struct table_options {
	int terminal; /* its width; 0: it is none, and as wide as need be */
	bool color;
	bool rows_only;	       /* no title, no ruler */
	const char *separator; /* between cells in place of blanks; in them it becomes '.'; or NULL */
	/* Of the first columns, whatever the terminal's; 0: as wide as need be. */
	const int *widths;
	size_t nr_widths;
	/* Prints what stands below a row: 0, or negative as table_print(); NULL: nothing does. */
	int (*below)(void *arg, size_t row);
	void *below_arg;
};

struct table;

/* columns is borrowed for the table's life. NULL: out of memory. */
struct table *table_new(const struct table_column *columns, size_t nr_columns);
void table_free(struct table *t);

/*
 * Appends the next cell, rows filling from left to right; text is copied. NULL: there was no
 * memory for it, which table_print() tells.
 */
void table_cell(struct table *t, const char *text, enum table_color color);
/* As table_cell(), from a format. */
void table_cellf(struct table *t, enum table_color color, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Prints a title and a ruler, both beginning with "#", and the rows. 0, or -FMT_E_NOMEM when a
 * cell could not be kept (nothing is printed then).
 */
int table_print(const struct table *t, FILE *out, const struct table_options *o);

#endif

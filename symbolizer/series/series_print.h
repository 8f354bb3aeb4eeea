/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * series_print: series over time on stdout: as sparklines, as a map of heat, as JSON.
 */
#ifndef SYMBOLIZER_SERIES_SERIES_PRINT_H
#define SYMBOLIZER_SERIES_SERIES_PRINT_H

#include <stdbool.h>

#include "symbolizer/series/series.h"

/* How the screen is. */
struct series_print {
	struct series *series;
	int terminal; /* columns; 0: it is none */
	bool color, utf8;
	bool heat; /* shades in place of sparklines */
};

/* Columns of time that fit beside the numbers and the names; and, of parts, alone. */
size_t series_print_columns(int terminal, bool parts);

/* The heading, and then each event. 0, negative as fmt_error. A failed write is found out at exit. */
int series_print_text(const struct series_print *p);
int series_print_json(const struct series_print *p);

/* Cells of an event in parts: columns of time, and their SERIES_PARTS from the bottom up. */
void series_print_parts(const struct series_print *p);

/* A row's name as it stands in a pipe, escaped. False: out of memory. */
bool series_print_name(const struct series *s, const struct time_series_row *row, struct buf *out);

#endif

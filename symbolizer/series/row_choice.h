/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * row_choice: the options of a reading command that choose what a row of a series is of, and nothing else of
 * what the filters left. A page puts them into a command line.
 *
 * Of control groups that is tried with the samples' own: options have what is below a group, too, and a unit
 * wherever it is, and a row need not.
 */
#ifndef SYMBOLIZER_SERIES_ROW_CHOICE_H
#define SYMBOLIZER_SERIES_ROW_CHOICE_H

#include "symbolizer/series/series.h"

struct row_choice;

/* Of a series that is open, for its life. NULL: out of memory. */
struct row_choice *row_choice_new(const struct series *s);
void row_choice_free(struct row_choice *c);

/* They stand in for filters of the same names, since values of an option unite. */
struct row_options {
	const char *name;  /* long; NULL: the filters alone choose it */
	const char *value; /* until the next call */
	const char *mode;  /* a further one, without a value; NULL: none */
};

/*
 * Of a row of the event that the series is at. False: no options choose just that row, or it was not tried, there
 * being too many; or there was no memory.
 */
bool row_choice_find(struct row_choice *c, const struct time_series_row *row,
		     struct row_options *ret);
/* The value of --event that chooses the event that the series is at, until the next call; NULL: none does. */
const char *row_choice_event(struct row_choice *c);

#endif

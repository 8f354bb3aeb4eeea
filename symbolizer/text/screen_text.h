/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * screen_text: how much room text takes on a terminal, and sentences that are broken between
 * words there. Text has to be escaped already (escape.h).
 */
#ifndef SYMBOLIZER_TEXT_SCREEN_TEXT_H
#define SYMBOLIZER_TEXT_SCREEN_TEXT_H

#include <stdio.h>

/* Columns that text takes. */
int screen_text_width(const char *text);
/* Takes one character off the front of *text (not at its end): the columns that it takes. */
int screen_text_next(const char **text);

/*
 * Prints a line on a terminal of so many columns (0: it is none), broken between words; lines
 * after the first begin with indent. A word that is longer stays whole.
 */
void screen_text_print(FILE *out, int columns, const char *indent, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Columns of the terminal that the descriptor is; 0: it is none. */
int screen_text_columns(int fd);

/* warnx(3), broken between words where stderr is a terminal. */
void screen_text_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

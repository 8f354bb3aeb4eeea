/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_unit: what a count of an event means, as sysfs has it beside the event: its unit, how much of the unit one
 * count is, whether a count is a level, and whether one CPU of a package counts for all of it.
 *
 * All zero is an event of which nothing is told: its counts are shown as they are.
 */
#ifndef FORMAT_RECORD_COUNT_UNIT_H
#define FORMAT_RECORD_COUNT_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNT_UNIT_NAME_BYTES 32 /* as perf bounds it, with the NUL */

struct count_unit {
	double scale;			  /* so much of the unit one count is; 0: 1 */
	char name[COUNT_UNIT_NAME_BYTES]; /* "Joules"; "": none. Hostile */
	bool snapshot; /* a reading is what there is at that time, and not what was counted until then */
	bool per_pkg; /* each CPU of a package counts all of the package */
};

/* Is anything told? */
bool count_unit_told(const struct count_unit *u);

/* Do counts of both mean the same, and can be added up? */
bool count_unit_same(const struct count_unit *a, const struct count_unit *b);

/*
 * May a recording have it? The scale is 0, or within these: a count in the unit, or by the second, is finite, and so a
 * number of JSON.
 */
#define COUNT_UNIT_SCALE_MIN 1e-100
#define COUNT_UNIT_SCALE_MAX 1e100
bool count_unit_valid(const struct count_unit *u);

/*
 * Reads a decimal number such as 2.3283064365386962890625e-10, with white space at its end. False: it is none, or one
 * that count_unit_valid() refuses.
 */
bool count_unit_scale_parse(const char *text, double *ret);

/* So many counts in the unit. */
double count_unit_value(const struct count_unit *u, uint64_t count);

/* The value as perf stat prints it: with two decimals, unless the scale is a whole number. */
#define COUNT_UNIT_TEXT_BYTES 40
void count_unit_text(const struct count_unit *u, uint64_t count,
		     char text[static COUNT_UNIT_TEXT_BYTES]);

#endif

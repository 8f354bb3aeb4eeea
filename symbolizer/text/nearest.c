/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/text/nearest.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* A part of fewer letters is in everything. */
#define PART_MIN 3

static char
lower(char c)
{
	return (char)tolower((unsigned char)c);
}

static unsigned
least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Optimal string alignment: three rows of the table are enough. */
static unsigned
align(const char *a, size_t na, const char *b, size_t nb)
{
	unsigned rows[3][NEAREST_BYTES_MAX + 1];

	for (size_t k = 0; k <= nb; k++)
		rows[0][k] = (unsigned)k;
	for (size_t i = 1; i <= na; i++) {
		unsigned *row = rows[i % 3];
		const unsigned *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

		row[0] = (unsigned)i;
		for (size_t k = 1; k <= nb; k++) {
			const unsigned other = lower(a[i - 1]) != lower(b[k - 1]);

			row[k] = least(least(above[k], row[k - 1]) + 1, above[k - 1] + other);
			if (i > 1 && k > 1 && lower(a[i - 1]) == lower(b[k - 2]) &&
			    lower(a[i - 2]) == lower(b[k - 1]))
				row[k] = least(row[k], before[k - 2] + 1);
		}
	}
	return rows[na % 3][nb];
}

unsigned
nearest_distance(const char *typed, const char *name, unsigned max)
{
	const size_t na = strlen(typed), nb = strlen(name);
	unsigned distance = max + 1;

	if (strcasecmp(typed, name) == 0)
		return 0;
	if ((na >= PART_MIN && strcasestr(name, typed)) ||
	    (nb >= PART_MIN && strcasestr(typed, name)))
		return 1;
	if (na <= NEAREST_BYTES_MAX && nb <= NEAREST_BYTES_MAX)
		distance = least(align(typed, na, name, nb), max + 1);
	return distance;
}

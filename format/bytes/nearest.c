/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/bytes/nearest.h"

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

unsigned
nearest_allowed(const char *typed)
{
	return strlen(typed) < 6 ? 1 : (unsigned)strlen(typed) / 3;
}

void
nearest_init(struct nearest *n, const char *typed)
{
	*n = (struct nearest){ .typed = typed, .distance = nearest_allowed(typed) + 1 };
}

/* How many letters more or less one has. */
static size_t
longer(const char *a, const char *b)
{
	const size_t na = strlen(a), nb = strlen(b);

	return na > nb ? na - nb : nb - na;
}

void
nearest_offer(struct nearest *n, const char *name)
{
	const size_t typed = strlen(n->typed);
	unsigned distance = nearest_distance(n->typed, name, nearest_allowed(n->typed));

	if (typed > 0 && distance > 1 && strncasecmp(name, n->typed, typed) == 0)
		distance = 1;
	if (distance > n->distance ||
	    (distance == n->distance &&
	     (!n->best || longer(name, n->typed) >= longer(n->best, n->typed))))
		return;
	n->best = name;
	n->distance = distance;
}

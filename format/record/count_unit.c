/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/record/count_unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool
count_unit_told(const struct count_unit *u)
{
	return u->scale != 0 || *u->name || u->snapshot || u->per_pkg;
}

bool
count_unit_same(const struct count_unit *a, const struct count_unit *b)
{
	/* Neither is computed: a scale is as its text had it. */
	return memcmp(&a->scale, &b->scale, sizeof(a->scale)) == 0 &&
		strcmp(a->name, b->name) == 0 && a->snapshot == b->snapshot &&
		a->per_pkg == b->per_pkg;
}

bool
count_unit_valid(const struct count_unit *u)
{
	return u->scale == 0 ||
		(u->scale >= COUNT_UNIT_SCALE_MIN && u->scale <= COUNT_UNIT_SCALE_MAX);
}

/* No program of ours has a locale of numbers (LC_NUMERIC): the decimal point is a point. */
bool
count_unit_scale_parse(const char *text, double *ret)
{
	const size_t len = strspn(text, "0123456789.eE+-");
	struct count_unit u = { 0 };
	char *end;

	if (text[len + strspn(text + len, " \t\n")] != '\0')
		return false;
	u.scale = strtod(text, &end);
	if (len == 0 || end != text + len || u.scale == 0 || !count_unit_valid(&u))
		return false;
	*ret = u.scale;
	return true;
}

double
count_unit_value(const struct count_unit *u, uint64_t count)
{
	return (double)count * (u->scale != 0 ? u->scale : 1);
}

static bool
is_whole(double scale)
{
	return scale >= 0x1p53 || scale == (double)(uint64_t)scale;
}

void
count_unit_text(const struct count_unit *u, uint64_t count, char text[static COUNT_UNIT_TEXT_BYTES])
{
	const double value = count_unit_value(u, count);

	if (u->scale == 0 || u->scale == 1)
		(void)snprintf(text, COUNT_UNIT_TEXT_BYTES, "%" PRIu64, count);
	else if (value >= 1e20)
		(void)snprintf(text, COUNT_UNIT_TEXT_BYTES, "%.6e", value);
	else
		(void)snprintf(text, COUNT_UNIT_TEXT_BYTES, "%.*f", is_whole(u->scale) ? 0 : 2,
			       value);
}

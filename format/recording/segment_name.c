/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/recording/segment_name.h"

#include <string.h>
#include <time.h>

#include "format/bytes/time_text.h"

#define SEQ_DIGITS_MAX 18 /* what 64 bits hold for certain */

/* Takes n digits off the front of *p. */
static bool
take_number(const char **p, size_t n, uint64_t *ret)
{
	*ret = 0;
	for (; n > 0; n--, ++*p) {
		if (**p < '0' || **p > '9')
			return false;
		*ret = *ret * 10 + (uint64_t)(**p - '0');
	}
	return true;
}

/* "20260102T030405.678901Z-" off the front of *p; 0: it is none. */
static uint64_t
take_start(const char **p)
{
	uint64_t date, clock, us;
	struct tm tm = { 0 };
	time_t t;

	if (!take_number(p, 8, &date) || *(*p)++ != 'T' || !take_number(p, 6, &clock) ||
	    *(*p)++ != '.' || !take_number(p, 6, &us) || *(*p)++ != 'Z' || *(*p)++ != '-')
		return 0;
	tm.tm_year = (int)(date / 10000) - 1900;
	tm.tm_mon = (int)(date / 100 % 100) - 1;
	tm.tm_mday = (int)(date % 100);
	tm.tm_hour = (int)(clock / 10000);
	tm.tm_min = (int)(clock / 100 % 100);
	tm.tm_sec = (int)(clock % 100);
	t = timegm(&tm);
	return t > 0 ? (uint64_t)t * SECOND_NS + us * 1000 : 0;
}

void
segment_name_parse(const char *base, struct segment_name *ret)
{
	const char *dash = strrchr(base, '-'), *p = base, *number;
	size_t digits;
	uint64_t seq;

	*ret = (struct segment_name){ 0 };
	ret->start_ns = take_start(&p);
	if (!dash)
		return;
	number = dash + 1;
	digits = strspn(number, "0123456789");
	if (digits > 0 && digits <= SEQ_DIGITS_MAX && take_number(&number, digits, &seq) &&
	    *number == '.')
		ret->seq = seq;
	if (ret->start_ns && dash > p && (size_t)(dash - p) < sizeof(ret->boot))
		memcpy(ret->boot, p, (size_t)(dash - p));
}

static bool
ends_in(const char *s, size_t n, const char *suffix)
{
	size_t m = strlen(suffix);

	return n > m && memcmp(s + n - m, suffix, m) == 0;
}

bool
segment_name_is_active(const char *base)
{
	return ends_in(base, strlen(base), SEGMENT_NAME_ACTIVE);
}

bool
segment_name_is_recording(const char *base)
{
	size_t n = strlen(base);

	if (segment_name_is_active(base))
		n -= strlen(SEGMENT_NAME_ACTIVE);
	return base[0] != '.' && ends_in(base, n, SEGMENT_NAME_SUFFIX);
}

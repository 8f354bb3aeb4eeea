/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/time_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "format/fmt_error.h"

#define TEXT_MAX 64 /* a point in time is shorter */

static const struct {
	const char *names; /* each with a blank behind it */
	uint64_t ns;
} units[] = {
	{ "s sec second seconds ", UINT64_C(1000000000) },
	{ "m min minute minutes ", UINT64_C(60000000000) },
	{ "h hr hour hours ", UINT64_C(3600000000000) },
	{ "d day days ", UINT64_C(86400000000000) },
	{ "w week weeks ", 7 * UINT64_C(86400000000000) },
	{ "ms msec ", UINT64_C(1000000) },
	{ "us usec ", UINT64_C(1000) },
	{ "ns nsec ", 1 },
};

/* Of a number, behind its point. */
struct fraction {
	const char *digits;
	size_t nr;
};

/* Takes the digits off the front of *text: how many, or -FMT_E_TOO_BIG. */
static int
take_digits(const char **text, uint64_t *ret)
{
	uint64_t n = 0;
	int digits = 0;

	for (; **text >= '0' && **text <= '9'; (*text)++, digits++) {
		if (__builtin_mul_overflow(n, 10u, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(**text - '0'), &n))
			return -FMT_E_TOO_BIG;
	}
	*ret = n;
	return digits;
}

/* Takes a word's worth of unit off the front of *text; 0: it is none. */
static uint64_t
take_unit(const char **text)
{
	size_t n = strspn(*text, "abcdefghijklmnopqrstuvwxyz");

	for (size_t i = 0; n > 0 && i < sizeof(units) / sizeof(units[0]); i++) {
		for (const char *name = units[i].names; *name; name = strchr(name, ' ') + 1) {
			if (strncmp(name, *text, n) == 0 && name[n] == ' ') {
				*text += n;
				return units[i].ns;
			}
		}
	}
	return 0;
}

/* Takes ".5" off the front of *text, if it is there: its digits, which stand in *ret. */
static bool
take_fraction(const char **text, struct fraction *ret)
{
	ret->digits = *text;
	ret->nr = 0;
	if (**text != '.')
		return true;
	ret->digits = ++*text;
	ret->nr = strspn(*text, "0123456789");
	*text += ret->nr;
	return ret->nr > 0;
}

/* Rounded down to ns. */
static uint64_t
fraction_of(const struct fraction *f, uint64_t unit_ns)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < f->nr; i++) {
		unit_ns /= 10;
		ns += unit_ns * (uint64_t)(f->digits[i] - '0');
	}
	return ns;
}

int
time_text_duration(const char *text, uint64_t *ret_ns)
{
	uint64_t n, unit, ns = 0;
	struct fraction fraction;
	bool first = true;

	do {
		int digits = take_digits(&text, &n);

		if (digits < 0)
			return digits;
		if (digits == 0 || !take_fraction(&text, &fraction))
			return -FMT_E_CORRUPT;
		text += strspn(text, " \t");
		/* A bare number stands alone: what would "1h 5" be? */
		unit = first && *text == '\0' ? SECOND_NS : take_unit(&text);
		first = false;
		if (unit == 0)
			return -FMT_E_CORRUPT;
		if (__builtin_mul_overflow(n, unit, &n) ||
		    __builtin_add_overflow(n, fraction_of(&fraction, unit), &n) ||
		    __builtin_add_overflow(ns, n, &ns))
			return -FMT_E_TOO_BIG;
		text += strspn(text, " \t");
	} while (*text);
	*ret_ns = ns;
	return 0;
}

static int
seconds_to_ns(int64_t s, int64_t fraction_ns, int64_t *ret_ns)
{
	int64_t ns;

	if (__builtin_mul_overflow(s, SECOND_NS, &ns) ||
	    __builtin_add_overflow(ns, fraction_ns, &ns))
		return -FMT_E_CORRUPT;
	*ret_ns = ns;
	return 0;
}

static int
parse_epoch(const char *text, int64_t *ret_ns)
{
	struct fraction fraction;
	uint64_t s;

	if (take_digits(&text, &s) <= 0 || s > INT64_MAX || !take_fraction(&text, &fraction) ||
	    *text)
		return -FMT_E_CORRUPT;
	return seconds_to_ns((int64_t)s, (int64_t)fraction_of(&fraction, SECOND_NS), ret_ns);
}

static int
parse_relative(const char *text, int64_t now_ns, bool ago, int64_t *ret_ns)
{
	uint64_t ns;
	int64_t at;

	if (time_text_duration(text, &ns) != 0 || ns > INT64_MAX)
		return -FMT_E_CORRUPT;
	if (ago ? __builtin_sub_overflow(now_ns, (int64_t)ns, &at)
		: __builtin_add_overflow(now_ns, (int64_t)ns, &at))
		return -FMT_E_CORRUPT;
	*ret_ns = at;
	return 0;
}

static int64_t
floor_seconds(int64_t ns)
{
	return ns / SECOND_NS - (ns % SECOND_NS < 0);
}

static void
split(int64_t s, bool utc, struct tm *tm)
{
	const time_t t = (time_t)s;

	if (utc)
		gmtime_r(&t, tm);
	else
		localtime_r(&t, tm);
}

static int
join(struct tm *tm, bool utc, int64_t fraction_ns, int64_t *ret_ns)
{
	time_t t;

	tm->tm_isdst = -1;
	t = utc ? timegm(tm) : mktime(tm);
	/* No recording is older than its format; and -1 is how mktime() fails. */
	return t < 0 ? -FMT_E_CORRUPT : seconds_to_ns(t, fraction_ns, ret_ns);
}

/* Midnight, so many days from today. */
static int
parse_day(int days, int64_t now_ns, bool utc, int64_t *ret_ns)
{
	struct tm tm;

	split(floor_seconds(now_ns), utc, &tm);
	tm.tm_mday += days;
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	return join(&tm, utc, 0, ret_ns);
}

/* A weekday in front has to be the right one, as in systemd: it is there to be checked. */
static int
parse_calendar(const char *text, int64_t now_ns, bool utc, int64_t *ret_ns)
{
	static const struct {
		const char *format;
		bool today, seconds;
	} forms[] = {
		{ "%Y-%m-%d %H:%M:%S", false, true },
		{ "%Y-%m-%dT%H:%M:%S", false, true },
		{ "%Y-%m-%d %H:%M", false, false },
		{ "%Y-%m-%dT%H:%M", false, false },
		{ "%Y-%m-%d", false, false },
		{ "%H:%M:%S", true, true },
		{ "%H:%M", true, false },
	};
	struct tm day = { 0 };
	const char *behind = strptime(text, "%a ", &day);

	if (behind && behind > text && behind[-1] != ' ')
		return -FMT_E_CORRUPT;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct tm tm = { 0 };
		struct fraction fraction = { .nr = 0 };
		const char *end;
		int error;

		if (forms[i].today) {
			split(floor_seconds(now_ns), utc, &tm);
			tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
		}
		end = strptime(behind ? behind : text, forms[i].format, &tm);
		if (!end || (forms[i].seconds && !take_fraction(&end, &fraction)) || *end)
			continue;
		error = join(&tm, utc, (int64_t)fraction_of(&fraction, SECOND_NS), ret_ns);
		return !error && behind && tm.tm_wday != day.tm_wday ? -FMT_E_CORRUPT : error;
	}
	return -FMT_E_CORRUPT;
}

static bool
ends_in(char *text, const char *tail)
{
	size_t n = strlen(text), m = strlen(tail);

	if (n <= m || strcmp(text + n - m, tail) != 0)
		return false;
	text[n - m] = '\0';
	return true;
}

int
time_text_instant(const char *text, int64_t now_ns, int64_t *ret_ns)
{
	static const struct {
		const char *word;
		int days;
	} words[] = { { "today", 0 }, { "yesterday", -1 }, { "tomorrow", 1 } };
	char copy[TEXT_MAX];
	int64_t ns;
	bool utc;
	int error;

	if (strlen(text) >= sizeof(copy))
		return -FMT_E_CORRUPT;
	memcpy(copy, text, strlen(text) + 1);
	if (strcmp(copy, "now") == 0) {
		*ret_ns = now_ns;
		return 0;
	}
	if (*copy == '@')
		return parse_epoch(copy + 1, ret_ns);
	if (*copy == '-' || *copy == '+')
		return parse_relative(copy + 1, now_ns, *copy == '-', ret_ns);
	if (ends_in(copy, " ago"))
		return parse_relative(copy, now_ns, true, ret_ns);
	utc = ends_in(copy, " UTC");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(copy, words[i].word) == 0)
			return parse_day(words[i].days, now_ns, utc, ret_ns);
	error = parse_calendar(copy, now_ns, utc, &ns);
	if (!error)
		*ret_ns = ns;
	return error;
}

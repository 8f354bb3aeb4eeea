/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/bytes/time_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "format/bytes/fmt_error.h"

#define TEXT_MAX 128 /* a point in time is shorter */
#define BLANKS " \t\n\r"
#define DAY_S 86400
#define ZONES "/usr/share/zoneinfo/"

static const struct {
	const char *names; /* each with a blank behind it */
	uint64_t ns;
} units[] = {
	{ "s sec second seconds ", UINT64_C(1000000000) },
	{ "m min minute minutes ", UINT64_C(60000000000) },
	{ "h hr hour hours ", UINT64_C(3600000000000) },
	{ "d day days ", UINT64_C(86400000000000) },
	{ "w week weeks ", 7 * UINT64_C(86400000000000) },
	/* On the average, as systemd has it: a year is 365.25 days. */
	{ "M month months ", UINT64_C(2629800000000000) },
	{ "y year years ", UINT64_C(31557600000000000) },
	{ "ms msec ", UINT64_C(1000000) },
	/* Micro sign and Greek mu. */
	{ "us usec \302\265s \316\274s ", UINT64_C(1000) },
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
	size_t n = strcspn(*text, "0123456789.+-" BLANKS);

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

/* Takes a number and its unit off the front of *text, and adds them to *ns. */
static int
take_part(const char **text, uint64_t *ns)
{
	struct fraction fraction;
	const char *behind;
	uint64_t n, unit;
	int digits;

	*text += **text == '+';
	digits = take_digits(text, &n);
	if (digits < 0)
		return digits;
	if (!take_fraction(text, &fraction) || (digits == 0 && fraction.nr == 0))
		return -FMT_E_CORRUPT;
	behind = *text + strspn(*text, BLANKS);
	unit = take_unit(&behind);
	/* "5 5s" is ten seconds, and "5x" is nothing. */
	if (unit == 0 && behind == *text && *behind)
		return -FMT_E_CORRUPT;
	if (unit == 0)
		unit = SECOND_NS;
	*text = behind;
	if (__builtin_mul_overflow(n, unit, &n) ||
	    __builtin_add_overflow(n, fraction_of(&fraction, unit), &n) ||
	    __builtin_add_overflow(*ns, n, ns))
		return -FMT_E_TOO_BIG;
	return 0;
}

int
time_text_duration(const char *text, uint64_t *ret_ns)
{
	uint64_t ns = 0;
	int error;

	text += strspn(text, BLANKS);
	do {
		error = take_part(&text, &ns);
		if (error)
			return error;
		text += strspn(text, BLANKS);
	} while (*text);
	*ret_ns = ns;
	return 0;
}

/* --- points in time ---------------------------------------------------------------------- */

/* What the fields of a date mean. */
struct zone {
	bool utc;	  /* or so far from it */
	int64_t offset_s; /* east */
	int dst;	  /* local: as tm_isdst; -1: as it is then */
	const char *name; /* of another local time; NULL */
};

static int
parse_relative(const char *text, int64_t base_ns, bool before, int64_t *ret_ns)
{
	uint64_t ns;
	int64_t at;

	if (time_text_duration(text, &ns) != 0 || ns > INT64_MAX)
		return -FMT_E_CORRUPT;
	if (before ? __builtin_sub_overflow(base_ns, (int64_t)ns, &at)
		   : __builtin_add_overflow(base_ns, (int64_t)ns, &at))
		return -FMT_E_CORRUPT;
	if (at < 0)
		return -FMT_E_CORRUPT;
	*ret_ns = at;
	return 0;
}

static void
time_text_split(int64_t now_ns, const struct zone *zone, struct tm *tm)
{
	const time_t t = (time_t)(now_ns / SECOND_NS - (now_ns % SECOND_NS < 0) + zone->offset_s);

	if (zone->utc)
		gmtime_r(&t, tm);
	else
		localtime_r(&t, tm);
	tm->tm_hour = tm->tm_min = tm->tm_sec = 0;
}

static int
join(struct tm *tm, const struct zone *zone, int64_t fraction_ns, int64_t *ret_ns)
{
	int64_t ns;
	time_t t;

	tm->tm_isdst = zone->dst;
	t = (zone->utc ? timegm(tm) : mktime(tm)) - zone->offset_s;
	/* No recording is older than its format; and -1 is how mktime() fails. */
	if (t < 0 || __builtin_mul_overflow(t, SECOND_NS, &ns) ||
	    __builtin_add_overflow(ns, fraction_ns, &ns))
		return -FMT_E_CORRUPT;
	*ret_ns = ns;
	return 0;
}

/* "03:12", "03:12:00.5", to the end of text; midnight has been set. */
static bool
take_clock(const char *text, struct tm *tm, struct fraction *fraction)
{
	const struct tm before = *tm;
	const char *end = strptime(text, " %H:%M:%S", tm);

	if (end && take_fraction(&end, fraction) && !*end)
		return true;
	*tm = before;
	fraction->nr = 0;
	end = strptime(text, " %H:%M", tm);
	return end && !*end;
}

/* Takes "26-11-21" or "2026-11-21" off the front of *text. */
static bool
take_date(const char **text, struct tm *tm)
{
	const char *end = strptime(*text, "%y-%m-%d", tm);

	if (!end)
		end = strptime(*text, "%Y-%m-%d", tm);
	if (end)
		*text = end;
	return end;
}

/* A weekday in front has to be the right one, as in systemd: it is there to be checked. */
static int
parse_calendar(const char *text, int64_t now_ns, const struct zone *zone, int64_t *ret_ns)
{
	struct fraction fraction = { .nr = 0 };
	struct tm tm = { 0 }, day = { 0 };
	const char *behind = strptime(text, "%a ", &day);

	if (behind && behind[-1] != ' ')
		return -FMT_E_CORRUPT;
	text = behind ? behind : text;
	if (take_date(&text, &tm)) {
		text += *text == 'T';
		if ((*text || text[-1] == 'T') && !take_clock(text, &tm, &fraction))
			return -FMT_E_CORRUPT;
	} else {
		time_text_split(now_ns, zone, &tm);
		if (!take_clock(text, &tm, &fraction))
			return -FMT_E_CORRUPT;
	}
	if (behind && tm.tm_wday != day.tm_wday)
		return -FMT_E_CORRUPT;
	return join(&tm, zone, (int64_t)fraction_of(&fraction, SECOND_NS), ret_ns);
}

/* A date, a day by its name, a time of day. */
static int
parse_fields(const char *text, int64_t now_ns, const struct zone *zone, int64_t *ret_ns)
{
	static const struct {
		const char *word;
		int days;
	} words[] = { { "today", 0 }, { "yesterday", -1 }, { "tomorrow", 1 } };
	struct fraction fraction = { .nr = 0 };
	struct tm tm;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *behind = text + strlen(words[i].word);

		if (strncmp(text, words[i].word, strlen(words[i].word)) != 0 ||
		    (*behind && *behind != ' '))
			continue;
		time_text_split(now_ns, zone, &tm);
		if (*behind && !take_clock(behind, &tm, &fraction))
			return -FMT_E_CORRUPT;
		tm.tm_mday += words[i].days;
		return join(&tm, zone, (int64_t)fraction_of(&fraction, SECOND_NS), ret_ns);
	}
	return parse_calendar(text, now_ns, zone, ret_ns);
}

/* Is it the name of a file that says what time it is where? libc takes any other for UTC. */
static bool
is_zone_name(const char *name)
{
	char path[sizeof(ZONES) + TEXT_MAX], magic[4];
	bool good;
	FILE *f;

	if (!isalpha((unsigned char)*name) || strstr(name, ".."))
		return false;
	(void)snprintf(path, sizeof(path), ZONES "%s", name);
	f = fopen(path, "re");
	if (!f)
		return false;
	good = fread(magic, 1, sizeof(magic), f) == sizeof(magic) && memcmp(magic, "TZif", 4) == 0;
	(void)fclose(f);
	return good;
}

static bool
parse_offset(const char *text, struct zone *zone)
{
	struct tm tm = { 0 };
	const char *end = strptime(text, "%z", &tm);

	if (!end || *end || tm.tm_gmtoff > DAY_S || tm.tm_gmtoff < -DAY_S)
		return false;
	zone->utc = true;
	zone->offset_s = tm.tm_gmtoff;
	return true;
}

/* The sign of an offset right behind a time of day ("T03:12+01:00"), or its Z; NULL. */
static char *
find_welded(char *text)
{
	char *clock = strchr(text, ':'), *at = clock ? strpbrk(clock, "+-Z") : NULL;

	return at && isdigit((unsigned char)at[-1]) ? at : NULL;
}

/* Cuts the zone off the end of text, which zone->name goes on to point into. */
static void
take_zone(char *text, struct zone *zone)
{
	char *welded = find_welded(text), *word = strrchr(text, ' ');

	*zone = (struct zone){ .dst = -1 };
	if (welded && parse_offset(welded, zone)) {
		*welded = '\0';
		return;
	}
	if (!word || !word[1])
		return;
	tzset();
	if (strcasecmp(word + 1, "UTC") == 0)
		zone->utc = true;
	else if (strcasecmp(word + 1, tzname[0]) == 0)
		zone->dst = 0;
	else if (strcasecmp(word + 1, tzname[1]) == 0)
		zone->dst = 1;
	else if (!parse_offset(word + 1, zone) && !is_zone_name(word + 1))
		return;
	else if (!zone->utc)
		zone->name = word + 1;
	*word = '\0';
}

/* Where the clock is another one. libc knows only the zone of the environment. */
static int
parse_elsewhere(const char *text, int64_t now_ns, const struct zone *zone, const char *tz,
		int64_t *ret_ns)
{
	int error = -FMT_E_NOMEM;

	if (setenv("TZ", zone->name, 1) == 0) {
		tzset();
		error = parse_fields(text, now_ns, zone, ret_ns);
		if (tz ? setenv("TZ", tz, 1) : unsetenv("TZ"))
			error = -FMT_E_NOMEM;
		tzset();
	}
	return error;
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

/* "10m", but not "2026", which would be a year. */
static bool
is_bare_duration(const char *text)
{
	uint64_t ns;

	return isdigit((unsigned char)*text) && text[strspn(text, "0123456789.+" BLANKS)] &&
		time_text_duration(text, &ns) == 0;
}

int
time_text_instant(const char *text, int64_t now_ns, const char *tz, int64_t *ret_ns)
{
	char copy[TEXT_MAX];
	struct zone zone;

	if (strlen(text) >= sizeof(copy))
		return -FMT_E_CORRUPT;
	memcpy(copy, text, strlen(text) + 1);
	if (*copy == '@')
		return parse_relative(copy + 1, 0, false, ret_ns);
	if (strcmp(copy, "now") == 0) {
		*ret_ns = now_ns;
		return 0;
	}
	if (*copy == '-' || *copy == '+')
		return parse_relative(copy + 1, now_ns, *copy == '-', ret_ns);
	if (ends_in(copy, " ago") || is_bare_duration(copy))
		return parse_relative(copy, now_ns, true, ret_ns);
	if (ends_in(copy, " left"))
		return parse_relative(copy, now_ns, false, ret_ns);
	take_zone(copy, &zone);
	return zone.name ? parse_elsewhere(copy, now_ns, &zone, tz, ret_ns)
			 : parse_fields(copy, now_ns, &zone, ret_ns);
}

void
time_text_utc(time_t t, char ret[TIME_TEXT_UTC_BYTES])
{
	struct tm tm;

	if (!gmtime_r(&t, &tm) ||
	    strftime(ret, TIME_TEXT_UTC_BYTES, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		memcpy(ret, "?", sizeof("?"));
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * @full
 *
 * Times as people write them, with systemd-analyze as the oracle.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

#include "format/bytes/fmt_error.h"
#include "format/bytes/time_text.h"

#define S INT64_C(1000000000)
#define NOW_S INT64_C(1795230720) /* 2026-11-21 03:12:00 UTC, a Saturday */
#define NOW (NOW_S * S + 250000000)

static void
zone(const char *name)
{
	setenv("TZ", name, 1);
	tzset();
}

static int64_t
parse(const char *text)
{
	int64_t ns = -1;
	int r = time_text_instant(text, NOW, getenv("TZ"), &ns);

	if (r != (ns < 0 ? -FMT_E_CORRUPT : 0))
		fail_msg("%s: %d, %jd", text, r, (intmax_t)ns);
	return ns;
}

static void
times_are_as_journalctl_has_them(void **state)
{
	const int64_t today = (NOW_S - (3 * 60 + 12) * 60) * S;

	zone("UTC");
	assert_int_equal(parse("now"), NOW);
	assert_int_equal(parse("@1795230000"), 1795230000 * S);
	assert_int_equal(parse("@1795230000.25"), 1795230000 * S + S / 4);
	assert_int_equal(parse("-10m"), NOW - 600 * S);
	assert_int_equal(parse("-1h30m"), NOW - 5400 * S);
	assert_int_equal(parse("10 min ago"), NOW - 600 * S);
	assert_int_equal(parse("2 hours 5s ago"), NOW - 7205 * S);
	assert_int_equal(parse("+5s"), NOW + 5 * S);
	assert_int_equal(parse("10m"), NOW - 600 * S);
	assert_int_equal(parse("1h 30min"), NOW - 5400 * S);
	assert_int_equal(parse("5s left"), NOW + 5 * S);
	assert_int_equal(parse("26-11-21 03:12"), NOW_S * S);
	assert_int_equal(parse("today"), today);
	assert_int_equal(parse("yesterday"), today - 86400 * S);
	assert_int_equal(parse("tomorrow"), today + 86400 * S);
	/* which systemd refuses */
	assert_int_equal(parse("yesterday 03:10"), today - 86400 * S + 190 * 60 * S);
	assert_int_equal(parse("today 03:10:05.5"), today + 11405 * S + S / 2);
	assert_int_equal(parse("03:12"), NOW_S * S);
	assert_int_equal(parse("03:12:05"), (NOW_S + 5) * S);
	assert_int_equal(parse("03:12:05.000000001"), (NOW_S + 5) * S + 1);
	assert_int_equal(parse("2026-11-21"), today);
	assert_int_equal(parse("2026-11-21 03:12"), NOW_S * S);
	assert_int_equal(parse("2026-11-21 03:11:59"), (NOW_S - 1) * S);
	assert_int_equal(parse("2026-11-21T03:12:00.5"), NOW_S * S + S / 2);
	assert_int_equal(parse("Sat 2026-11-21 03:12"), NOW_S * S);
	assert_int_equal(parse("Saturday 2026-11-21"), today);
}

static void
zones(void **state)
{
	zone("Europe/Berlin");
	assert_int_equal(parse("2026-11-21 04:12"), NOW_S * S);
	assert_int_equal(parse("2026-11-21 03:12 UTC"), NOW_S * S);
	assert_int_equal(parse("04:12"), NOW_S * S);
	assert_int_equal(parse("03:12 UTC"), NOW_S * S);
	assert_int_equal(parse("today UTC") - parse("today"), 3600 * S);
	/* Summer there, winter now. */
	assert_int_equal(parse("2026-07-01 02:00"), parse("2026-07-01 00:00 UTC"));
	/* The day that the clock went back was longer. */
	assert_int_equal(parse("2026-10-26") - parse("2026-10-25"), 25 * 3600 * S);
	/* The hour that came twice: its name tells which. */
	assert_int_equal(parse("2026-10-25 02:30 CEST"), INT64_C(1792888200) * S);
	assert_int_equal(parse("2026-10-25 02:30 CET"), INT64_C(1792891800) * S);
	zone("UTC");
}

static void
other_zones(void **state)
{
	static const char *const forms[] = {
		"2026-11-21T03:12:00Z",
		"2026-11-21T04:12:00+01:00",
		"2026-11-21T04:12+0100",
		"2026-11-20T22:12-05",
		"2026-11-20 22:12:00 -05:00",
		"Fri 2026-11-20 22:12:00-05:00",
		"2026-11-21 04:12 Europe/Berlin",
		"2026-11-21 12:12:00 Asia/Tokyo",
		"2026-11-20 22:12 Etc/GMT+5",
		"04:12 Europe/Berlin",
		"2026-11-21 04:12:00.0 utc",
		"03:12+00:00",
		"04:12 +01:00",
	};

	/* What is local does not matter, and stays. */
	for (int i = 0; i < 2; i++) {
		zone(i ? "America/New_York" : "UTC");
		for (size_t k = 0; k < sizeof(forms) / sizeof(forms[0]); k++) {
			int64_t ns = parse(forms[k]);

			if (strstr(forms[k], "utc"))
				ns -= 3600 * S;
			if (ns != NOW_S * S)
				fail_msg("%s: %jd", forms[k], (intmax_t)ns);
		}
		assert_string_equal(getenv("TZ"), i ? "America/New_York" : "UTC");
		assert_int_equal(parse("2026-11-21 00:00"),
				 (NOW_S - (3 * 60 + 12) * 60 + i * 5 * 3600) * S);
	}
	unsetenv("TZ");
	assert_int_equal(parse("2026-11-21 04:12 Europe/Berlin"), NOW_S * S);
	assert_null(getenv("TZ"));
	zone("Pacific/Auckland");
	/* 16:12 on Saturday there, and still Friday in New York. */
	assert_int_equal(parse("today America/New_York"), INT64_C(1795150800) * S);
	assert_int_equal(parse("tomorrow America/New_York"), INT64_C(1795237200) * S);
	zone("UTC");
}

/* --- as systemd-analyze has them ---------------------------------------------------------- */

/* What it prints behind "NAME: "; false: it refuses the text. -1: there is none. */
static int
analyze(const char *verb, const char *text, const char *name, char *ret, size_t size)
{
	char command[512], line[256], *at;
	bool found = false;
	FILE *f;
	int status;

	snprintf(command, sizeof(command), "systemd-analyze %s -- '%s' 2>/dev/null", verb, text);
	f = popen(command, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		at = strstr(line, name);
		if (!at)
			continue;
		found = true;
		at += strlen(name);
		at[strcspn(at, "\n")] = '\0';
		snprintf(ret, size, "%s", at);
	}
	status = pclose(f);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return -1;
	return found;
}

static int64_t
realtime(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * S + ts.tv_nsec;
}

/* Theirs is between ours of before and ours of after, in us. false: they refuse what we take. */
static bool
compare_instant(const char *text, bool must)
{
	int64_t before = realtime(), after, low = -1, high = -1;
	unsigned long long s = 0, us = 0;
	char theirs[64] = "";
	int taken, r;

	taken = analyze("timestamp", text, "UNIX seconds: @", theirs, sizeof(theirs));
	after = realtime();
	r = time_text_instant(text, before, getenv("TZ"), &low);
	assert_int_equal(time_text_instant(text, after, getenv("TZ"), &high), r);
	if (!taken && (r != 0 || !must))
		return r != 0;
	if (!taken || r != 0)
		fail_msg("'%s': ours %d, theirs %s", text, r, taken ? theirs : "refused");
	/* "@1795230720", "@1795230720.250000" */
	assert_true(sscanf(theirs, "%llu.%6llu", &s, &us) >= 1);
	if (low / 1000 > (int64_t)(s * 1000000 + us) || high / 1000 < (int64_t)(s * 1000000 + us))
		fail_msg("'%s': ours %jd to %jd, theirs %s", text, (intmax_t)low, (intmax_t)high,
			 theirs);
	return true;
}

static const char *const instants[] = {
	"now",
	"today",
	"yesterday",
	"tomorrow",
	"Today",
	"NOW",
	"today UTC",
	"now UTC",
	"-5s",
	"- 5s",
	"-5",
	"-1h30m",
	"-1h 30min 5",
	"-2 weeks",
	"-1month",
	"-1M",
	"-1y",
	"+3h30min",
	"+5",
	"++5",
	"+-5",
	"-",
	"+",
	"11min ago",
	" 11min ago",
	"11min  ago",
	"11min Ago",
	"1.5h ago",
	".5h ago",
	"5 ago",
	"ago",
	" ago",
	"-5s ago",
	"5s left",
	"1 day 2 hours left",
	"left",
	"12-10-03",
	"12-10-03 12:02",
	"12-10-03 12:02:03",
	"12-10-03 12:02:03.25",
	"12-10-03 12:02:",
	"70-01-02",
	"69-01-01",
	"5-1-2",
	"120-10-03",
	"2012-10-03",
	"2012-1-3",
	"2012-10-3 4:5",
	"2012-10-3 4:5:6",
	" 2012-10-03",
	"2012-10-03 ",
	"2012-10-03   12:02",
	"2012-10-0312:02",
	"2012-10-03 12:02:03.000001",
	"2012-10-03 12:02:03.",
	"2012-10-03 12:02.5",
	"2012-10-03 12:02 x",
	"2012-10-03 24:00",
	"2012-10-03 23:59:60",
	"2012-10-03 23:60",
	"2012-13-03",
	"2012-00-03",
	"2012-02-30",
	"2012-02-32",
	"2012-10",
	"2012",
	"20121003",
	"12:02 2012-10-03",
	"Wed 2012-10-03",
	"wednesday 2012-10-03 12:02",
	"WED 2012-10-03",
	"Wednes 2012-10-03",
	"Wed  2012-10-03",
	"Wed, 2012-10-03",
	"Wed2012-10-03",
	" Wed 2012-10-03",
	"Thu 2012-10-03",
	"Wed 12-10-03",
	"Fri 2012-02-31",
	"Wed",
	"Wed ",
	"Wed today",
	"03:04",
	"3:4",
	"03:04:05",
	"03:04:05.5",
	"03:04.5",
	"03",
	"03:",
	"25:00",
	"03:04 UTC",
	"03:04UTC",
	"2012-10-03 12:02 UTC",
	"2012-10-03 UTC",
	"2012-10-03  UTC",
	"Wed 2012-10-03 12:02:03 UTC",
	"UTC",
	" UTC",
	"2012-01-03 12:02 CEST",
	"2012-10-28 02:30 CEST",
	"2012-10-03 12:02 CETX",
	"2012-10-03 12:02 Mars/Olympus",
	"@0",
	"@1395716396",
	"@1395716396.5",
	"@1395716396.123456",
	"@1h30m",
	"@-5",
	"@",
	"@x",
	"@5 UTC",
	"",
	"x",
	"1970-01-01 UTC",
	"1969-12-31 UTC",
	"1800-01-01",
	"-60y",
	"yesterday x",
	"10 parsecs ago",
};

/* Of ours alone, or of later versions of systemd as well. */
static const char *const more_instants[] = {
	"10m",
	"1h30m",
	"2012-10-03T12:02",
	"2012-10-03T12:02:03",
	"2012-10-03T12:02:03Z",
	"2012-10-03T12:02:03.5Z",
	"2012-10-03T12:02:03+02:00",
	"2012-10-03 12:02:03 +02:00",
	"2012-10-03 12:02:03 -0930",
	"2012-10-03 12:02 Asia/Tokyo",
	"2012-10-03 Asia/Tokyo",
	"2012-10-03 12:02 CET",
	"2012-10-28 02:30 CET",
	"today Pacific/Auckland",
	/* Debian 12's takes these, Debian 13's wants capitals. */
	"yesterday utc",
	"03:04 utc",
	"2012-10-03 12:02 cest",
};

static void
instants_are_as_systemd_has_them(void **state)
{
	char text[64];

	if (analyze("timestamp", "@0", "UNIX seconds: @", text, sizeof(text)) < 0) {
		print_message("skipped: there is no systemd-analyze that knows it\n");
		skip();
	}
	for (int i = 0; i < 2; i++) {
		zone(i ? "Europe/Berlin" : "UTC");
		for (size_t k = 0; k < sizeof(instants) / sizeof(instants[0]); k++)
			assert_true(compare_instant(instants[k], true));
		for (size_t k = 0; k < sizeof(more_instants) / sizeof(more_instants[0]); k++)
			(void)compare_instant(more_instants[k], false);
	}
	zone("UTC");
}

static void
durations_are_as_systemd_has_them(void **state)
{
	static const char *const texts[] = {
		"0",
		"90",
		"500ms",
		"5s",
		"1h30m",
		"1h 30 m",
		"2 days",
		"1w",
		"3us",
		"3 \302\265s",
		"3usec",
		"5 seconds",
		"1 second",
		"5 minutes",
		"1hr2min3sec",
		"0.3s",
		".5s",
		"1.5",
		"1.5 .5",
		"1h 5",
		"1h5",
		"0h 5",
		"5 5s",
		"5 5",
		"1M",
		"1 month",
		"2months",
		"1y",
		"2 years",
		"1d 1",
		"+5s",
		"1h +5s",
		" 5s",
		"5s ",
		"5\ts",
		"1s.5",
		"0.25m",
		"1.000001s",
		"3 hours 4msec",
		"1w2d3h4m5s6ms7us",
		"",
		" ",
		"x",
		"5x",
		"5 parsecs",
		"-1s",
		"- 1s",
		"1s-1s",
		"1.s",
		"1.",
		".",
		".s",
		"1.2.3s",
		"m",
		"5mi",
		"5mins",
		"5 m s",
		"5M s",
		"5S",
		"5H",
		"5,3s",
		"5s,3s",
		"1e3",
		"0x10",
		"1h30",
		"99999999999999999999",
	};
	char theirs[64];
	int taken;

	if (analyze("timespan", "1s", "s: ", theirs, sizeof(theirs)) < 0) {
		print_message("skipped: there is no systemd-analyze that knows it\n");
		skip();
	}
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		uint64_t ns = 0;
		int r = time_text_duration(texts[i], &ns);

		taken = analyze("timespan", texts[i], "s: ", theirs, sizeof(theirs));
		if (taken != (r == 0))
			fail_msg("'%s': ours %d, theirs %s", texts[i], r,
				 taken ? theirs : "refused");
		if (taken && ns / 1000 != strtoull(theirs, NULL, 10))
			fail_msg("'%s': ours %ju ns, theirs %s us", texts[i], (uintmax_t)ns,
				 theirs);
	}
}

static void
what_is_no_time_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"x",
		"10",
		"10 m x",
		"@",
		"@-1",
		"@1x",
		"@1.",
		"-",
		"-x",
		"25:00",
		"03:12x",
		"03:12:",
		"2026",
		"2026-13-01",
		"2026-11-21 ",
		"1800-01-01",
		"Sun 2026-11-21",
		"Sat",
		"Sat ",
		"ago",
		" ago",
		"x ago",
		"-10m ago",
		"03:12.5",
		"03:12:05.",
		"@9223372036854775807",
		"-600000000000s",
		"-60y",
		"5 +3",
		" +5s",
		"2026-11-21 03:12 Mars/Olympus",
		"2026-11-21 03:12 Europe",
		"2026-11-21 03:12 ../zoneinfo/Europe/Berlin",
		"2026-11-21T03:12:00+25:00",
		"2026-11-21T",
		"2026-11-21T+01:00",
		"now UTC ",
		"UTC",
		"2026-11-21 03:12:00                                                             "
		"                                                             and much more",
	};

	zone("UTC");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (parse(bad[i]) != -1)
			fail_msg("taken: %s", bad[i]);
}

static void
durations(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{ "0", 0 },
		{ "90", 90000000000 },
		{ "500ms", 500000000 },
		{ "1h30m", 5400 * S },
		{ "1h 30 m", 5400 * S },
		{ "2 days", 172800 * S },
		{ "1w", 604800 * S },
		{ "3us", 3000 },
		{ "7ns", 7 },
		{ "5 seconds", 5 * S },
		{ "1hr2min3sec", 3723 * S },
		{ "0.3s", 300000000 },
		{ "1.5", 1500000000 },
		{ "1.5h 0.25m 2.0000000019s", 5417 * S + 1 },
		{ "0.9ns", 0 },
		{ "1h 5", 3605 * S },
		{ "5 5s", 10 * S },
		{ ".5s", S / 2 },
		{ "1month", 2629800 * S },
		{ "2y 1M", 65745000 * S },
		{ "5\302\265s 3\316\274s", 8000 },
	};
	static const char *const bad[] = { "",	"x",   "5 parsecs", "-1s", "1.s", "1.2.3s",
					   "m", "5mi", "5mins",	    "5x",  "5S",  "infinity" };
	uint64_t ns = 77;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (time_text_duration(bad[i], &ns) != -FMT_E_CORRUPT)
			fail_msg("taken: %s", bad[i]);
	assert_int_equal(time_text_duration("600000000000s", &ns), -FMT_E_TOO_BIG);
	assert_int_equal(time_text_duration("99999999999999999999", &ns), -FMT_E_TOO_BIG);
	assert_int_equal(time_text_duration("18446744073s 709551616ns", &ns), -FMT_E_TOO_BIG);
	assert_int_equal(ns, 77);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		if (time_text_duration(good[i].text, &ns) != 0 || ns != good[i].ns)
			fail_msg("%s: %ju", good[i].text, (uintmax_t)ns);
	}
}

static void
utc(void **state)
{
	char text[TIME_TEXT_UTC_BYTES];

	(void)state;
	time_text_utc(0, text);
	assert_string_equal(text, "1970-01-01T00:00:00Z");
	time_text_utc(1795392190, text);
	assert_string_equal(text, "2026-11-23T00:03:10Z");
	time_text_utc(INT64_MAX, text);
	assert_string_equal(text, "?");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_as_journalctl_has_them),
		cmocka_unit_test(zones),
		cmocka_unit_test(utc),
		cmocka_unit_test(other_zones),
		cmocka_unit_test(what_is_no_time_is_refused),
		cmocka_unit_test(durations),
		cmocka_unit_test(instants_are_as_systemd_has_them),
		cmocka_unit_test(durations_are_as_systemd_has_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

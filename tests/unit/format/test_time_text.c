/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "format/fmt_error.h"
#include "format/time_text.h"

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
	int r = time_text_instant(text, NOW, &ns);

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
	assert_int_equal(parse("today"), today);
	assert_int_equal(parse("yesterday"), today - 86400 * S);
	assert_int_equal(parse("tomorrow"), today + 86400 * S);
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
	zone("UTC");
}

static void
what_is_no_time_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"x",
		"10m",
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
		"now UTC ",
		"UTC",
		"2026-11-21 03:12:00 and much more than any time that there is to be had",
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
	};
	static const char *const bad[] = { "",	    "x",   "5 parsecs", "1h 5", "0h 5",
					   "5 5s",  "-1s", "1.s",	".5s",	"1.2.3s",
					   "1 .5s", "m",   "5mi",	"5mins" };
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_as_journalctl_has_them),
		cmocka_unit_test(zones),
		cmocka_unit_test(what_is_no_time_is_refused),
		cmocka_unit_test(durations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

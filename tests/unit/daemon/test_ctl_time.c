/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "daemon/ctl_print.h"
#include "daemon/ctl_time.h"

#define NOW INT64_C(1795230720) /* 2026-11-21 03:12:00 UTC, a Saturday */

static int64_t
parse(const char *text)
{
	int64_t s = -1;
	int r = ctl_time_parse(text, NOW, &s);

	assert_int_equal(r, s < 0 ? -EINVAL : 0);
	return s;
}

static void
times_are_as_journalctl_has_them(void **state)
{
	assert_int_equal(parse("now"), NOW);
	assert_int_equal(parse("@1795230000"), 1795230000);
	assert_int_equal(parse("-10m"), NOW - 600);
	assert_int_equal(parse("-1h30m"), NOW - 5400);
	assert_int_equal(parse("+5s"), NOW + 5);
	assert_int_equal(parse("today"), NOW - (3 * 60 + 12) * 60);
	assert_int_equal(parse("yesterday"), parse("today") - 86400);
	assert_int_equal(parse("tomorrow"), parse("today") + 86400);
	assert_int_equal(parse("03:12"), NOW);
	assert_int_equal(parse("03:12:05"), NOW + 5);
	assert_int_equal(parse("2026-11-21"), parse("today"));
	assert_int_equal(parse("2026-11-21 03:12"), NOW);
	assert_int_equal(parse("2026-11-21 03:11:59"), NOW - 1);
	assert_int_equal(parse("2026-11-21T03:12:00"), NOW);
}

static void
what_is_no_time_is_refused(void **state)
{
	static const char *const bad[] = { "",		 "x",		"10m",	     "@",
					   "@-1",	 "@1x",		"-",	     "-x",
					   "25:00",	 "03:12x",	"03:12:",    "2026",
					   "2026-13-01", "2026-11-21 ", "1800-01-01" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (parse(bad[i]) != -1)
			fail_msg("taken: %s", bad[i]);
}

static void
values_are_readable(void **state)
{
	char to[CTL_PRINT_BYTES];

	assert_string_equal(ctl_print_size(to, 0), "0 B");
	assert_string_equal(ctl_print_size(to, 1023), "1023 B");
	assert_string_equal(ctl_print_size(to, 1536), "1.5 KiB");
	assert_string_equal(ctl_print_size(to, INT64_MAX), "8388608.0 TiB");
	assert_string_equal(ctl_print_duration(to, 59), "59 s");
	assert_string_equal(ctl_print_duration(to, 3599), "59 min 59 s");
	assert_string_equal(ctl_print_duration(to, 86399), "23 h 59 min");
	assert_string_equal(ctl_print_duration(to, 90000), "1 d 1 h");
	assert_string_equal(ctl_print_time(to, NOW), "2026-11-21 03:12:00");
}

static void
text_cannot_move_the_cursor(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	ctl_print_text(f, "a\033[2J\nb\xc3\xa4");
	fclose(f);
	assert_string_equal(text, "a\\033[2J\\012b\\303\\244");
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_as_journalctl_has_them),
		cmocka_unit_test(what_is_no_time_is_refused),
		cmocka_unit_test(values_are_readable),
		cmocka_unit_test(text_cannot_move_the_cursor),
	};

	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

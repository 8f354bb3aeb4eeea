/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "daemon/ctl/ctl_print.h"

#define NOW INT64_C(1795230720) /* 2026-11-21 03:12:00 UTC, a Saturday */

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
		cmocka_unit_test(values_are_readable),
		cmocka_unit_test(text_cannot_move_the_cursor),
	};

	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

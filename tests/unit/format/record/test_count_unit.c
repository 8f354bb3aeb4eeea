/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scales as sysfs has them, and counts in their unit. */
#include "format/record/count_unit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void
test_scale(void **state)
{
	static const struct {
		const char *text;
		double scale;
	} good[] = {
		{ "2.3283064365386962890625e-10", 0x1p-32 },
		{ "6.103515625e-5\n", 64.0 / (1 << 20) },
		{ "1", 1 },
		{ "+2 \t\n", 2 },
		{ "1E3", 1000 },
	};
	static const char *const bad[] = { "",	  "\n",	    "-1",    "0",      "0.0",	 "inf",
					   "nan", "1e999",  "1,5",   "0x10",   "1e-400", "1 2",
					   "one", "1e-310", "1e101", "1e-101", "--1",	 "1e" };
	double scale;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(count_unit_scale_parse(good[i].text, &scale));
		assert_true(scale == good[i].scale);
	}
	scale = 7;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (count_unit_scale_parse(bad[i], &scale) || scale != 7)
			fail_msg("'%s'", bad[i]);
}

static void
test_text(void **state)
{
	static const struct {
		double scale;
		uint64_t count;
		const char *text;
	} rows[] = {
		{ 0, UINT64_MAX, "18446744073709551615" },
		{ 1, 9007199254740993, "9007199254740993" },
		{ 0x1p-32, UINT64_C(1) << 33, "2.00" },
		{ 64.0 / (1 << 20), 24, "0.00" },
		{ 64, 3, "192" },
		{ 0.5, 3, "1.50" },
		{ 1e100, UINT64_MAX, "1.844674e+119" },
		{ 1e90, 1, "1.000000e+90" },
	};
	char text[COUNT_UNIT_TEXT_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct count_unit u = { .scale = rows[i].scale };

		count_unit_text(&u, rows[i].count, text);
		assert_string_equal(text, rows[i].text);
	}
}

static void
test_told(void **state)
{
	(void)state;
	assert_false(count_unit_told(&(struct count_unit){ 0 }));
	assert_true(count_unit_told(&(struct count_unit){ .scale = 1 }));
	assert_true(count_unit_told(&(struct count_unit){ .name = "J" }));
	assert_true(count_unit_told(&(struct count_unit){ .snapshot = true }));
	assert_true(count_unit_told(&(struct count_unit){ .per_pkg = true }));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scale),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_told),
	};

	return cmocka_run_group_tests_name("count_unit", tests, NULL, NULL);
}

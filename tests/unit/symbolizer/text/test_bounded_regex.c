/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bounded_regex: what glibc would write out without end is refused, and nothing else is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbolizer/text/bounded_regex.h"

static int
compile(const char *text, const char *found_in)
{
	char why[BOUNDED_REGEX_WHY_MAX] = "";
	regex_t re;
	const int err = bounded_regex_compile(&re, text, why);

	if (err) {
		assert_true(*why);
		return err;
	}
	assert_int_equal(regexec(&re, found_in, 0, NULL, 0), 0);
	regfree(&re);
	return 0;
}

static void
test_nested_repeats_are_refused(void **state)
{
	static const char *const bad[] = {
		"((a{1,200}){1,200}){1,200}",
		"(((a{200}){200}){200})b",
		"(a|(b{99,}){99,})",
		"((((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+)",
		"([]x]{1,200}[[:alpha:]]{1,30000}){9}",
		"(a{0,32000}){0,32000}",
		"a{200}{200}{200}",
		"(\\){1,9999}x)",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(compile(bad[i], ""), REG_BADBR);
}

static void
test_what_people_write_is_taken(void **state)
{
	(void)state;
	assert_int_equal(compile("^(std::(vector|map)<.*>::)+push_back$", "std::map<x>::push_back"),
			 0);
	assert_int_equal(compile("[0-9a-f]{8,16}", "x_0123abcdef"), 0);
	assert_int_equal(compile("(a{1,20}){1,20}", "aaa"), 0);
	assert_int_equal(compile("[{]9999[}]\\{9999", "{9999}{9999"), 0);
	assert_int_equal(compile("[](]x[[:digit:](]{3}", "(x1(2"), 0);
}

static void
test_long_ones_are_no_repeats(void **state)
{
	char text[20001];

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(compile(text, text), 0);
}

static void
test_errors_of_regcomp_stay(void **state)
{
	(void)state;
	assert_int_equal(compile("a(", ""), REG_EPAREN);
	assert_int_equal(compile("[a", ""), REG_EBRACK);
	assert_int_equal(compile("[[:", ""), REG_EBRACK);
	assert_int_equal(compile("a{1", ""), REG_EBRACE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nested_repeats_are_refused),
		cmocka_unit_test(test_what_people_write_is_taken),
		cmocka_unit_test(test_long_ones_are_no_repeats),
		cmocka_unit_test(test_errors_of_regcomp_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

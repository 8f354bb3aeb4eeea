/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/text/intern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void
test_one_copy(void **state)
{
	struct intern *t = intern_new(1 << 20);
	const char *a = intern_add(t, "abcdef", 3), *b = intern_string(t, "abc");

	assert_string_equal(a, "abc");
	assert_ptr_equal(a, b);
	assert_ptr_not_equal(a, intern_string(t, "abd"));
	intern_free(t);
}

/* The address of an empty buffer: NULL, of 0 bytes. */
static void
test_empty(void **state)
{
	struct intern *t = intern_new(1 << 20);
	const char *a = intern_add(t, NULL, 0);

	assert_string_equal(a, "");
	assert_ptr_equal(a, intern_add(t, "abc", 0));
	assert_ptr_equal(a, intern_string(t, ""));
	intern_free(t);
}

/* A zero byte ends it before its length does. */
static void
test_zero_byte(void **state)
{
	struct intern *t = intern_new(1 << 20);

	assert_ptr_equal(intern_add(t, "ab\0cd", 5), intern_string(t, "ab"));
	intern_free(t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_copy),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_zero_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

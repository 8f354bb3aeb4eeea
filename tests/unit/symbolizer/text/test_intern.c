/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/text/intern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* Adds so many strings of so many bytes, each another one. How many were kept? */
static size_t
add_many(struct intern *t, char mark, size_t n, size_t len, size_t *owner, size_t *group)
{
	char s[INTERN_LENGTH_MAX + 1];
	size_t kept = 0;

	memset(s, 'x', sizeof(s));
	for (size_t i = 0; i < n; i++) {
		snprintf(s, sizeof(s), "%c%08zu", mark, i);
		s[9] = 'x';
		kept += strcmp(intern_add_for(t, s, len, owner, group), INTERN_LEFT_OUT) != 0;
	}
	return kept;
}

static void
test_length(void **state)
{
	struct intern *t = intern_new(1 << 20);
	char *s = malloc(65536);

	memset(s, 'x', 65536);
	s[65535] = '\0';
	assert_int_equal(strlen(intern_string(t, s)), INTERN_LENGTH_MAX);
	free(s);
	intern_free(t);
}

/* Each has an eighth of what the others leave, all of a group half; others have what is left. */
static void
test_owners(void **state)
{
	struct intern *t = intern_new(1 << 20);
	size_t owners[64] = { 0 }, group = 0, alone = 0, all = 0;

	for (size_t i = 0; i < 64; i++) {
		all += add_many(t, (char)('0' + i), 10000, 100, &owners[i], &group);
		assert_true(owners[i] <= (1 << 20) / 8);
	}
	assert_true(owners[0] > (1 << 20) / 8 - 200);
	assert_true(owners[1] < owners[0]);
	assert_true(group <= 1 << 19 && group > (1 << 19) - 200);
	assert_int_equal(intern_left_out(t), 64 * 10000 - all);
	assert_true(add_many(t, '~', 10000, 100, &alone, NULL) >= (1 << 19) / 8 / 128 - 2);
	/* A string that is there costs no owner anything. */
	alone = 1 << 20;
	assert_int_equal(add_many(t, '0', 1, 100, &alone, NULL), 1);
	assert_int_equal(alone, 1 << 20);
	intern_free(t);
}

static void
test_long_ones(void **state)
{
	struct intern *t = intern_new(1 << 20);

	intern_keep_short(t);
	assert_true(add_many(t, 'a', 10000, INTERN_SHORT_MAX + 1, NULL, NULL) <
		    (1 << 19) / INTERN_SHORT_MAX);
	assert_true(add_many(t, 'b', 10000, INTERN_SHORT_MAX, NULL, NULL) >
		    (1 << 19) / (INTERN_SHORT_MAX + 48));
	intern_free(t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_copy),  cmocka_unit_test(test_empty),
		cmocka_unit_test(test_zero_byte), cmocka_unit_test(test_length),
		cmocka_unit_test(test_owners),	  cmocka_unit_test(test_long_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

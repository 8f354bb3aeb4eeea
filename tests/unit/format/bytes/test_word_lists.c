/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Equal lists have one number, others have others, in the order in which they came. */
#include "format/bytes/word_lists.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define LISTS 20000

/* A list that follows from its number: of lengths 0 to 6. */
static size_t
make_list(uint32_t i, uint32_t out[8])
{
	size_t n = i % 7;

	for (size_t k = 0; k < n; k++)
		out[k] = i / 7 * (uint32_t)(k % 2) + (uint32_t)k;
	return n;
}

/* Those of 0, and of 1, words are all alike: the second word is the first that differs. */
static void
equal_ones_have_one_number(void **state)
{
	struct word_lists l = { 0 };
	uint32_t list[8], number, again;
	size_t n, before;

	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < LISTS; i++) {
			n = make_list(i, list);
			before = l.nr;
			assert_int_equal(word_lists_number(&l, list, n, &number), 0);
			assert_int_equal(l.nr,
					 i < 7 || n > 1 ? before + (number == before) : before);
			assert_true(number < l.nr);
			assert_int_equal(word_lists_number(&l, list, n, &again), 0);
			assert_int_equal(again, number);
		}
		/* 5 of 7 lengths differ by their number. */
		assert_int_equal(l.nr,
				 2 + (LISTS - 2 + 6) / 7 + (LISTS - 3 + 6) / 7 +
					 (LISTS - 4 + 6) / 7 + (LISTS - 5 + 6) / 7 +
					 (LISTS - 6 + 6) / 7);
		word_lists_clear(&l);
		assert_int_equal(l.nr, 0);
	}
	word_lists_done(&l);
}

static void
their_words_come_back(void **state)
{
	struct word_lists l = { 0 };
	uint32_t list[8], number;
	const uint32_t *words;
	size_t n, back;

	for (uint32_t i = 0; i < LISTS; i++) {
		n = make_list(i, list);
		assert_int_equal(word_lists_number(&l, list, n, &number), 0);
		words = word_lists_at(&l, number, &back);
		assert_int_equal(back, n);
		assert_true(n == 0 || memcmp(words, list, n * sizeof(*list)) == 0);
	}
	word_lists_done(&l);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_ones_have_one_number),
		cmocka_unit_test(their_words_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

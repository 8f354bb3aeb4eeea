/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/bytes/fair_part.h"

/* However much one asks for, and however many ask, there is something left for the next one. */
static void
one_of_many(void **state)
{
	uint64_t left = 1 << 20, taken = 0;

	(void)state;
	while (fair_part_has(left, taken, 1)) {
		taken++;
		left--;
	}
	assert_int_equal(taken, (1 << 20) / FAIR_PART);
	for (int i = 0; i < 50; i++) {
		assert_true(fair_part_has(left, 0, fair_part(left, 0)));
		assert_false(fair_part_has(left, 0, fair_part(left, 0) + 1));
		left -= fair_part(left, 0);
	}
	assert_true(left > 0);
	assert_false(fair_part_has(0, 800, 1));
}

static void
accounts(void **state)
{
	struct fair_accounts a = { 0 };

	(void)state;
	for (uint64_t round = 1; round <= 2; round++)
		for (uint64_t key = 0; key < 10000; key++) {
			struct fair_account *one = fair_accounts_of(&a, key << 32 | key);

			assert_non_null(one);
			assert_int_equal(one->bytes, (round - 1) * key);
			one->bytes += key;
		}
	assert_int_equal(a.nr, 10000);
	fair_accounts_done(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_many),
		cmocka_unit_test(accounts),
	};

	return cmocka_run_group_tests_name("fair_part", tests, NULL, NULL);
}

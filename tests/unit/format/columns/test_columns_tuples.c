/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Products of two words, with and without the compiler's type for them. */
#include "format/columns/columns_tuples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/lab/numbered.h"

/* Bit by bit. */
static struct product
slowly(uint64_t a, uint64_t b)
{
	struct product sum = { 0 };

	for (unsigned int i = 0; i < 64; i++) {
		if (b >> i & 1)
			product_add(&sum, (struct product){ a << i, i ? a >> (64 - i) : 0 });
	}
	return sum;
}

static void
check(uint64_t a, uint64_t b)
{
	struct product want = slowly(a, b), halves = product_of_halves(a, b),
		       got = product_of(a, b);

	assert_int_equal(halves.low, want.low);
	assert_int_equal(halves.high, want.high);
	assert_int_equal(got.low, want.low);
	assert_int_equal(got.high, want.high);
}

static void
test_products(void **state)
{
	static const uint64_t edges[] = { 0,
					  1,
					  UINT32_MAX,
					  UINT64_C(1) << 32,
					  UINT64_MAX - UINT32_MAX,
					  UINT64_MAX - 1,
					  UINT64_MAX };
	const size_t n = sizeof(edges) / sizeof(edges[0]);
	struct product squared = product_of(UINT64_MAX, UINT64_MAX);
	uint64_t a = 88172645463325252, b;

	assert_int_equal(squared.low, 1);
	assert_int_equal(squared.high, UINT64_MAX - 1);
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < n; k++)
			check(edges[i], edges[k]);
	}
	for (int i = 0; i < 100000; i++) {
		b = a;
		(void)numbered_roll(&a, UINT64_MAX);
		check(a >> i % 60, b);
	}
}

static void
test_sum_carries(void **state)
{
	struct product sum = { UINT64_MAX, 7 };

	product_add(&sum, (struct product){ 1, 1 });
	assert_int_equal(sum.low, 0);
	assert_int_equal(sum.high, 9);
	product_add(&sum, (struct product){ UINT64_MAX, UINT64_MAX });
	assert_int_equal(sum.low, UINT64_MAX);
	assert_int_equal(sum.high, 8);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_products),
		cmocka_unit_test(test_sum_carries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

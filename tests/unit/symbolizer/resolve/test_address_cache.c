/* SPDX-License-Identifier: GPL-2.0-or-later */
/* No file makes the cache of addresses slow. */
#include "symbolizer/resolve/address_cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void
cache(void **state)
{
	struct address_cache c = { 0 };
	const struct resolved a = { .vaddr = 1 }, b = { .vaddr = 2 };

	assert_null(address_cache_find(&c, 0, 0, false));
	address_cache_clear(&c);
	assert_int_equal(address_cache_add(&c, 0, 0, false, &a), 0);
	assert_int_equal(address_cache_add(&c, 0, 0, true, &b), 0);
	assert_int_equal(address_cache_find(&c, 0, 0, false)->vaddr, 1);
	assert_int_equal(address_cache_find(&c, 0, 0, true)->vaddr, 2);
	assert_null(address_cache_find(&c, 1, 0, false));
	address_cache_clear(&c);
	assert_null(address_cache_find(&c, 0, 0, false));
	assert_int_equal(address_cache_add(&c, 0, 0, false, &b), 0);
	assert_int_equal(address_cache_find(&c, 0, 0, false)->vaddr, 2);
	assert_null(address_cache_find(&c, 0, 0, true));
	address_cache_done(&c);
}

/* Addresses that differ in their high bits alone, as a hostile file has them: takes hours. */
static void
no_address_has_the_home_of_all(void **state)
{
	struct address_cache c = { 0 };
	struct resolved v = { 0 };

	for (uint64_t i = 0; i < 1u << 19; i++) {
		v.vaddr = i;
		assert_null(address_cache_find(&c, 0, i << 45, false));
		assert_int_equal(address_cache_add(&c, 0, i << 45, false, &v), 0);
	}
	for (uint64_t i = 0; i < 1u << 19; i++)
		assert_int_equal(address_cache_find(&c, 0, i << 45, false)->vaddr, i);
	address_cache_done(&c);
}

/* What has grown once is forgotten a million times. */
static void
forgetting_is_cheap(void **state)
{
	struct address_cache c = { 0 };
	const struct resolved v = { 0 };

	for (uint64_t i = 0; i < 500000; i++)
		assert_int_equal(address_cache_add(&c, 0, i, false, &v), 0);
	for (uint64_t i = 0; i < 1000000; i++) {
		address_cache_clear(&c);
		assert_null(address_cache_find(&c, 0, i, false));
		assert_int_equal(address_cache_add(&c, 0, i, false, &v), 0);
	}
	address_cache_done(&c);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(cache),
		cmocka_unit_test(no_address_has_the_home_of_all),
		cmocka_unit_test(forgetting_is_cheap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

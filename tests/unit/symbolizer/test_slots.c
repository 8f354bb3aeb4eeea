/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hashes and tables of what a recording names: no file makes them slow. */
#include "symbolizer/slots.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "symbolizer/address_cache.h"

/* A BPF program is its own object, a command has the name of its file: one string twice. */
static void
the_same_twice(void **state)
{
	size_t same = 0;

	for (uint64_t p = 0x555500000000; p < 0x555500000000 + 1000 * 16; p += 16)
		same += (uint32_t)slots_mix(p, p) == (uint32_t)slots_mix(p + 16, p + 16);
	assert_int_equal(same, 0);
}

static bool
same_number(const void *owner, uint32_t index, const void *key)
{
	return ((const uint64_t *)owner)[index] == *(const uint64_t *)key;
}

static void
finds_what_was_added(void **state)
{
	struct slots s = { 0 };
	uint64_t numbers[1000];

	for (uint32_t i = 0; i < 1000; i++) {
		numbers[i] = i * i;
		assert_int_equal(slots_find(&s, i % 7, same_number, numbers, &numbers[i]),
				 SLOTS_NONE);
		assert_int_equal(slots_add(&s, i % 7, i), 0);
	}
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(slots_find(&s, i % 7, same_number, numbers, &numbers[i]), i);
	slots_done(&s);
}

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
		cmocka_unit_test(the_same_twice),
		cmocka_unit_test(finds_what_was_added),
		cmocka_unit_test(cache),
		cmocka_unit_test(no_address_has_the_home_of_all),
		cmocka_unit_test(forgetting_is_cheap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

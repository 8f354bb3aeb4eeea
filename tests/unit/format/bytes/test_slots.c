/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hashes of what a recording names, and arrays that grow. */
#include "format/bytes/slots.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <bsd/stdlib.h>
#include <cmocka.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"

/* A BPF program is its own object, a command has the name of its file: one string twice. */
static void
the_same_twice(void **state)
{
	size_t same = 0;

	for (uint64_t p = 0x555500000000; p < 0x555500000000 + 1000 * 16; p += 16)
		same += (uint32_t)slots_mix(p, p) == (uint32_t)slots_mix(p + 16, p + 16);
	assert_int_equal(same, 0);
}

/* How many of 4096 slots the values i << shift, times factor, take. */
static size_t
slots_taken(unsigned int shift, uint64_t factor)
{
	bool seen[4096] = { 0 };
	size_t distinct = 0;

	for (uint64_t i = 0; i < 4096; i++) {
		uint32_t slot = (uint32_t)slots_mix(0, (i << shift) * factor) % 4096;

		distinct += !seen[slot];
		seen[slot] = true;
	}
	return distinct;
}

/*
 * Chance takes 2589 of them. Of values that are multiples of a power of two, and of those that whoever
 * knows a multiplier can make so; with any key that a process may have.
 */
static void
nobody_chooses_the_slot(void **state)
{
	const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
	uint64_t inverse = 1, key[2] = { slots_key[0], slots_key[1] };

	for (int i = 0; i < 6; i++)
		inverse *= 2 - golden * inverse;
	assert_int_equal(inverse * golden, 1);
	for (int round = 0; round < 500; round++) {
		assert_true(slots_taken(0, 1) > 2400);
		assert_true(slots_taken(12, 1) > 2400);
		assert_true(slots_taken(12, inverse) > 2400);
		assert_true(slots_taken(40, 1) > 2400);
		arc4random_buf(slots_key, sizeof(slots_key));
		slots_key[0] |= 1;
		slots_key[1] |= 1;
	}
	slots_key[0] = key[0];
	slots_key[1] = key[1];
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
arrays_grow_and_keep_what_they_have(void **state)
{
	uint32_t *v = NULL;
	size_t n = 0, cap = 0;

	while (n < 100000) {
		assert_int_equal(array_reserve(v, n, cap, 3), 0);
		assert_true(cap >= n + 3);
		for (int i = 0; i < 3; i++, n++)
			v[n] = (uint32_t)n;
	}
	for (size_t i = 0; i < n; i++)
		assert_int_equal(v[i], i);
	free(v);
}

/* A number that came from a file: neither it nor its product with a size wraps around. */
static void
no_array_is_larger_than_memory(void **state)
{
	uint64_t *v = NULL;
	size_t cap = 0;

	assert_int_equal(array_reserve(v, 0, cap, SIZE_MAX), -FMT_E_NOMEM);
	assert_int_equal(array_reserve(v, 0, cap, SIZE_MAX / 8 + 1), -FMT_E_NOMEM);
	assert_int_equal(array_reserve(v, 5, cap, SIZE_MAX - 2), -FMT_E_NOMEM);
	assert_null(v);
	assert_int_equal(cap, 0);
}

static bool
same_in_array(const void *owner, uint32_t index, const void *key)
{
	return (*(uint64_t *const *)owner)[index] == *(const uint64_t *)key;
}

/* Equal keys are one element, whatever their hashes have in common; new ones come last. */
static void
keeps_each_once(void **state)
{
	struct slots s = { 0 };
	uint64_t *v = NULL, key;
	size_t n = 0, cap = 0;
	uint32_t i;

	for (int round = 0; round < 2; round++)
		for (key = 0; key < 1000; key++) {
			assert_int_equal(slots_keep(&s, (uint32_t)key % 7, same_in_array, &v, &key,
						    v, n, cap, &i),
					 0);
			assert_int_equal(i, key);
		}
	assert_int_equal(n, 1000);
	for (key = 0; key < 1000; key++)
		assert_int_equal(v[key], key);
	slots_done(&s);
	free(v);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_twice),
		cmocka_unit_test(nobody_chooses_the_slot),
		cmocka_unit_test(finds_what_was_added),
		cmocka_unit_test(arrays_grow_and_keep_what_they_have),
		cmocka_unit_test(keeps_each_once),
		cmocka_unit_test(no_array_is_larger_than_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

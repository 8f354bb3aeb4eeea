/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/unwind/unwind_hold.h"

#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct held *
add(struct unwind_hold *h, uint8_t fill, size_t bytes)
{
	struct held *of = unwind_hold_add(h);
	struct buf *to;

	assert_non_null(of);
	to = unwind_hold_bytes(h, of);
	for (size_t i = 0; i < bytes; i++)
		buf_u8(to, fill);
	unwind_hold_end_bytes(h, of);
	return of;
}

/* In the order in which they came, whatever room was closed up meanwhile. */
static void
test_order(void **state)
{
	struct unwind_hold h = { .v = NULL };
	unsigned in = 0, out = 0;

	for (unsigned round = 0; round < 5000; round++) {
		for (unsigned i = 0; i < round % 7; i++, in++)
			add(&h, (uint8_t)in, 8 + in % 5 * 8)->pid = in;
		for (unsigned i = 0; i < round % 6 && unwind_hold_at(&h, 0); i++, out++) {
			const struct held *of = unwind_hold_at(&h, 0);
			struct span record = unwind_hold_record(&h, of);

			assert_int_equal(of->pid, out);
			assert_int_equal(record.len, 8 + out % 5 * 8);
			for (size_t k = 0; k < record.len; k++)
				assert_int_equal(record.p[k], (uint8_t)out);
			unwind_hold_pop(&h);
		}
	}
	assert_true(in > out);
	assert_int_equal(h.nr, in - out);
	unwind_hold_done(&h);
}

#define BLOCK STACK_MEMORY_BLOCK_MIN
#define BLOCKS 3

static struct unwind_hold
new_hold(uint64_t bytes)
{
	struct unwind_hold h = { .v = NULL };

	stack_memory_init(&h.stacks, bytes);
	return h;
}

/* No two stacks that are held share a byte, and each lies in one piece. */
static void
test_stacks(void **state)
{
	struct unwind_hold h = new_hold(BLOCKS * BLOCK);
	uint8_t *owner = calloc(BLOCKS, BLOCK);
	unsigned refused = 0;

	assert_non_null(owner);
	for (unsigned n = 1; n < 5000; n++) {
		struct held *of = add(&h, 0, 8);
		const uint32_t bytes = 8 + n * 3701 % 60000;

		if (!unwind_hold_take_stack(&h, of, bytes)) {
			refused++;
		} else {
			assert_true(of->stack_at % 8 == 0 && of->stack_bytes >= bytes &&
				    of->stack_at + of->stack_bytes <= BLOCKS * BLOCK);
			for (uint32_t i = 0; i < of->stack_bytes; i++)
				assert_int_equal(owner[of->stack_at + i]++, 0);
		}
		if (n % 3 == 0)
			continue;
		of = unwind_hold_at(&h, 0);
		for (uint32_t i = 0; i < of->stack_bytes; i++)
			owner[of->stack_at + i]--;
		unwind_hold_pop(&h);
	}
	assert_in_range(refused, 1, 4999);
	free(owner);
	unwind_hold_done(&h);
}

/* However long it goes on, no more memory is touched than what is held at the same time, and a block that is filled. */
static void
test_memory_touched(void **state)
{
	struct unwind_hold h = new_hold(64 * BLOCK);

	for (unsigned n = 0; n < 20000; n++) {
		struct held *of = add(&h, 0, 8);

		assert_true(unwind_hold_take_stack(&h, of, BLOCK / 4));
		assert_true(of->stack_at < 4 * (uint64_t)BLOCK);
		if (n >= 8)
			unwind_hold_pop(&h);
	}
	unwind_hold_done(&h);
}

/* The unwinder may still write to the stack of one that left. */
static void
test_left_early(void **state)
{
	struct unwind_hold h = new_hold(64);
	struct held *of = add(&h, 1, 8);

	assert_true(unwind_hold_take_stack(&h, of, 64));
	of->place = 100; /* it is READY: without its answer */
	unwind_hold_pop(&h);
	assert_false(unwind_hold_take_stack(&h, add(&h, 2, 8), 64));
	unwind_hold_pop(&h);
	stack_memory_taken(&h.stacks, 99);
	assert_false(unwind_hold_take_stack(&h, add(&h, 3, 8), 64));
	stack_memory_taken(&h.stacks, 100);
	assert_true(unwind_hold_take_stack(&h, unwind_hold_at(&h, 0), 64));
	/* Its answer came: it is GIVEN. */
	of = unwind_hold_at(&h, 0);
	of->state = HELD_GIVEN;
	of->place = 200;
	unwind_hold_pop(&h);
	assert_true(unwind_hold_take_stack(&h, add(&h, 4, 8), 64));
	unwind_hold_done(&h);
}

/* One that was none after all leaves nothing behind. */
static void
test_unadd(void **state)
{
	struct unwind_hold h = new_hold(64);

	assert_true(unwind_hold_take_stack(&h, add(&h, 1, 8), 40));
	assert_true(unwind_hold_take_stack(&h, unwind_hold_add(&h), 24));
	unwind_hold_unadd(&h);
	assert_int_equal(h.nr, 1);
	assert_true(unwind_hold_take_stack(&h, add(&h, 2, 8), 24));
	assert_false(unwind_hold_take_stack(&h, add(&h, 3, 8), 8));
	unwind_hold_done(&h);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),	       cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_memory_touched), cmocka_unit_test(test_left_early),
		cmocka_unit_test(test_unadd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

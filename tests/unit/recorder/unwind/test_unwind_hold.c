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
	struct unwind_hold h = { .stacks = 4096 };
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

/* No two stacks that are held share a byte, and each lies in one piece. */
static void
test_stacks(void **state)
{
	struct unwind_hold h = { .stacks = 1000 };
	uint8_t owner[1000] = { 0 };
	unsigned refused = 0;

	for (unsigned n = 1; n < 2000; n++) {
		struct held *of = add(&h, 0, 8);
		const uint32_t bytes = 8 + n * 37 % 300;

		if (!unwind_hold_take_stack(&h, of, bytes)) {
			refused++;
		} else {
			const uint64_t at = unwind_hold_stack_at(&h, of);

			assert_true(at % 8 == 0 && of->stack_bytes >= bytes &&
				    at + of->stack_bytes <= h.stacks);
			for (uint32_t i = 0; i < of->stack_bytes; i++)
				assert_int_equal(owner[at + i]++, 0);
		}
		if (n % 3 == 0)
			continue;
		of = unwind_hold_at(&h, 0);
		for (uint32_t i = 0; i < of->stack_bytes; i++)
			owner[unwind_hold_stack_at(&h, of) + i]--;
		unwind_hold_pop(&h);
	}
	assert_in_range(refused, 1, 1999);
	unwind_hold_done(&h);
}

/* The unwinder may still write to the stack of one that left. */
static void
test_left_early(void **state)
{
	struct unwind_hold h = { .stacks = 64 };

	assert_true(unwind_hold_take_stack(&h, add(&h, 1, 8), 64));
	h.blocked = 100;
	unwind_hold_pop(&h);
	assert_false(unwind_hold_take_stack(&h, add(&h, 2, 8), 64));
	unwind_hold_pop(&h);
	unwind_hold_taken(&h, 99);
	assert_false(unwind_hold_take_stack(&h, add(&h, 3, 8), 64));
	unwind_hold_taken(&h, 100);
	assert_true(unwind_hold_take_stack(&h, unwind_hold_at(&h, 0), 64));
	unwind_hold_done(&h);
}

/* One that was none after all leaves nothing behind. */
static void
test_unadd(void **state)
{
	struct unwind_hold h = { .stacks = 64 };

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
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_left_early),
		cmocka_unit_test(test_unadd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

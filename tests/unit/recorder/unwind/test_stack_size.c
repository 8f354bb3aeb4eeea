/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/unwind/stack_size.h"

#include <stddef.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "format/bytes/time_text.h"

static void
count(struct stack_size *s, unsigned n, uint32_t used, bool cut, uint64_t now_ns)
{
	for (unsigned i = 0; i < n; i++)
		stack_size_count(s, s->bytes, used, cut, now_ns);
}

static void
test_within(void **state)
{
	assert_int_equal(stack_size_within(0), 4096);
	assert_int_equal(stack_size_within(8191), 4096);
	assert_int_equal(stack_size_within(8192), 8192);
	assert_int_equal(stack_size_within(UINT64_MAX), 64512);
}

static void
test_grows(void **state)
{
	struct stack_size s = { .bytes = 8192 };

	/* One of 200 is as it may be. */
	for (unsigned i = 0; i < 100; i++) {
		count(&s, 398, 1000, false, 1);
		count(&s, 2, 8192, true, 1);
	}
	assert_int_equal(s.wanted, 0);
	count(&s, 397, 1000, false, 1);
	count(&s, 3, 8192, true, 1);
	assert_int_equal(s.wanted, 16384);
}

/* Where most are cut, it does not take hundreds. */
static void
test_grows_soon(void **state)
{
	struct stack_size s = { .bytes = 8192 };

	count(&s, 7, 8192, true, 1);
	assert_int_equal(s.wanted, 0);
	count(&s, 1, 8192, true, 1);
	assert_int_equal(s.wanted, 32768);
	s.bytes = 32768;
	count(&s, 8, 32768, true, 1);
	assert_int_equal(s.wanted, 64512);
	s.bytes = 64512;
	count(&s, 800, 64512, true, 1);
	assert_int_equal(s.wanted, 64512);
}

/* What was copied before the change, or by an event with a size of its own, says nothing of this size. */
static void
test_other_sizes(void **state)
{
	struct stack_size s = { .bytes = 64512 };

	for (unsigned i = 0; i < 1000; i++) {
		stack_size_count(&s, 8192, 8192, true, 1);
		stack_size_count(&s, 32768, 8192, true, 1);
		stack_size_count(&s, 65528, 8192, true, 1);
	}
	assert_int_equal(s.wanted, 0);
	assert_int_equal(s.all, 0);
	/* The kernel copies less of the largest one where a record would not fit. */
	stack_size_count(&s, 63000, 63000, true, 1);
	assert_int_equal(s.all, 1);
	s.bytes = 0;
	count(&s, 1000, 0, true, 1);
	assert_int_equal(s.all, 1);
}

static void
test_shrinks(void **state)
{
	struct stack_size s = { .bytes = 32768 };

	count(&s, 800, 3000, false, 1);
	count(&s, 299, 9000, false, 1);
	count(&s, 2, 30000, false, 1);
	/* Not before five seconds are over. */
	count(&s, 1, 3000, false, 5 * SECOND_NS);
	assert_int_equal(s.wanted, 0);
	count(&s, 1, 3000, false, 5 * SECOND_NS + 1);
	assert_int_equal(s.wanted, 16384);

	/* Nor before a thousand walks. */
	s = (struct stack_size){ .bytes = 16384 };
	count(&s, 999, 3000, false, 1);
	count(&s, 1, 3000, false, 1);
	assert_int_equal(s.wanted, 0);
	count(&s, 1, 3000, false, 6 * SECOND_NS);
	assert_int_equal(s.wanted, 4096);

	/* Three of a thousand need more. */
	s = (struct stack_size){ .bytes = 16384 };
	count(&s, 1000, 3000, false, 1);
	count(&s, 3, 9000, false, 1);
	count(&s, 1, 3000, false, 6 * SECOND_NS);
	assert_int_equal(s.wanted, 0);
	/* They are forgotten after that. */
	assert_int_equal(s.all, 0);
	count(&s, 1000, 3000, false, 6 * SECOND_NS);
	count(&s, 1, 3000, false, 12 * SECOND_NS);
	assert_int_equal(s.wanted, 4096);
}

/* Where smaller ones were too small, it takes longer until they are tried again. */
static void
test_shrinks_later(void **state)
{
	struct stack_size s = { .bytes = 32768 };
	uint64_t now_ns = 1;

	for (unsigned wait = 5; wait <= 320; wait *= 2) {
		const uint64_t waits_ns = (wait < 80 ? wait : 80) * SECOND_NS;

		count(&s, 1000, 3000, false, now_ns);
		count(&s, 1, 3000, false, now_ns + waits_ns - 1);
		assert_int_not_equal(s.wanted, 4096);
		count(&s, 1, 3000, false, now_ns + waits_ns);
		assert_int_equal(s.wanted, 4096);
		now_ns += waits_ns;
		s.bytes = 4096;
		count(&s, 8, 4096, true, now_ns);
		assert_int_equal(s.wanted, 16384);
		s.bytes = 32768;
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_within),	   cmocka_unit_test(test_grows),
		cmocka_unit_test(test_grows_soon), cmocka_unit_test(test_other_sizes),
		cmocka_unit_test(test_shrinks),	   cmocka_unit_test(test_shrinks_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The account of the service's memory: whatever is given out, the sum fits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "daemon/stream/memory_share.h"
#include "recorder/ground/queue.h"
#include "recorder/ground/session_options.h"

/* Of all captures that there may be at the same time; *ret_nr: how many these are. */
static uint64_t
captures_bytes(uint32_t max_captures, bool flight, uint32_t *ret_nr)
{
	struct session_options o = { 0 };
	uint64_t bytes = 0, before = UINT64_MAX;
	uint32_t nr = 0;

	for (; memory_share_capture(max_captures, nr, flight, &o); nr++) {
		assert_true(memory_share_bytes(&o) <= before);
		before = memory_share_bytes(&o);
		bytes += before;
		/* A queue is made of a power of two. */
		assert_true(o.queue_bytes >= QUEUE_BYTES_MIN);
		assert_int_equal(o.queue_bytes & (o.queue_bytes - 1), 0);
	}
	*ret_nr = nr;
	return bytes;
}

static void
test_all_captures_fit(void **state)
{
	uint32_t nr;

	for (uint32_t max = 1; max <= MEMORY_SHARE_CAPTURES_NR; max++) {
		assert_true(captures_bytes(max, false, &nr) <= MEMORY_SHARE_CAPTURES);
		/* Root has as many for itself, and half as many may be over. */
		assert_int_equal(nr, 2 * max + (max + 1) / 2);
	}
	(void)captures_bytes(64, false, &nr);
	assert_int_equal(nr, 160);
	(void)captures_bytes(0, false, &nr);
	assert_int_equal(nr, 0);
}

static void
test_sum_fits(void **state)
{
	struct session_options o = { 0 };

	memory_share_base(&o);
	assert_true(MEMORY_SHARE_PROGRAM + MEMORY_SHARE_HELPERS + MEMORY_SHARE_KERNEL +
			    MEMORY_SHARE_CAPTURES + memory_share_bytes(&o) <=
		    MEMORY_SHARE_MAX);
}

/* The flight recorder is one of those that fit, with as many captures as without. */
static void
test_sum_fits_with_flight(void **state)
{
	struct session_options base = { 0 }, flight = { 0 };
	uint32_t nr;

	memory_share_base(&base);
	memory_share_flight(&flight);
	for (uint32_t max = 1; max <= MEMORY_SHARE_CAPTURES_NR; max++) {
		assert_true(MEMORY_SHARE_PROGRAM + MEMORY_SHARE_HELPERS + MEMORY_SHARE_KERNEL +
				    memory_share_bytes(&base) + memory_share_bytes(&flight) +
				    captures_bytes(max, true, &nr) <=
			    MEMORY_SHARE_MAX);
		assert_int_equal(nr, 2 * max + (max + 1) / 2);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_captures_fit),
		cmocka_unit_test(test_sum_fits),
		cmocka_unit_test(test_sum_fits_with_flight),
	};

	return cmocka_run_group_tests_name("memory_share", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/dump/throttle_times.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void
see(struct throttle_times *t, uint32_t type, uint64_t time, uint64_t stream_id)
{
	struct perf_record r = { .type = type };

	r.throttle.time = time;
	r.throttle.id = 1; /* of all tasks' and CPUs' */
	r.throttle.stream_id = stream_id;
	assert_int_equal(throttle_times_see(t, &r), 0);
}

/* Two events at a time; beginnings and ends without the other are no time. */
static void
test_times(void **state)
{
	struct throttle_times t = { 0 };

	see(&t, REC_UNTHROTTLE, 50, 7); /* began before the recording */
	see(&t, REC_THROTTLE, 100, 7);
	see(&t, REC_THROTTLE, 110, 8);
	see(&t, REC_SAMPLE, 115, 7);
	see(&t, REC_UNTHROTTLE, 120, 7);
	assert_int_equal(t.total_ns, 20);
	see(&t, REC_UNTHROTTLE, 140, 8);
	assert_int_equal(t.total_ns, 50);
	see(&t, REC_THROTTLE, 200, 7);
	see(&t, REC_THROTTLE, 210, 7); /* the end between was lost */
	see(&t, REC_UNTHROTTLE, 215, 7);
	assert_int_equal(t.total_ns, 65);
	see(&t, REC_THROTTLE, 300, 8); /* for ever */
	see(&t, REC_THROTTLE, 400, 7);
	see(&t, REC_UNTHROTTLE, 390, 7); /* no clock goes back */
	assert_int_equal(t.total_ns, 65);
	throttle_times_done(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_times) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

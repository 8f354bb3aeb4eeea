/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "recorder/event/event_open.h"
#include "recorder/event/trace_cost.h"

static void
test_measured(void **state)
{
	uint64_t ns = trace_cost_ns();
	long long paranoid;

	(void)state;
	/* The kernel's side of a user's own thread is sampled below 2. */
	assert_int_equal(event_paranoid(&paranoid), 0);
	if (ns == 0 && paranoid >= 2)
		skip();
	assert_in_range(ns, 50, 1000000);
	/* Once. */
	assert_int_equal(trace_cost_ns(), ns);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_measured),
	};

	return cmocka_run_group_tests_name("trace_cost", tests, NULL, NULL);
}

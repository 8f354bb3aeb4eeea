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
	const struct perf_event_attr attr = { .size = sizeof(attr),
					      .type = PERF_TYPE_SOFTWARE,
					      .config = PERF_COUNT_SW_PAGE_FAULTS,
					      .sample_period = 1 };
	uint64_t ns = trace_cost_ns();

	(void)state;
	if (event_open_try(&attr, 0, -1) < 0) {
		assert_int_equal(ns, 0);
		print_message("skipped: this user may not sample page faults in the kernel\n");
		skip();
	}
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

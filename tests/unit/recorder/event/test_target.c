/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <unistd.h>

#include "recorder/event/target.h"

static void
test_each_task_once(void **state)
{
	pid_t self = getpid();
	const pid_t pids[] = { self, 1, self };

	for (int kind = SESSION_PID; kind <= SESSION_TID; kind++) {
		struct session_options o = {
			.target = (enum session_target)kind,
			.pids = pids,
			.nr_pids = 3,
		};
		struct session_error error = { 0 };
		struct target t;
		int found = 0;

		assert_int_equal(target_resolve(&o, 0, &t, &error), 0);
		for (size_t i = 0; i < t.nr_tasks; i++)
			found += t.tasks[i] == self;
		assert_int_equal(found, 1);
		assert_true(t.single_tasks);
		target_done(&t);
	}
}

static void
test_no_such_process(void **state)
{
	const pid_t nobody = INT32_MAX;
	struct session_options o = { .target = SESSION_PID, .pids = &nobody, .nr_pids = 1 };
	struct session_error error = { 0 };
	struct target t;

	assert_true(target_resolve(&o, 0, &t, &error) < 0);
	assert_string_equal(error.text, "no such process: 2147483647");
	assert_int_equal(error.exit_status, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_task_once),
		cmocka_unit_test(test_no_such_process),
	};

	return cmocka_run_group_tests_name("target", tests, NULL, NULL);
}

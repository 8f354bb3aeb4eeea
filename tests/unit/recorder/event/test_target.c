/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
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

#define THREADS 1000
#define NAMED 1024 /* as many as a call of Capture may name */

static void *
wait_for_end(void *arg)
{
	(void)pthread_mutex_lock(arg);
	(void)pthread_mutex_unlock(arg);
	return NULL;
}

static double
cpu_s(void)
{
	struct timespec ts;

	assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts), 0);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* A member names a process of many threads by each of them: one call took minutes of CPU time. */
static void
test_many_threads_named_often(void **state)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static pthread_t threads[THREADS];
	static pid_t pids[NAMED];
	struct session_options o = { .target = SESSION_PID, .pids = pids, .nr_pids = 1 };
	struct session_error error = { 0 };
	struct target t;
	pthread_attr_t small;
	double began_s;

	(void)pthread_mutex_lock(&lock);
	assert_int_equal(pthread_attr_init(&small), 0);
	assert_int_equal(pthread_attr_setstacksize(&small, 64 << 10), 0);
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], &small, wait_for_end, &lock), 0);
	pids[0] = getpid();
	assert_int_equal(target_resolve(&o, 0, &t, &error), 0);
	assert_true(t.nr_tasks > THREADS);
	for (size_t i = 0; i < NAMED; i++)
		pids[i] = t.tasks[i % t.nr_tasks];
	target_done(&t);

	began_s = cpu_s();
	o.nr_pids = NAMED;
	assert_int_equal(target_resolve(&o, 0, &t, &error), 0);
	assert_true(t.nr_tasks > THREADS);
	assert_true(cpu_s() - began_s < 0.2);
	target_done(&t);

	o.descriptors_max = THREADS / 2;
	assert_int_equal(target_resolve(&o, 0, &t, &error), -EMFILE);
	assert_non_null(strstr(error.text, "more than 500 threads"));

	(void)pthread_mutex_unlock(&lock);
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(pthread_attr_destroy(&small), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_task_once),
		cmocka_unit_test(test_no_such_process),
		cmocka_unit_test(test_many_threads_named_often),
	};

	return cmocka_run_group_tests_name("target", tests, NULL, NULL);
}

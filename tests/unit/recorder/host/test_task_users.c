/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose a process is, also when it is gone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

#include "format/model/task_model.h"
#include "recorder/host/task_users.h"
#include "tests/lab/child_lab.h"

#define SECOND UINT64_C(1000000000)
#define START (100 * SECOND)

static void
test_users(void **state)
{
	struct task_users *u = task_users_new();
	struct task_model *m = task_model_new();
	uid_t uid = geteuid() == 0 ? 4711 : getuid();
	pid_t pid = child_lab_start(uid, NULL, NULL);
	const uint32_t gone = 0x7ffffff1, its_child = 0x7ffffff2, later = 0x7ffffff3;
	struct perf_record fork = {
		.type = REC_FORK,
		.task = { .pid = gone, .tid = gone, .ppid = (uint32_t)pid, .ptid = (uint32_t)pid }
	};

	assert_int_equal(task_users_of(u, m, (uint32_t)pid, START), uid);
	assert_int_equal(task_users_of(u, m, (uint32_t)getpid(), START), getuid());
	/* Gone before anybody looked: its ancestors tell. */
	assert_int_equal(task_users_of(u, m, gone, START), TASK_USER_UNKNOWN);
	assert_int_equal(task_model_apply(m, &fork), 0);
	assert_int_equal(task_users_of(u, m, gone, START), uid);
	/* Or its birth, before the model knows of it. */
	task_users_fork(u, (uint32_t)pid, its_child);
	assert_int_equal(task_users_of(u, m, its_child, START), uid);
	/* That was true for a time. */
	task_users_fork(u, its_child, later);
	assert_int_equal(task_users_of(u, m, later, START + 60 * SECOND), TASK_USER_UNKNOWN);
	/* What root forks may become somebody else's, who then executes. */
	task_users_fork(u, (uint32_t)getpid(), (uint32_t)pid);
	assert_int_equal(task_users_of(u, m, (uint32_t)pid, START), getuid());
	task_users_exec(u, (uint32_t)pid);
	assert_int_equal(task_users_of(u, m, (uint32_t)pid, START), uid);
	child_lab_end(pid);
	task_model_free(m);
	task_users_free(u);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_users),
	};

	return cmocka_run_group_tests_name("task_users", tests, NULL, NULL);
}

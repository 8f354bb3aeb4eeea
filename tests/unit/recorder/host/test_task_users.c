/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose a process is, also when it is gone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/model/task_model.h"
#include "recorder/host/task_users.h"

#define SECOND UINT64_C(1000000000)
#define START (100 * SECOND)

static pid_t
child_of(uid_t uid)
{
	int ready[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		if (setuid(uid) < 0)
			_exit(1);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)!write(ready[1], "", 1);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void
test_users(void **state)
{
	struct task_users *u = task_users_new();
	struct task_model *m = task_model_new();
	uid_t uid = geteuid() == 0 ? 4711 : getuid();
	pid_t pid = child_of(uid);
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
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
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

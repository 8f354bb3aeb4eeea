/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a look at one process tells, of processes of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorder/host/proc_look.h"
#include "recorder/host/subuid.h"
#include "tests/lab/child_lab.h"
#include "tests/lab/need_root.h"

/* Only root may see more of a process that is not dumpable. */
static void
become_dumpable(void *dumpable)
{
	prctl(PR_SET_DUMPABLE, *(const int *)dumpable);
}

static void
test_owner(void **state)
{
	uid_t uid;

	need_root("can be another user");
	for (int dumpable = 0; dumpable < 2; dumpable++) {
		pid_t pid = child_lab_start(12345, become_dumpable, &dumpable);

		assert_int_equal(proc_look_owner(pid, &uid), 0);
		assert_int_equal(uid, 12345);
		child_lab_end(pid);
		assert_int_equal(proc_look_owner(pid, &uid), -ESRCH);
	}
	assert_int_equal(proc_look_owner(getpid(), &uid), 0);
	assert_int_equal(uid, getuid());
}

/* One that runs, the same when it has ended, and when it is gone. */
static void
test_look(void **state)
{
	const struct proc_look untouched = { .uid = 77, .ppid = 78 };
	struct proc_look look;
	siginfo_t info;
	pid_t pid = child_lab_start(getuid(), NULL, NULL);

	assert_int_equal(proc_look_at(pid, &look), 0);
	assert_int_equal(look.uid, subuid_first(getuid()));
	assert_int_equal(look.ppid, getpid());
	assert_false(look.zombie);
	assert_true(look.maps);
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(proc_look_at(pid, &look), 0);
	assert_true(look.zombie);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	look = untouched;
	assert_true(proc_look_at(pid, &look) < 0);
	assert_int_equal(look.uid, untouched.uid);
	assert_int_equal(look.ppid, untouched.ppid);
}

/* A worker's name ends where it begins to tell the work; that of a rescuer ("R") is whole. */
static void
test_comm(void **state)
{
	static const char *const names[][2] = {
		{ "plain", "plain" },
		{ "", "" },
		{ "a name-of 15 by", "a name-of 15 by" },
		{ "kworker/0:1-ev", "kworker/0:1" },
		{ "kworker/u8:0+x", "kworker/u8:0" },
		{ "kworker/R-rcu", "kworker/R-rcu" },
	};
	int self = open("/proc/thread-self", O_RDONLY | O_DIRECTORY);
	char comm[PROC_LOOK_COMM_BYTES];

	assert_true(self >= 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		prctl(PR_SET_NAME, names[i][0]);
		assert_int_equal(proc_look_comm(self, comm), 0);
		assert_string_equal(comm, names[i][1]);
	}
	close(self);
	assert_true(proc_look_comm(-1, comm) < 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_owner),
		cmocka_unit_test(test_look),
		cmocka_unit_test(test_comm),
	};

	return cmocka_run_group_tests_name("proc_look", tests, NULL, NULL);
}

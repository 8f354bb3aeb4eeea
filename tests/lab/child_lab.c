/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lab/child_lab.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

pid_t
child_lab_start(uid_t uid, void (*begin)(void *arg), void *arg)
{
	int ready[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		if (setresuid(uid, uid, uid) < 0)
			_exit(1);
		/* After that: changing who one is ends it. For begin(), which may wait for ever. */
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (begin)
			begin(arg);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		child_lab_sleep();
	}
	close(ready[1]);
	assert_true(pid > 0);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

void
child_lab_end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

void
child_lab_sleep(void)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

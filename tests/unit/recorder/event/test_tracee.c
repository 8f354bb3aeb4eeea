/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a task does between being looked at and having its events opened. Each is a child that
 * waits for a byte and then does it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorder/event/tracee.h"
#include "recorder/ground/session_error.h"
#include "tests/lab/need_root.h"

#define USER 65000

enum deed { SLEEPS, EXECUTES, ENDS, THREAD_EXECUTES };

struct child {
	pid_t pid;
	int go;	  /* a byte */
	int went; /* the end of it: it has executed something, or ended */
};

static void *
execute(void *arg)
{
	(void)arg;
	execl("/bin/sleep", "sleep", "600", (char *)NULL);
	_exit(127);
}

static void
be_child(enum deed deed, int ready, int go)
{
	pthread_t thread;
	char c;

	if (setgroups(0, NULL) < 0 || setresgid(USER, USER, USER) < 0 ||
	    setresuid(USER, USER, USER) < 0)
		_exit(1);
	/* Changing who one is ends that. */
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	(void)!write(ready, "", 1);
	(void)!read(go, &c, 1);
	if (deed == EXECUTES)
		execute(NULL);
	if (deed == THREAD_EXECUTES)
		pthread_create(&thread, NULL, execute, NULL);
	while (deed != ENDS)
		pause();
	_exit(0);
}

static struct child
start(enum deed deed)
{
	int ready[2], go[2], went[2];
	struct child c;
	char byte;

	need_root("can be another user");
	assert_int_equal(pipe(ready) | pipe(go) | pipe2(went, O_CLOEXEC), 0);
	c.pid = fork();
	if (c.pid == 0)
		be_child(deed, ready[1], go[0]);
	assert_true(c.pid > 0);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	close(go[0]);
	close(went[1]);
	c.go = go[1];
	c.went = went[0];
	return c;
}

/* Does it, and returns when it is done. */
static void
let_go(const struct child *c)
{
	siginfo_t info;
	char byte;

	assert_int_equal(write(c->go, "", 1), 1);
	assert_int_equal(read(c->went, &byte, 1), 0);
	(void)waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOWAIT | WNOHANG);
}

static void
end(const struct child *c)
{
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	close(c->go);
	close(c->went);
}

static struct tracees *
look(pid_t pid)
{
	struct session_error error = { 0 };
	struct tracees *t = NULL;

	if (tracees_open(&pid, 1, USER, USER, &t, &error) != 0)
		fail_msg("%s", error.text);
	return t;
}

static void
test_nothing_happens(void **state)
{
	struct child c = start(SLEEPS);
	struct tracees *t = look(c.pid);

	(void)state;
	assert_int_equal(tracees_settle(t, NULL), 0);
	assert_false(tracees_ended(t, c.pid));
	tracees_close(t);
	end(&c);
}

static void
executes(enum deed deed)
{
	struct session_error error = { 0 };
	struct child c = start(deed);
	struct tracees *t = look(c.pid);

	let_go(&c);
	assert_int_equal(tracees_settle(t, &error), -EAGAIN);
	assert_non_null(strstr(error.text, "has executed another program"));
	tracees_close(t);
	end(&c);
}

/* It is the same user's afterwards; what it was in between nobody knows. */
static void
test_executes(void **state)
{
	(void)state;
	executes(EXECUTES);
}

/* The number is the same, the task another one. */
static void
test_thread_executes(void **state)
{
	(void)state;
	executes(THREAD_EXECUTES);
}

static void
test_ends(void **state)
{
	struct child c = start(ENDS), other = start(SLEEPS);
	const pid_t tasks[] = { c.pid, other.pid };
	struct session_error error = { 0 };
	struct tracees *t;

	(void)state;
	assert_int_equal(tracees_open(tasks, 2, USER, USER, &t, &error), 0);
	let_go(&c);
	waitpid(c.pid, NULL, 0);
	assert_int_equal(tracees_settle(t, &error), 0);
	assert_true(tracees_ended(t, c.pid));
	assert_false(tracees_ended(t, other.pid));
	tracees_close(t);
	end(&c);
	end(&other);
}

static void
test_gone_before(void **state)
{
	const pid_t tasks[] = { INT32_MAX, INT32_MAX - 1 };
	struct session_error error = { 0 };
	struct tracees *t;

	(void)state;
	need_root("can be another user");
	assert_int_equal(tracees_open(tasks, 2, USER, USER, &t, &error), -ESRCH);
	assert_string_equal(error.text, "no such process: 2147483647");
}

static void
test_anothers(void **state)
{
	struct child c = start(SLEEPS);
	const struct {
		uid_t uid;
		gid_t gid;
		const char *why;
	} users[] = { { USER + 1, USER, "another user's" }, { USER, USER + 1, "group" } };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct session_error error = { 0 };
		struct tracees *t;

		assert_int_equal(tracees_open(&c.pid, 1, users[i].uid, users[i].gid, &t, &error),
				 -EPERM);
		assert_non_null(strstr(error.text, users[i].why));
	}
	end(&c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_happens), cmocka_unit_test(test_executes),
		cmocka_unit_test(test_thread_executes), cmocka_unit_test(test_ends),
		cmocka_unit_test(test_gone_before),	cmocka_unit_test(test_anothers),
	};

	return cmocka_run_group_tests_name("tracee", tests, NULL, NULL);
}

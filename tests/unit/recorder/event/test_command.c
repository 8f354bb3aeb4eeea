/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/command.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static void
wait_for_end(struct command *c)
{
	const struct timespec ms = { .tv_nsec = 1000000 };

	for (int i = 0; i < 60000 && !command_ended(c); i++)
		nanosleep(&ms, NULL);
	assert_true(command_ended(c));
}

/* command_check() says before what command_go() says at last. */
static int
status_of(char *const *argv, struct session_error *error)
{
	struct command *c;
	int r, status;
	struct session_error before = { 0 };
	const int checked = command_check(argv, &before);

	assert_int_equal(command_start(argv, &c, error), 0);
	assert_int_equal(command_status(c), -1);
	r = command_go(c, error);
	assert_int_equal(checked, r);
	if (r < 0 && error) {
		assert_string_equal(before.text, error->text);
		assert_int_equal(before.exit_status, error->exit_status);
	}
	wait_for_end(c);
	status = command_status(c);
	command_stop(c);
	command_free(c);
	return r < 0 ? r : status;
}

static char sh[] = "sh", dash_c[] = "-c";

static void
test_exit_status(void **state)
{
	char exit3[] = "exit 3", kill9[] = "kill -9 $$";
	int status = status_of((char *[]){ sh, dash_c, exit3, NULL }, NULL);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 3);
	status = status_of((char *[]){ sh, dash_c, kill9, NULL }, NULL);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), 9);
}

static void
test_not_found(void **state)
{
	char name[] = "no-such-program-anywhere";
	struct session_error e = { 0 };

	/* A directory of PATH that this user may not search would make it EACCES. */
	assert_int_equal(setenv("PATH", "/usr/bin:/bin", 1), 0);
	assert_int_equal(status_of((char *[]){ name, NULL }, &e), -ENOENT);
	assert_int_equal(e.exit_status, 127);
	assert_non_null(strstr(e.text, name));
	*name = '\0';
	assert_int_equal(status_of((char *[]){ name, NULL }, &e), -ENOENT);
}

/* What is in a directory of PATH and may not be executed is told, unless another one has it. */
static void
test_path(void **state)
{
	char dir[] = "/tmp/spoor-command.XXXXXX", file[64], path[128], name[] = "true";
	struct session_error e = { 0 };
	int fd;

	assert_non_null(mkdtemp(dir));
	(void)snprintf(file, sizeof(file), "%s/true", dir);
	fd = open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	(void)snprintf(path, sizeof(path), "%s:/nonexistent", dir);
	assert_int_equal(setenv("PATH", path, 1), 0);
	assert_int_equal(status_of((char *[]){ name, NULL }, &e), -EACCES);
	assert_int_equal(e.exit_status, 126);
	(void)snprintf(path, sizeof(path), "%s::/bin", dir);
	assert_int_equal(setenv("PATH", path, 1), 0);
	assert_int_equal(status_of((char *[]){ name, NULL }, NULL), 0);
	assert_int_equal(unsetenv("PATH"), 0);
	assert_int_equal(status_of((char *[]){ name, NULL }, NULL), 0);
	assert_int_equal(setenv("PATH", "/usr/bin:/bin", 1), 0);
	unlink(file);
	rmdir(dir);
}

static void
test_not_executable(void **state)
{
	char path[] = "/tmp/spoor-command.XXXXXX", dir[] = "/";
	struct session_error e = { 0 };
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(status_of((char *[]){ path, NULL }, &e), -EACCES);
	assert_int_equal(e.exit_status, 126);
	chmod(path, 0700);
	/* An empty file that may be executed is a script to execvp(3), and does nothing. */
	assert_int_equal(status_of((char *[]){ path, NULL }, &e), 0);
	unlink(path);
	assert_int_equal(status_of((char *[]){ dir, NULL }, &e), -EACCES);
	assert_int_equal(e.exit_status, 126);
}

/* Without command_go() nothing of it ever runs. */
static void
test_never_let_go(void **state)
{
	char path[] = "/tmp/spoor-command.XXXXXX", touch[] = "touch";
	struct command *c;
	int fd = mkstemp(path);

	close(fd);
	unlink(path);
	assert_int_equal(command_start((char *[]){ touch, path, NULL }, &c, NULL), 0);
	command_stop(c);
	assert_true(command_ended(c));
	command_free(c);
	assert_int_equal(access(path, F_OK), -1);
}

static void
test_stop(void **state)
{
	char name[] = "sleep", seconds[] = "1000";
	struct command *c;

	assert_int_equal(command_start((char *[]){ name, seconds, NULL }, &c, NULL), 0);
	assert_int_equal(command_go(c, NULL), 0);
	assert_false(command_ended(c));
	command_stop(c);
	assert_true(command_ended(c));
	assert_true(WIFSIGNALED(command_status(c)));
	command_free(c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exit_status),  cmocka_unit_test(test_not_found),
		cmocka_unit_test(test_path),	     cmocka_unit_test(test_not_executable),
		cmocka_unit_test(test_never_let_go), cmocka_unit_test(test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process that becomes somebody else, or something else, while it is looked at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbolizer/names/names_process.h"
#include "tests/lab/child_lab.h"
#include "tests/lab/need_root.h"

#define A_USER 64701

/* Written to, or closed by an execve(2), when the process has changed. */
static int changed[2];

static void
become_user(int sig)
{
	(void)sig;
	if (setgroups(0, NULL) != 0 || setresgid(A_USER, A_USER, A_USER) != 0 ||
	    setresuid(A_USER, A_USER, A_USER) != 0 || write(changed[1], "", 1) != 1)
		_exit(1);
}

static void
change_groups(int sig)
{
	const gid_t group = A_USER;

	(void)sig;
	if (setgroups(1, &group) != 0 || write(changed[1], "", 1) != 1)
		_exit(1);
}

static void
execute_another(int sig)
{
	(void)sig;
	(void)execl("/bin/sleep", "sleep", "600", NULL);
	_exit(1);
}

static void
execute_itself(int sig)
{
	(void)sig;
	(void)execl("/proc/self/exe", "again", "again", NULL);
	_exit(1);
}

static void
do_nothing(int sig)
{
	(void)sig;
	if (write(changed[1], "", 1) != 1)
		_exit(1);
}

/* By a mapped file of this name it is a JVM. */
static void
be_jvm(void *on_signal)
{
	char dir[] = "/tmp/spoor-test-XXXXXX";
	int fd = -1;

	if (mkdtemp(dir) && chdir(dir) == 0)
		fd = open("libjvm.so", O_RDWR | O_CREAT, 0755);
	if (fd < 0 || ftruncate(fd, 4096) != 0 ||
	    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		_exit(1);
	(void)unlink("libjvm.so");
	(void)rmdir(dir);
	(void)signal(SIGUSR1, *(void (**)(int))on_signal);
}

/* What it says of a process that does so between two looks. */
static int
look_twice(void (*on_signal)(int), struct names_answer *a)
{
	struct names_process p;
	pid_t pid;
	char byte;
	int rc;

	*a = (struct names_answer){ 0 };
	assert_int_equal(pipe2(changed, O_CLOEXEC), 0);
	pid = child_lab_start(getuid(), be_jvm, &on_signal);
	(void)close(changed[1]);
	assert_int_equal(names_process_open(&p, pid, a), 0);
	assert_int_equal(p.runtime.kind, RUNTIME_java);
	assert_int_equal(names_process_unchanged(&p, a), 0);
	assert_int_equal(kill(pid, SIGUSR1), 0);
	assert_true(read(changed[0], &byte, 1) >= 0);
	rc = names_process_unchanged(&p, a);
	names_process_done(&p);
	(void)close(changed[0]);
	child_lab_end(pid);
	return rc;
}

static void
assert_refused(void (*on_signal)(int))
{
	struct names_answer a;

	assert_int_equal(look_twice(on_signal, &a), -1);
	assert_int_equal(a.verdict, NAMES_FAILED);
	assert_non_null(strstr(a.text, "it changed its user, or its program"));
}

static void
test_the_same(void **state)
{
	struct names_answer a;

	(void)state;
	assert_int_equal(look_twice(do_nothing, &a), 0);
}

static void
test_another_user(void **state)
{
	(void)state;
	need_root("becomes another user");
	assert_refused(become_user);
	assert_refused(change_groups);
}

static void
test_another_program(void **state)
{
	(void)state;
	assert_refused(execute_another);
}

/* sudo, a user's program, sudo: users and file are those of before. */
static void
test_the_same_program_again(void **state)
{
	char room[2] = "";
	int fd = open("/proc/sys/kernel/randomize_va_space", O_RDONLY | O_CLOEXEC);

	(void)state;
	if (fd < 0 || read(fd, room, 1) != 1 || *room == '0')
		skip();
	(void)close(fd);
	assert_refused(execute_itself);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_same),
		cmocka_unit_test(test_another_user),
		cmocka_unit_test(test_another_program),
		cmocka_unit_test(test_the_same_program_again),
	};

	(void)argv;
	if (argc > 1)
		child_lab_sleep();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

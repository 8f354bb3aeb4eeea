/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a worker asks for, and what it gets; what no worker of ours would ask. */
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bsd/string.h>
#include <cmocka.h>

#include "symbolizer/dwarf/dwarf_request.h"

/* What was asked last, and what is answered. */
static struct asked {
	char dir[PATH_MAX], name[PATH_MAX];
	int fd;
	size_t times;
} asked;

static int
open_asked(void *arg, const char *dir, const char *name)
{
	struct asked *a = arg;

	strlcpy(a->dir, dir ? dir : "-", sizeof(a->dir));
	strlcpy(a->name, name ? name : "-", sizeof(a->name));
	a->times++;
	return a->fd < 0 ? -1 : dup(a->fd);
}

/* A child asks, and ends with 1 when it got a descriptor of /dev/null. */
static bool
ask(const char *dir, const char *name)
{
	struct stat null, got;
	int ends[2], status, fd;
	pid_t pid;

	assert_int_equal(dwarf_request_pair(ends), 0);
	pid = fork();
	if (pid == 0) {
		fd = dwarf_request_ask(ends[1], dir, name);
		_exit(fd >= 0 && fstat(fd, &got) == 0 && stat("/dev/null", &null) == 0 &&
		      got.st_rdev == null.st_rdev);
	}
	close(ends[1]);
	/* It does not wait: the request may not have come yet. */
	for (int i = 0; i < 10000 && asked.times == 0 && waitpid(pid, &status, WNOHANG) == 0; i++) {
		char byte;

		if (recv(ends[0], &byte, 1, MSG_PEEK) > 0)
			(void)dwarf_request_serve(ends[0], open_asked, &asked);
	}
	(void)waitpid(pid, &status, 0);
	close(ends[0]);
	return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

static void
test_asked(void **state)
{
	(void)state;
	asked = (struct asked){ .fd = open("/dev/null", O_RDONLY | O_CLOEXEC) };
	assert_true(ask("/build", "a.dwo"));
	assert_string_equal(asked.dir, "/build");
	assert_string_equal(asked.name, "a.dwo");
	asked.times = 0;
	assert_true(ask(NULL, "/b.dwo"));
	assert_string_equal(asked.dir, "-");
	asked.times = 0;
	assert_true(ask("/build", NULL));
	assert_string_equal(asked.dir, "-");
	assert_string_equal(asked.name, "-");
	close(asked.fd);
	asked = (struct asked){ .fd = -1 };
	assert_false(ask("/build", "a.dwo"));
	assert_int_equal(asked.times, 1);
}

/* A name that is no path is not asked for. */
static void
test_long(void **state)
{
	static char name[PATH_MAX + 1];

	(void)state;
	memset(name, 'x', PATH_MAX);
	asked = (struct asked){ .fd = -1 };
	assert_false(ask("/build", name));
	assert_int_equal(asked.times, 0);
}

static void
test_wrong(void **state)
{
	static char longest[3 * PATH_MAX] = "Fx";
	static const struct {
		const char *bytes;
		size_t len;
	} wrong[] = {
		{ "X", 1 },	   { "P\0", 2 },
		{ "F", 1 },	   { "F\0", 2 },
		{ "Fname", 5 },	   { "Fname\0dir", 9 },
		{ "Fa\0b\0c", 6 }, { longest, sizeof(longest) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		int ends[2];

		asked = (struct asked){ .fd = -1 };
		assert_int_equal(dwarf_request_pair(ends), 0);
		assert_int_equal(send(ends[1], wrong[i].bytes, wrong[i].len, 0), wrong[i].len);
		assert_false(dwarf_request_serve(ends[0], open_asked, &asked));
		assert_int_equal(asked.times, 0);
		close(ends[0]);
		close(ends[1]);
	}
}

/* A worker that asks and asks, and takes no answer, is not waited for. */
static void
test_deaf(void **state)
{
	int ends[2];
	size_t served = 0;

	(void)state;
	asked = (struct asked){ .fd = -1 };
	assert_int_equal(dwarf_request_pair(ends), 0);
	while (served < 1000000 && send(ends[1], "P", 1, 0) == 1 &&
	       dwarf_request_serve(ends[0], open_asked, &asked))
		served++;
	assert_true(served < 1000000);
	/* It is gone. */
	close(ends[1]);
	assert_false(dwarf_request_serve(ends[0], open_asked, &asked));
	close(ends[0]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_asked),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_deaf),
	};

	return cmocka_run_group_tests_name("dwarf_request", tests, NULL, NULL);
}

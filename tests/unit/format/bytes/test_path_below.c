/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files below a directory, and ranges of descriptors, by the system calls of today and without them. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/openat2.h>

#include <cmocka.h>

#include "format/bytes/fd_range.h"
#include "format/bytes/path_below.h"

static int refusal; /* what openat2(2) and close_range(2) fail with; 0: they are the kernel's */
static int asked;

long
syscall(long number, ...)
{
	long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	long a[6];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (refusal && (number == SYS_openat2 || number == SYS_close_range)) {
		asked++;
		errno = refusal;
		return -1;
	}
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static const int refusals[] = { ENOSYS, EPERM };
#define REFUSALS (sizeof(refusals) / sizeof(refusals[0]))

static char root_path[] = "/tmp/path_below.XXXXXX";
static int root;

static int
setup(void **state)
{
	(void)state;
	if (!mkdtemp(root_path))
		return -1;
	root = open(root_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0 || mkdirat(root, "a", 0700) < 0 || mkdirat(root, "a/b", 0700) < 0)
		return -1;
	close(openat(root, "a/b/file", O_CREAT | O_WRONLY, 0600));
	return symlinkat("a", root, "link") < 0 || symlinkat("file", root, "a/b/last") < 0 ? -1 : 0;
}

static int
teardown(void **state)
{
	static const char *const files[] = { "a/b/file", "a/b/last", "link" };

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		(void)unlinkat(root, files[i], 0);
	(void)unlinkat(root, "a/b", AT_REMOVEDIR);
	(void)unlinkat(root, "a", AT_REMOVEDIR);
	close(root);
	return rmdir(root_path);
}

static int
open_it(const char *path)
{
	return path_below_open(root, path, O_RDONLY | O_NOFOLLOW, RESOLVE_IN_ROOT);
}

static void
is_the_file(const char *path)
{
	struct stat want, have;
	int fd = open_it(path);

	assert_true(fd >= 0);
	assert_int_equal(fstatat(root, "a/b/file", &want, 0), 0);
	assert_int_equal(fstat(fd, &have), 0);
	assert_int_equal(have.st_ino, want.st_ino);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
}

/* Whatever the kernel has. */
static void
look(void)
{
	is_the_file("/a/b/file");
	is_the_file("a//./b/file");
	assert_int_equal(open_it("/a/b/none"), -ENOENT);
	assert_int_equal(open_it("/a/none/file"), -ENOENT);
	assert_int_equal(open_it("/a/b/file/file"), -ENOTDIR);
	assert_int_equal(open_it("/a/b/last"), -ELOOP);
}

static void
test_path(void **state)
{
	(void)state;
	look();
	is_the_file("/link/b/file");
}

static void
test_path_without_openat2(void **state)
{
	(void)state;
	for (size_t i = 0; i < REFUSALS; i++) {
		refusal = refusals[i];
		asked = 0;
		look();
		assert_int_equal(open_it("/link/b/file"), -ENOTDIR);
		assert_int_equal(open_it("/a/../a/b/file"), -ELOOP);
		assert_int_equal(open_it("/../a/b/file"), -ELOOP);
		assert_true(asked > 0);
	}
	refusal = 0;
}

static void
close_some(void)
{
	const int at[] = { 900, 901, 902, 903 };

	for (size_t i = 0; i < 4; i++)
		assert_int_equal(dup2(root, at[i]), at[i]);
	fd_range_close(901, 902);
	assert_true(fcntl(900, F_GETFD) >= 0);
	assert_true(fcntl(901, F_GETFD) < 0 && fcntl(902, F_GETFD) < 0);
	assert_true(fcntl(903, F_GETFD) >= 0);
	fd_range_close(900, UINT32_MAX);
	assert_true(fcntl(900, F_GETFD) < 0 && fcntl(903, F_GETFD) < 0);
}

static void
test_range(void **state)
{
	(void)state;
	close_some();
	for (size_t i = 0; i < REFUSALS; i++) {
		refusal = refusals[i];
		asked = 0;
		close_some();
		assert_int_equal(asked, 2);
	}
	refusal = 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_path),
		cmocka_unit_test(test_path_without_openat2),
		cmocka_unit_test(test_range),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that a name of others may lead to. */
#include "format/bytes/plain_file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[64];

static int
setup(void **state)
{
	(void)state;
	(void)snprintf(dir, sizeof(dir), "/tmp/spoor-plain.XXXXXX");
	return mkdtemp(dir) && chdir(dir) == 0 ? 0 : -1;
}

static int
teardown(void **state)
{
	(void)state;
	return system("rm -rf file link fifo sub socket") | chdir("/") | rmdir(dir);
}

static void
assert_text(int fd, const char *text)
{
	char got[8] = "";

	assert_true(fd >= 0);
	assert_true(read(fd, got, sizeof(got) - 1) >= 0);
	assert_string_equal(got, text);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	close(fd);
}

static void
test_plain(void **state)
{
	int fd = open("file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	(void)state;
	assert_int_equal(write(fd, "text", 4), 4);
	close(fd);
	assert_text(plain_file_open_name(AT_FDCWD, "file", 0), "text");
	assert_int_equal(symlink("file", "link"), 0);
	assert_text(plain_file_open_name(AT_FDCWD, "link", 0), "text");
	assert_int_equal(plain_file_open_name(AT_FDCWD, "link", O_NOFOLLOW), -EOPNOTSUPP);
	assert_int_equal(plain_file_open_name(AT_FDCWD, "nothing", 0), -ENOENT);
	/* In memory, without a name. */
	fd = memfd_create("x", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "more", 4), 4);
	assert_text(plain_file_open(fd), "more");
	close(fd);
}

/* None of them is opened, which for some does something, and for others waits. */
static void
test_others(void **state)
{
	static const char *const names[] = { "fifo",
					     "sub",
					     "socket",
					     "/dev/null",
					     "/dev/zero",
					     "/proc/self/maps",
					     "/proc/self/syscall",
					     "/proc/kmsg",
					     "/proc/sys/kernel/ostype",
					     "/sys/kernel/mm/transparent_hugepage/enabled",
					     "/proc/self/ns/mnt" };
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "socket" };
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(mkdir("sub", 0700), 0);
	assert_int_equal(bind(s, (struct sockaddr *)&address, sizeof(address)), 0);
	close(s);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int fd = plain_file_open_name(AT_FDCWD, names[i], 0);

		if (fd == -ENOENT && names[i][0] == '/')
			continue;
		if (fd != -EOPNOTSUPP)
			fail_msg("%s: %d", names[i], fd);
	}
	assert_int_equal(plain_file_open(-1), -EBADF);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_plain, setup, teardown),
		cmocka_unit_test_setup_teardown(test_others, setup, teardown),
	};

	return cmocka_run_group_tests_name("plain_file", tests, NULL, NULL);
}

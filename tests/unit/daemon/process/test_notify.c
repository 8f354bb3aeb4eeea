/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/process/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* A manager's socket; name as NOTIFY_SOCKET has it. */
static int
manager(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	memcpy(address.sun_path, name, strlen(name));
	if (name[0] == '@')
		address.sun_path[0] = '\0';
	assert_int_equal(bind(fd, (struct sockaddr *)&address, length), 0);
	setenv("NOTIFY_SOCKET", name, 1);
	return fd;
}

static void
expect(int fd, const char *want)
{
	char got[4096];
	ssize_t n = recv(fd, got, sizeof(got) - 1, MSG_DONTWAIT);

	assert_true(n >= 0);
	got[n] = '\0';
	assert_string_equal(got, want);
}

static void
test_path(void **state)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "/tmp/spoor-notify-%d", (int)getpid());
	fd = manager(name);
	assert_int_equal(notify_send("READY=1\nSTATUS=%d samples", 5), 0);
	expect(fd, "READY=1\nSTATUS=5 samples");
	close(fd);
	unlink(name);
	assert_int_equal(notify_send("WATCHDOG=1"), -ENOENT);
}

static void
test_abstract(void **state)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "@spoor-notify-%d", (int)getpid());
	fd = manager(name);
	assert_int_equal(notify_send("WATCHDOG=1"), 0);
	expect(fd, "WATCHDOG=1");
	close(fd);
	assert_int_equal(notify_send("WATCHDOG=1"), -ECONNREFUSED);
}

static void
test_nobody(void **state)
{
	char name[200];

	unsetenv("NOTIFY_SOCKET");
	assert_int_equal(notify_send("READY=1"), 0);
	setenv("NOTIFY_SOCKET", "", 1);
	assert_int_equal(notify_send("READY=1"), 0);
	setenv("NOTIFY_SOCKET", "vsock:2:1234", 1);
	assert_int_equal(notify_send("READY=1"), -EAFNOSUPPORT);
	setenv("NOTIFY_SOCKET", "@", 1);
	assert_int_equal(notify_send("READY=1"), -EAFNOSUPPORT);
	memset(name, 'x', sizeof(name));
	name[0] = '/';
	name[sizeof(name) - 1] = '\0';
	setenv("NOTIFY_SOCKET", name, 1);
	assert_int_equal(notify_send("READY=1"), -E2BIG);
	unsetenv("NOTIFY_SOCKET");
}

/* A manager that does not read must not hang the daemon. */
static void
test_full(void **state)
{
	char name[64];
	int fd, error = 0;

	snprintf(name, sizeof(name), "@spoor-notify-full-%d", (int)getpid());
	fd = manager(name);
	for (int i = 0; i < 100000 && !error; i++)
		error = notify_send("WATCHDOG=1");
	assert_int_equal(error, -EAGAIN);
	close(fd);
	unsetenv("NOTIFY_SOCKET");
}

static void
test_watchdog(void **state)
{
	char pid[32];

	unsetenv("WATCHDOG_PID");
	unsetenv("WATCHDOG_USEC");
	assert_int_equal(notify_watchdog_ns(), 0);
	setenv("WATCHDOG_USEC", "30000000", 1);
	assert_int_equal(notify_watchdog_ns(), UINT64_C(30000000000));
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	setenv("WATCHDOG_PID", pid, 1);
	assert_int_equal(notify_watchdog_ns(), UINT64_C(30000000000));
	setenv("WATCHDOG_PID", "1", 1);
	assert_int_equal(notify_watchdog_ns(), 0);
	unsetenv("WATCHDOG_PID");
	setenv("WATCHDOG_USEC", "99999999999999999999", 1);
	assert_int_equal(notify_watchdog_ns(), 0);
	setenv("WATCHDOG_USEC", "-5", 1);
	assert_int_equal(notify_watchdog_ns(), 0);
	unsetenv("WATCHDOG_USEC");
}

/* In a child: descriptors 3 and 4 are what the manager passed. The child's exit status. */
static int
listen_in_child(const char *fds, int pid_offset, int want)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		char pid[32];

		snprintf(pid, sizeof(pid), "%d", (int)getpid() + pid_offset);
		setenv("LISTEN_PID", pid, 1);
		setenv("LISTEN_FDS", fds, 1);
		if (dup2(0, 3) < 0 || dup2(0, 4) < 0)
			_exit(10);
		if (notify_listen_fd() != want)
			_exit(11);
		if (getenv("LISTEN_PID") || getenv("LISTEN_FDS"))
			_exit(12);
		if (want == 3 && !(fcntl(3, F_GETFD) & FD_CLOEXEC))
			_exit(13);
		if (want == 3 && strcmp(fds, "2") == 0 && !(fcntl(4, F_GETFD) & FD_CLOEXEC))
			_exit(14);
		/* Once only. */
		_exit(notify_listen_fd() == -1 ? 0 : 15);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}

static void
test_listen(void **state)
{
	assert_int_equal(listen_in_child("1", 0, 3), 0);
	assert_int_equal(listen_in_child("2", 0, 3), 0);
	assert_int_equal(listen_in_child("1", 1, -1), 0);
	assert_int_equal(listen_in_child("0", 0, -1), 0);
	assert_int_equal(listen_in_child("x", 0, -1), 0);
	assert_int_equal(listen_in_child("2000000000", 0, -1), 0);
	assert_int_equal(notify_listen_fd(), -1);
}

static void
test_makes(void **state)
{
	(void)state;
	unsetenv("STATE_DIRECTORY");
	assert_false(notify_makes("/var/lib/spoor"));
	setenv("STATE_DIRECTORY", "", 1);
	assert_false(notify_makes("/var/lib/spoor"));
	setenv("STATE_DIRECTORY", "/var/lib/spoor", 1);
	assert_true(notify_makes("/var/lib/spoor"));
	assert_true(notify_makes("/var/lib/spoor/archive"));
	assert_false(notify_makes("/var/lib/spoors"));
	assert_false(notify_makes("/var/lib"));
	setenv("STATE_DIRECTORY", "/var/lib/other:/var/lib/spoor", 1);
	assert_true(notify_makes("/var/lib/spoor"));
	assert_true(notify_makes("/var/lib/other/of"));
	assert_false(notify_makes("/var/lib/oth"));
	unsetenv("STATE_DIRECTORY");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_makes),	 cmocka_unit_test(test_path),
		cmocka_unit_test(test_abstract), cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_full),	 cmocka_unit_test(test_watchdog),
		cmocka_unit_test(test_listen),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("notify", tests, NULL, NULL);
}

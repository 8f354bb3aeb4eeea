/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths in the kernel's cache of names, while others mount. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/bytes/path_below.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "recorder/host/cached_path.h"
#include "tests/lab/child_lab.h"
#include "tests/lab/need_root.h"

#define LOOKUPS 20000

/* Mounts without a pause, and tells when it has begun. */
__attribute__((noreturn)) static void
mount_on(const char *dir, int begun)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		_exit(1);
	for (bool first = true;; first = false) {
		if (mount("t", dir, "tmpfs", 0, NULL) < 0 || umount(dir) < 0)
			_exit(1);
		if (first && write(begun, "", 1) != 1)
			_exit(1);
	}
}

static void
need_cached_lookups(void)
{
	int fd = cached_path_open(AT_FDCWD, "/", O_PATH, 0);

	if (fd >= 0)
		close(fd);
	if (fd != -EINVAL && fd != -ENOSYS)
		return;
	print_message("skipped: openat2(2) has RESOLVE_CACHED from Linux 5.12 on\n");
	skip();
}

/* All are found: the name is in the cache all the time. */
static void
test_beside_mounts(void **state)
{
	char dir[] = "/tmp/spoor-path.XXXXXX";
	int root, missed = 0, fd, begun[2];
	pid_t pid;
	char c;

	(void)state;
	need_root("can mount in a namespace of its own");
	need_cached_lookups();
	assert_non_null(mkdtemp(dir));
	root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(root >= 0);
	assert_int_equal(pipe(begun), 0);
	pid = fork();
	if (pid == 0)
		mount_on(dir, begun[1]);
	close(begun[1]);
	assert_int_equal(read(begun[0], &c, 1), 1);
	close(begun[0]);
	for (int i = 0; i < LOOKUPS; i++) {
		fd = cached_path_open(root, dir, O_PATH, RESOLVE_IN_ROOT);
		if (fd >= 0)
			close(fd);
		else
			missed++;
	}
	child_lab_end(pid);
	/* One try alone misses one of forty. */
	assert_true(missed <= LOOKUPS / 1000);
	close(root);
	rmdir(dir);
}

static void
test_not_there(void **state)
{
	int fd;

	(void)state;
	need_cached_lookups();
	fd = cached_path_open(AT_FDCWD, "/tmp/no/such", O_PATH, 0);
	assert_true(fd == -EAGAIN || fd == -ENOENT);
	assert_int_equal(path_below_open(AT_FDCWD, "/tmp/no/such", O_PATH, 0), -ENOENT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_beside_mounts),
		cmocka_unit_test(test_not_there),
	};

	return cmocka_run_group_tests_name("cached_path", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the control groups are, and their ids, against what the kernel says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/host/cgroup.h"

static int
root_of(const char *text, char *ret, size_t cap)
{
	char path[] = "/tmp/spoor-mounts.XXXXXX";
	int fd = mkstemp(path), rc;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	rc = cgroup_root(path, ret, cap);
	unlink(path);
	return rc;
}

static void
test_root(void **state)
{
	static const char v2[] = "proc /proc proc rw 0 0\n"
				 "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n";
	static const char hybrid[] = "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n"
				     "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n"
				     "cgroup2 /elsewhere cgroup2 rw 0 0\n";
	static const char v1[] = "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n"
				 "cgroup /no cgroup rw,perf_eventful 0 0\n"
				 "cgroup /sys/fs/cgroup/perf cgroup rw,relatime,perf_event 0 0\n";
	char path[256];

	assert_int_equal(root_of(v2, path, sizeof(path)), 0);
	assert_string_equal(path, "/sys/fs/cgroup");
	assert_int_equal(root_of(hybrid, path, sizeof(path)), 0);
	assert_string_equal(path, "/sys/fs/cgroup/unified");
	assert_int_equal(root_of(v1, path, sizeof(path)), 0);
	assert_string_equal(path, "/sys/fs/cgroup/perf");
	assert_int_equal(root_of(v1, path, 4), -ENAMETOOLONG);
	assert_int_equal(root_of("proc /proc proc rw 0 0\n", path, sizeof(path)), -ENOENT);
	assert_int_equal(cgroup_root("/nonexistent", path, sizeof(path)), -ENOENT);
}

struct seen {
	const char *want;
	uint64_t id;
	int groups, roots;
};

static int
see(void *arg, uint64_t id, const char *path)
{
	struct seen *s = arg;

	s->groups++;
	assert_int_equal(path[0], '/');
	if (strcmp(path, "/") == 0) {
		s->roots++;
		assert_int_equal(s->groups, 1); /* parents first */
	}
	if (strcmp(path, s->want) == 0)
		s->id = id;
	return 0;
}

static int
see_one(void *arg, uint64_t id, const char *path)
{
	++*(int *)arg;
	return 7;
}

static void
assert_opens(const char *argument, ino_t ino)
{
	int fd = cgroup_open(argument);
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_ino, ino);
	close(fd);
}

static void
test_walk(void **state)
{
	char root[256], dir[300], outer[300], twin[330];
	struct seen s = { .want = "/spoor-test/spoor-inner" };
	struct stat st;
	int calls = 0, made;

	if (cgroup_root(NULL, root, sizeof(root))) {
		print_message("skipped: no cgroup2 is mounted\n");
		skip();
	}
	snprintf(outer, sizeof(outer), "%s/spoor-test", root);
	snprintf(dir, sizeof(dir), "%s/spoor-test/spoor-inner", root);
	snprintf(twin, sizeof(twin), "%s/spoor-inner", dir);
	made = mkdir(outer, 0755) == 0 && mkdir(dir, 0755) == 0;
	assert_int_equal(cgroup_walk(root, see, &s), 0);
	assert_int_equal(s.roots, 1);
	assert_int_equal(cgroup_walk(root, see_one, &calls), 7);
	assert_int_equal(calls, 1);
	if (made) {
		/* The kernel's id of a group is the inode of its directory, on 64-bit kernels. */
		assert_int_equal(stat(dir, &st), 0);
		assert_int_equal(s.id, st.st_ino);
		assert_opens("spoor-test/spoor-inner", st.st_ino);
		assert_opens(dir, st.st_ino);
		assert_opens("spoor-inner", st.st_ino);
		/* Whole components, and of one group only. */
		assert_int_equal(cgroup_open("oor-inner"), -ENOENT);
		assert_int_equal(mkdir(twin, 0755), 0);
		assert_int_equal(cgroup_open("spoor-inner"), -ENOTUNIQ);
		assert_int_equal(rmdir(twin), 0);
	}
	assert_int_equal(cgroup_open("no/such/group"), -ENOENT);
	assert_int_equal(cgroup_open("/tmp"), -EINVAL);
	rmdir(dir);
	rmdir(outer);
	assert_int_equal(cgroup_walk("/nonexistent", see, &s), -ENOENT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_root),
		cmocka_unit_test(test_walk),
	};

	return cmocka_run_group_tests_name("cgroup", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where outputs go: as realpath(3) says where nobody else can write, and not through what others put
 * where anybody can. The rules are our own: what fs.protected_symlinks is set to does not matter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/bytes/out_path.h"
#include "tests/lab/need_root.h"

#define SOMEBODY 65533

static char home[64];

static int
setup(void **state)
{
	(void)state;
	snprintf(home, sizeof(home), "/tmp/out_path.XXXXXX");
	assert_non_null(mkdtemp(home));
	assert_int_equal(chmod(home, 0755), 0);
	assert_int_equal(chdir(home), 0);
	assert_int_equal(mkdir("mine", 0755), 0);
	assert_int_equal(mkdir("mine/deep", 0755), 0);
	assert_int_equal(mkdir("open", 0755), 0);
	assert_int_equal(chmod("open", 01777), 0);
	return 0;
}

static int
teardown(void **state)
{
	char command[128];

	(void)state;
	assert_int_equal(chdir("/"), 0);
	snprintf(command, sizeof(command), "rm -rf %s", home);
	return system(command);
}

static void
resolves(const char *path)
{
	char *mine = out_path_resolve(path), theirs[PATH_MAX];

	assert_non_null(realpath(path, theirs));
	assert_non_null(mine);
	assert_string_equal(mine, theirs);
	free(mine);
}

static void
refused(const char *path)
{
	errno = 0;
	assert_null(out_path_resolve(path));
	assert_int_equal(errno, OUT_PATH_E_REFUSED);
}

static void
test_as_realpath(void **state)
{
	static const char *const paths[] = { "f",
					     "./f",
					     "mine/../f",
					     "mine/deep/../../f",
					     "to_f",
					     "to_mine/f2",
					     "to_deep/../f2",
					     "chain",
					     "/tmp",
					     "/",
					     "//tmp//.",
					     "open/own",
					     "to_mine/deep/up/deep/up/f2" };
	char path[PATH_MAX];
	int fd = open("f", O_WRONLY | O_CREAT, 0600);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	close(open("mine/f2", O_WRONLY | O_CREAT, 0600));
	assert_int_equal(symlink("f", "to_f"), 0);
	assert_int_equal(symlink("mine", "to_mine"), 0);
	assert_int_equal(symlink("to_mine/deep", "to_deep"), 0);
	assert_int_equal(symlink("..", "mine/deep/up"), 0);
	snprintf(path, sizeof(path), "%s/to_f", home);
	assert_int_equal(symlink(path, "chain"), 0);
	assert_int_equal(symlink("../f", "open/own"), 0);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		resolves(paths[i]);
}

static void
test_what_is_not_there(void **state)
{
	char want[PATH_MAX], *found;

	(void)state;
	snprintf(want, sizeof(want), "%s/mine/new", home);
	assert_int_equal(symlink("mine/new", "dangling"), 0);
	found = out_path_resolve("dangling");
	assert_string_equal(found, want);
	free(found);
	assert_null(out_path_resolve("nowhere/new"));
	assert_int_equal(errno, ENOENT);
	assert_null(out_path_resolve(""));
	assert_int_equal(errno, ENOENT);
	assert_int_equal(symlink("loop", "loop"), 0);
	assert_null(out_path_resolve("loop"));
	assert_int_equal(errno, ELOOP);
}

static void
as_it_is(const char *path)
{
	char *found = out_path_resolve(path);

	assert_string_equal(found, path);
	free(found);
}

/* Links that are descriptors, which may have no path. */
static void
test_descriptors(void **state)
{
	char *found = out_path_resolve("/dev/stdout"), path[64];

	(void)state;
	assert_string_equal(found, "/proc/self/fd/1");
	free(found);
	found = out_path_resolve("/proc/../proc/self/fd/1");
	assert_string_equal(found, "/proc/self/fd/1");
	free(found);
	as_it_is("/proc/self/fd/1");
	as_it_is("/proc/thread-self/fd/1");
	snprintf(path, sizeof(path), "/proc/%d/task/%d/fd/1", (int)getpid(), (int)getpid());
	as_it_is(path);
	as_it_is("/proc/sys/kernel/core_pattern");
	/* What is behind one is a path again. */
	resolves("/proc/self/cwd/mine/deep/../../f");
}

static void
test_long_names(void **state)
{
	char path[PATH_MAX], *found;

	(void)state;
	memset(path, 'a', sizeof(path));
	path[NAME_MAX] = '\0';
	found = out_path_resolve(path);
	assert_non_null(found);
	assert_int_equal(strlen(found), strlen(home) + 1 + NAME_MAX);
	free(found);
	path[NAME_MAX] = 'a';
	path[NAME_MAX + 1] = '\0';
	errno = 0;
	assert_null(out_path_resolve(path));
	assert_int_equal(errno, ENAMETOOLONG);
	/* One of two names, of which the first were there. */
	path[NAME_MAX] = '\0';
	assert_int_equal(mkdir(path, 0700), 0);
	path[NAME_MAX] = 'b';
	assert_null(out_path_resolve(path));
	assert_int_equal(errno, ENAMETOOLONG);
}

/* A link in open/ that somebody else made. */
static void
plant(const char *target, const char *path)
{
	assert_int_equal(symlink(target, path), 0);
	assert_int_equal(lchown(path, SOMEBODY, SOMEBODY), 0);
}

static void
test_planted(void **state)
{
	char path[PATH_MAX], *found;
	int fd;

	(void)state;
	need_root("can be another user");
	plant("../mine/victim", "open/file");
	plant("../mine", "open/directory");
	refused("open/file");
	refused("open/directory/file");
	assert_int_equal(symlink("open/file", "mine/indirect"), 0);
	assert_int_equal(symlink("../open/file", "mine/indirect2"), 0);
	refused("mine/indirect2");
	snprintf(path, sizeof(path), "%s/open/directory/x", home);
	refused(path);
	/* The directory's owner may. */
	assert_int_equal(chown("open", SOMEBODY, SOMEBODY), 0);
	found = out_path_resolve("open/file");
	assert_non_null(found);
	free(found);
	assert_int_equal(chown("open", 0, 0), 0);
	/* And where nobody else can write, whose it is does not matter. */
	plant("../f", "mine/theirs");
	resolves("mine/theirs");
	/* Put there since it was looked at. */
	snprintf(path, sizeof(path), "%s/open/file", home);
	fd = out_path_open(path, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(fd, -1);
	assert_int_equal(errno, OUT_PATH_E_REFUSED);
	assert_int_equal(access("mine/victim", F_OK), -1);
}

/* Past /proc, and where only the name begins so, as elsewhere. */
static void
test_planted_past_proc(void **state)
{
	static const char *const prefixes[] = { "/proc/..", "/proc/self/../..", "/proc/self/root",
						"/proc/self/root/proc/self/fd/../root" };
	char path[PATH_MAX];
	int status;
	pid_t pid;

	(void)state;
	need_root("can be another user");
	plant("../mine/victim", "open/past");
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		snprintf(path, sizeof(path), "%s%s/open/past", prefixes[i], home);
		refused(path);
	}
	refused("/proc/self/cwd/open/past");
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(chroot(home) < 0 || mkdir("/process", 0755) < 0 ||
		      symlink("/open", "/process/link") < 0 ||
		      out_path_resolve("/process/link/past") || errno != OUT_PATH_E_REFUSED);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Neither a file of theirs nor a FIFO gets what is ours. */
static void
test_theirs(void **state)
{
	char path[PATH_MAX];
	struct stat st;
	int fd;

	(void)state;
	need_root("can be another user");
	fd = open("open/theirs", O_WRONLY | O_CREAT, 0666);
	assert_int_equal(write(fd, "abc", 3), 3);
	assert_int_equal(fchown(fd, SOMEBODY, SOMEBODY), 0);
	close(fd);
	snprintf(path, sizeof(path), "%s/open/theirs", home);
	assert_int_equal(out_path_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600), -1);
	assert_int_equal(errno, OUT_PATH_E_REFUSED);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 3);
	assert_int_equal(mkfifo("open/fifo", 0666), 0);
	assert_int_equal(chown("open/fifo", SOMEBODY, SOMEBODY), 0);
	snprintf(path, sizeof(path), "%s/open/fifo", home);
	assert_int_equal(out_path_open(path, O_RDWR | O_CREAT, 0600), -1);
	assert_int_equal(errno, OUT_PATH_E_REFUSED);
	/* Our own. */
	snprintf(path, sizeof(path), "%s/open/ours", home);
	fd = out_path_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "abc", 3), 3);
	close(fd);
	fd = out_path_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, 0);
	close(fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_realpath), cmocka_unit_test(test_what_is_not_there),
		cmocka_unit_test(test_descriptors), cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_planted),	    cmocka_unit_test(test_planted_past_proc),
		cmocka_unit_test(test_theirs),
	};

	return cmocka_run_group_tests_name("out_path", tests, setup, teardown);
}

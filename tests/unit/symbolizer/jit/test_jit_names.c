/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files are those of this process: /tmp/perf-PID.map, and a jitdump in a directory of its own. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "symbolizer/jit/jit_names.h"

static const struct jit_names_options of_this_host = { .files = true, .timed = true };

static char map_path[64];

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void
write_map(const char *text)
{
	FILE *f = fopen(map_path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static int
setup(void **state)
{
	snprintf(map_path, sizeof(map_path), "/tmp/perf-%d.map", getpid());
	unlink(map_path);
	write_map("1000 100 old\n1080 10 new\n0x2000 0x20 other one\n");
	return 0;
}

static int
teardown(void **state)
{
	return unlink(map_path);
}

static int
find(struct jit_names *j, const struct jit_process *process, uint64_t address, struct jit_name *ret)
{
	return jit_names_find(j, process, address, process->alive_ns, ret);
}

/* What a process of our number is called there, by files as they are now; NULL. */
static const char *
name_of(const struct jit_process *process, uint64_t address)
{
	static char name[64];
	struct jit_names *j = jit_names_new(&of_this_host);
	struct jit_name found;
	int r = find(j, process, address, &found);

	assert_true(r >= 0);
	if (r > 0)
		snprintf(name, sizeof(name), "%s", found.symbol);
	jit_names_free(j);
	return r > 0 ? name : NULL;
}

static struct jit_process
ourselves(void)
{
	return (struct jit_process){ .pid = (uint32_t)getpid(), .alive_ns = now_ns() };
}

static void
test_map(void **state)
{
	const struct jit_process us = ourselves();
	struct jit_names *j = jit_names_new(&of_this_host);
	struct jit_name name;

	assert_int_equal(find(j, &us, 0x1010, &name), 1);
	assert_string_equal(name.symbol, "old");
	assert_int_equal(name.start, 0x1000);
	assert_string_equal(name.dso, map_path);
	assert_int_equal(find(j, &us, 0x1080, &name), 1);
	assert_string_equal(name.symbol, "new");
	assert_int_equal(find(j, &us, 0x201f, &name), 1);
	assert_int_equal(find(j, &us, 0x2020, &name), 0);
	assert_false(jit_names_timed(j, us.pid));
	assert_int_equal(jit_names_left_out(j), 0);
	jit_names_free(j);
}

/* reader_names_full: a process whose map has more than an eighth of all entries has none of them; others have theirs. */
static void
test_one_of_many(void **state)
{
	const struct jit_process us = ourselves();
	struct jit_names *j = jit_names_new(&of_this_host);
	struct jit_process child = us;
	struct jit_name name;
	char path[80];
	FILE *f = fopen(map_path, "w");
	pid_t pid = fork();

	if (pid == 0) {
		(void)pause();
		_exit(0);
	}
	assert_non_null(f);
	for (unsigned int i = 0; i < 200000; i++)
		fprintf(f, "%x 10 name_%u\n", 0x1000 + 16 * i, i);
	fclose(f);
	child.pid = (uint32_t)pid;
	child.alive_ns = now_ns();
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("1000 100 own\n", f);
	fclose(f);
	assert_int_equal(find(j, &us, 0x1010, &name), 0);
	assert_int_equal(jit_names_left_out(j), 200000);
	assert_int_equal(find(j, &child, 0x1010, &name), 1);
	assert_string_equal(name.symbol, "own");
	jit_names_free(j);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(unlink(path), 0);
}

static void
test_not_believed(void **state)
{
	const struct timespec long_ago[2] = { { 86400, 0 }, { 86400, 0 } };
	struct jit_process us = ourselves();
	char other[80];

	assert_string_equal(name_of(&us, 0x1010), "old");
	/* of another boot */
	assert_int_equal(utimensat(AT_FDCWD, map_path, long_ago, 0), 0);
	assert_null(name_of(&us, 0x1010));
	assert_int_equal(utimensat(AT_FDCWD, map_path, NULL, 0), 0);
	assert_string_equal(name_of(&us, 0x1010), "old");
	/* one that had our number, and lived before us: the file is ours */
	us.alive_ns = 1;
	assert_null(name_of(&us, 0x1010));
	us = ourselves();
	/* a link */
	snprintf(other, sizeof(other), "%s.kept", map_path);
	assert_int_equal(rename(map_path, other), 0);
	assert_int_equal(symlink(other, map_path), 0);
	assert_null(name_of(&us, 0x1010));
	unlink(map_path);
	/* what a reader would wait for */
	assert_int_equal(mkfifo(map_path, 0600), 0);
	assert_null(name_of(&us, 0x1010));
	unlink(map_path);
	assert_int_equal(mkdir(map_path, 0700), 0);
	assert_null(name_of(&us, 0x1010));
	rmdir(map_path);
	assert_int_equal(rename(other, map_path), 0);
	assert_string_equal(name_of(&us, 0x1010), "old");
	if (geteuid() == 0) {
		assert_int_equal(chown(map_path, 12345, 0), 0);
		assert_null(name_of(&us, 0x1010));
	}
}

/* Of nobody: a process that is gone, whose file is the host's. */
static void
test_ended(void **state)
{
	struct jit_process gone = { .pid = 0x7ffffff0, .alive_ns = now_ns() };
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%u.map", gone.pid);
	assert_int_equal(rename(map_path, path), 0);
	assert_string_equal(name_of(&gone, 0x1010), "old");
	/* It began after the file was last written. */
	gone.start_ns = now_ns() + UINT64_C(5000000000);
	assert_null(name_of(&gone, 0x1010));
	assert_int_equal(rename(path, map_path), 0);
}

/* A header, and "dumped" at 0x1000 from the time 50 on. */
static void
write_dump(const char *path)
{
	struct {
		uint32_t magic, version, total, machine, pad, pid;
		uint64_t time, flags;
		uint32_t id, bytes;
		uint64_t at;
		uint32_t process, thread;
		uint64_t vma, address, size, index;
		char name[8];
	} d = { .magic = 0x4a695444, .version = 1, .total = 40, .bytes = 64, .at = 50 };
	FILE *f = fopen(path, "w");

	d.address = 0x1000;
	d.size = 0x10;
	memcpy(d.name, "dumped", 7);
	assert_non_null(f);
	assert_int_equal(fwrite(&d, 40 + 64, 1, f), 1);
	assert_int_equal(fclose(f), 0);
}

static void
test_dump(void **state)
{
	char dir[] = "/tmp/spoor-jit.XXXXXX", path[64], odd[64];
	const struct jit_process us = ourselves();
	struct jit_names *j = jit_names_new(&of_this_host);
	struct perf_mmap map = { .pid = us.pid, .filename = path };
	struct jit_name name;
	struct stat st;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/jit-%d.dump", dir, getpid());
	snprintf(odd, sizeof(odd), "%s/jit-x.dump", dir);
	write_dump(path);
	write_dump(odd);
	/* by a name that no runtime has */
	map.filename = odd;
	assert_int_equal(jit_names_map(j, &map), 0);
	assert_false(jit_names_timed(j, us.pid));
	map.filename = path;
	assert_int_equal(stat(path, &st), 0);
	map.ino = st.st_ino;
	assert_int_equal(jit_names_map(j, &map), 0);
	assert_int_equal(jit_names_map(j, &map), 0);
	assert_true(jit_names_timed(j, us.pid));
	assert_false(jit_names_timed(j, us.pid + 1));
	assert_int_equal(jit_names_find(j, &us, 0x1008, 49, &name), 1);
	assert_string_equal(name.symbol, "old"); /* the map's, which has no time */
	assert_int_equal(jit_names_find(j, &us, 0x1008, 50, &name), 1);
	assert_string_equal(name.symbol, "dumped");
	jit_names_free(j);
	/* another file is there by now */
	j = jit_names_new(&of_this_host);
	map.ino = st.st_ino + 1;
	assert_int_equal(jit_names_map(j, &map), 0);
	assert_int_equal(jit_names_find(j, &us, 0x1008, 50, &name), 1);
	assert_string_equal(name.symbol, "old");
	jit_names_free(j);
	unlink(path);
	unlink(odd);
	rmdir(dir);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_map, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_of_many, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_believed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ended, setup, teardown),
		cmocka_unit_test_setup_teardown(test_dump, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

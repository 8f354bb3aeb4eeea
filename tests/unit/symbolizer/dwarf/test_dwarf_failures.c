/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files whose debug information could not be read: known again while they are the same, and for a time.
 */
#include "symbolizer/dwarf/dwarf_failures.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[64], path[128];

static int
set_up(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/test_dwarf_failures.XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/" DWARF_FAILURES_NAME, dir);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	(void)unlink(path);
	return rmdir(dir);
}

static struct dwarf_failures *
open_failures(void)
{
	struct dwarf_failures *f = dwarf_failures_open(dir);

	assert_non_null(f);
	return f;
}

static void
test_known_again(void **state)
{
	int bad = memfd_create("bad", MFD_CLOEXEC), good = memfd_create("good", MFD_CLOEXEC);
	struct dwarf_failures *f = open_failures();
	enum dwarf_outcome outcome;

	(void)state;
	assert_false(dwarf_failures_find(f, bad, &outcome));
	dwarf_failures_add(f, bad, DWARF_LATE);
	dwarf_failures_add(f, good, DWARF_DONE);
	dwarf_failures_add(f, good, DWARF_NONE);
	dwarf_failures_add(f, good, DWARF_UNREAD);
	dwarf_failures_close(f);
	f = open_failures();
	assert_true(dwarf_failures_find(f, bad, &outcome));
	assert_int_equal(outcome, DWARF_LATE);
	assert_false(dwarf_failures_find(f, good, &outcome));
	assert_int_equal(ftruncate(bad, 1), 0);
	assert_false(dwarf_failures_find(f, bad, &outcome));
	dwarf_failures_close(f);
	close(bad);
	close(good);
}

static void
test_bounded(void **state)
{
	int old = memfd_create("old", MFD_CLOEXEC), bad = memfd_create("bad", MFD_CLOEXEC);
	struct dwarf_failures *f = open_failures();
	enum dwarf_outcome outcome;
	struct stat st;

	(void)state;
	dwarf_failures_add(f, old, DWARF_LATE);
	for (size_t i = 0; i < DWARF_FAILURES_MAX; i++)
		dwarf_failures_add(f, bad, DWARF_CRASHED);
	assert_false(dwarf_failures_find(f, old, &outcome));
	dwarf_failures_close(f);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 16 + DWARF_FAILURES_MAX * 44);
	close(old);
	close(bad);
}

/* Nothing of a file with an error in it is believed, and it is replaced. */
static void
test_damaged(void **state)
{
	int bad = memfd_create("bad", MFD_CLOEXEC), fd;
	struct dwarf_failures *f = open_failures();
	enum dwarf_outcome outcome;

	(void)state;
	dwarf_failures_add(f, bad, DWARF_LATE);
	dwarf_failures_close(f);
	fd = open(path, O_RDWR | O_CLOEXEC);
	for (off_t at = 0; at < 16 + 44; at++) {
		uint8_t byte;

		assert_int_equal(pread(fd, &byte, 1, at), 1);
		byte ^= 1;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		f = open_failures();
		assert_false(dwarf_failures_find(f, bad, &outcome));
		dwarf_failures_close(f);
		byte ^= 1;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
	for (off_t len = 0; len < 16 + 44; len++) {
		assert_int_equal(ftruncate(fd, 16 + 43 - len), 0);
		f = open_failures();
		assert_false(dwarf_failures_find(f, bad, &outcome));
		dwarf_failures_close(f);
	}
	f = dwarf_failures_open(NULL);
	assert_non_null(f);
	dwarf_failures_add(f, bad, DWARF_LATE);
	dwarf_failures_close(f);
	close(fd);
	close(bad);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_known_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_bounded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_damaged, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("dwarf_failures", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A copy of a file: whoever asked for it hears of each read, those that look through the file before its first byte is kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/bytes/io.h"
#include "recorder/helper/object_copy.h"

struct asked {
	int times, until;
};

static int
go_on(void *arg)
{
	struct asked *a = arg;

	return ++a->times > a->until;
}

/* This program, in a file that no other user can reach: its copy is reduced. */
static int
unnamed_program(void)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int fd = memfd_create("program", MFD_CLOEXEC);
	char bytes[4096];
	ssize_t n;

	assert_true(from >= 0 && fd >= 0);
	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		assert_int_equal(write(fd, bytes, (size_t)n), n);
	assert_int_equal(n, 0);
	(void)close(from);
	return fd;
}

static void
test_asked(void **state)
{
	struct asked a = { 0, INT32_MAX };
	struct object_copy c = { .nr = 0 };
	struct io_source *self;
	struct buildid id;
	int fd = unnamed_program(), all;

	(void)state;
	self = io_source_dup(fd);
	assert_non_null(self);
	assert_int_equal(buildid_read(self, &id), 0);
	assert_int_equal(object_copy_read(&c, fd, &id, go_on, &a), 0);
	assert_true(c.nr > 0);
	all = a.times;
	assert_true((size_t)all > c.nr);
	object_copy_done(&c);
	for (int i = 0; i < all; i += i < 8 ? 1 : all / 8 + 1) {
		a = (struct asked){ 0, i };
		c = (struct object_copy){ .nr = 0 };
		assert_int_equal(object_copy_read(&c, fd, &id, go_on, &a), -ETIMEDOUT);
		/* No read is tried after it. */
		assert_in_range(a.times, i + 1, i + 2);
		assert_true(i >= 8 || c.nr == 0);
		object_copy_done(&c);
	}
	self->close(self);
	(void)close(fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_asked) };

	return cmocka_run_group_tests_name("object_copy", tests, NULL, NULL);
}

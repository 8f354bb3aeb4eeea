/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/bytes/io.h"
#include "format/bytes/io_shared.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static int
temporary(int flags)
{
	char path[] = "/tmp/spoor-test-io.XXXXXX";
	int fd = mkostemp(path, flags | O_CLOEXEC);

	assert_true(fd >= 0);
	unlink(path);
	return fd;
}

static void
check_file(int fd, const char *want)
{
	char back[64];
	ssize_t n = pread(fd, back, sizeof(back), 0);

	assert_int_equal(n, strlen(want));
	assert_memory_equal(back, want, (size_t)n);
}

static void
test_sink_on_a_file(void **state)
{
	int fd = temporary(0), other = dup(fd);
	struct io_sink *sink = io_sink_fd(fd);

	assert_int_equal(sink->write(sink, "one two", 7), 0);
	assert_int_equal(sink->cut(sink, 3), 0);
	assert_int_equal(sink->write(sink, "!", 1), 0);
	assert_int_equal(sink->sync(sink), 0);
	assert_int_equal(sink->cut(sink, UINT64_MAX), -EINVAL);
	sink->close(sink);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	check_file(other, "one!");
	close(other);
}

/* A recording that begins behind something else is cut back to its own size. */
static void
test_sink_behind_something(void **state)
{
	for (int append = 0; append < 2; append++) {
		int fd = temporary(append ? O_APPEND : 0), other = dup(fd);
		struct io_sink *sink;

		assert_int_equal(write(fd, "xx", 2), 2);
		if (append)
			lseek(fd, 0, SEEK_SET); /* as a shell's >> leaves it */
		sink = io_sink_fd(fd);
		assert_int_equal(sink->write(sink, "abc", 3), 0);
		assert_int_equal(sink->cut(sink, 1), 0);
		assert_int_equal(sink->write(sink, "d", 1), 0);
		sink->close(sink);
		check_file(other, "xxad");
		close(other);
	}
}

static void
test_sink_on_a_full_disk(void **state)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct io_sink *sink = io_sink_fd(fd);

	assert_int_equal(sink->write(sink, "abc", 3), -ENOSPC);
	assert_int_equal(sink->cut(sink, 0), -EINVAL);
	sink->close(sink);
}

/* More than a pipe holds, written without blocking mode, read by somebody slow. */
static void
test_pipes(void **state)
{
	const size_t n = 1u << 20;
	uint8_t *p = malloc(n), *back = malloc(n + 1);
	struct io_source *source;
	int fds[2], status;
	pid_t child;

	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(i * 31 + (i >> 9));
	assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	child = fork();
	if (child == 0) {
		struct io_sink *sink = io_sink_fd(fds[1]);
		int error;

		close(fds[0]);
		error = sink->write(sink, p, n) | sink->sync(sink);
		sink->close(sink);
		_exit(error != 0);
	}
	close(fds[1]);
	source = io_source_fd(fds[0]);
	assert_non_null(source);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(source->size(source), n);
	assert_int_equal(source->read(source, 0, back, n + 1), n);
	assert_memory_equal(back, p, n);
	assert_int_equal(source->read(source, n - 2, back, 100), 2);
	assert_int_equal(source->read(source, n, back, 100), 0);
	assert_int_equal(source->read(source, UINT64_MAX, back, 100), 0);
	source->close(source);
	free(p);
	free(back);
}

static void
test_sources(void **state)
{
	int fd = temporary(0), other = dup(fd);
	struct io_source *source = io_source_fd(fd);
	char b[8];

	assert_int_equal(source->size(source), 0);
	assert_int_equal(write(other, "grown", 5), 5);
	assert_int_equal(source->size(source), 5);
	assert_int_equal(source->read(source, 1, b, 8), 4);
	assert_memory_equal(b, "rown", 4);
	assert_int_equal(source->read(source, 9, b, 8), 0);
	assert_int_equal(source->read(source, UINT64_MAX, b, 8), -EINVAL);
	source->close(source);
	close(other);

	assert_null(io_source_fd(open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
	assert_int_equal(errno, EISDIR);
	assert_null(io_source_fd(-1));
	assert_int_equal(errno, EBADF);
}

/* A part ends where it is said to, and no later than the file; its holes are those of the file. */
static void
test_parts(void **state)
{
	int fd = temporary(0);
	struct io_source *half, *other, *part;
	char b[16];

	assert_int_equal(pwrite(fd, "0123456789", 10, 0), 10);
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	assert_int_equal(pwrite(fd, "x", 1, 1 << 20), 1);
	half = io_source_share(io_source_fd(fd), &other);
	part = io_source_part(io_source_another(half), 2, 5);
	half->close(half);
	other->close(other);
	assert_int_equal(part->size(part), 5);
	assert_int_equal(part->read(part, 0, b, 16), 5);
	assert_memory_equal(b, "23456", 5);
	assert_int_equal(part->read(part, 4, b, 16), 1);
	assert_int_equal(part->read(part, 5, b, 16), 0);
	assert_int_equal(part->read(part, UINT64_MAX, b, 16), 0);
	assert_int_equal(part->data(part, 1), 1);
	part->close(part);

	half = io_source_share(io_source_memory("0123456789", 10), &other);
	part = io_source_part(half, 8, UINT64_MAX);
	assert_int_equal(part->size(part), 2);
	assert_int_equal(part->read(part, 0, b, 16), 2);
	assert_memory_equal(b, "89", 2);
	part->close(part);
	part = io_source_part(other, 11, 3);
	assert_int_equal(part->size(part), 0);
	assert_int_equal(part->read(part, 0, b, 16), 0);
	part->close(part);
}

static void
test_holes_of_a_part(void **state)
{
	int fd = temporary(0);
	struct io_source *part;

	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	assert_int_equal(pwrite(fd, "x", 1, 1 << 20), 1);
	part = io_source_part(io_source_fd(fd), 4096, 2 << 20);
	/* A file system without holes says that all is data. */
	assert_true(part->data(part, 0) == (1 << 20) - 4096 || part->data(part, 0) == 0);
	assert_int_equal(part->data(part, (1 << 20) - 4095), UINT64_MAX);
	part->close(part);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sink_on_a_file),
		cmocka_unit_test(test_sink_behind_something),
		cmocka_unit_test(test_sink_on_a_full_disk),
		cmocka_unit_test(test_pipes),
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_holes_of_a_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

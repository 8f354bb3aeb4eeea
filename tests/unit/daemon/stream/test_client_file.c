/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A client's file: what it takes, and that nobody waits for one that takes nothing. A pipe plays it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/stream/client_file.h"

#define USER 64001
#define MORE 300000 /* than a pipe and a buffer hold */

struct writing {
	struct io_sink *sink;
	int result;
};

static uint8_t bytes[MORE];

static void *
write_all(void *arg)
{
	struct writing *w = arg;

	w->result = w->sink->write(w->sink, bytes, sizeof(bytes));
	return NULL;
}

static void
wait_left(uid_t uid, uint32_t nr)
{
	for (int i = 0; i < 1000 && client_file_left(uid) != nr; i++)
		usleep(10000);
	assert_int_equal(client_file_left(uid), nr);
}

static void
test_takes(void **state)
{
	int fd = memfd_create("client", MFD_CLOEXEC), mine = dup(fd);
	uint8_t *back = malloc(MORE);
	struct client_file *f;
	struct io_sink *sink;

	(void)state;
	assert_int_equal(client_file_new(fd, USER, &f), 0);
	assert_int_equal(client_file_is_pseudo(f), 0);
	sink = client_file_sink(f);
	for (size_t i = 0; i < MORE; i++)
		bytes[i] = (uint8_t)(i ^ i >> 8);
	assert_int_equal(sink->write(sink, bytes, MORE), 0);
	assert_int_equal(sink->write(sink, bytes, 10), 0);
	assert_int_equal(sink->cut(sink, MORE), 0);
	assert_int_equal(sink->sync(sink), 0);
	sink->close(sink);
	client_file_free(f);
	wait_left(USER, 0);
	assert_int_equal(lseek(mine, 0, SEEK_END), MORE);
	assert_int_equal(pread(mine, back, MORE, 0), MORE);
	assert_memory_equal(back, bytes, MORE);
	close(mine);
	free(back);
}

static void
test_error(void **state)
{
	struct client_file *f;
	struct io_sink *sink;

	(void)state;
	assert_int_equal(client_file_new(open("/dev/full", O_WRONLY), USER, &f), 0);
	sink = client_file_sink(f);
	assert_int_equal(sink->write(sink, bytes, 10), -ENOSPC);
	assert_int_equal(sink->write(sink, bytes, 10), -ENOSPC);
	sink->close(sink);
	client_file_free(f);
	wait_left(USER, 0);
}

static void
test_kernels_own(void **state)
{
	struct client_file *f;

	(void)state;
	assert_int_equal(client_file_new(open("/proc/self/comm", O_WRONLY), USER, &f), 0);
	assert_int_equal(client_file_is_pseudo(f), 1);
	client_file_free(f);
	wait_left(USER, 0);
}

static void
test_given_up(void **state)
{
	struct client_file *f;
	struct writing w;
	pthread_t thread;
	char some[4096];
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(client_file_new(ends[1], USER, &f), 0);
	w = (struct writing){ client_file_sink(f), 0 };
	assert_int_equal(pthread_create(&thread, NULL, write_all, &w), 0);
	usleep(50000);
	assert_int_equal(client_file_left(USER), 0);
	client_file_give_up(f);
	pthread_join(thread, NULL);
	assert_int_equal(w.result, -ETIMEDOUT);
	/* Nor does anybody wait from now on. */
	assert_int_equal(w.sink->write(w.sink, bytes, 1), -ETIMEDOUT);
	assert_int_equal(w.sink->cut(w.sink, 0), -ETIMEDOUT);
	assert_int_equal(w.sink->sync(w.sink), -ETIMEDOUT);
	w.sink->close(w.sink);
	client_file_free(f);
	/* It is this user's, as long as the file takes nothing. */
	assert_int_equal(client_file_left(USER), 1);
	assert_int_equal(client_file_left(USER + 1), 0);
	assert_int_equal(client_file_left((uid_t)-1), 1);
	while (read(ends[0], some, sizeof(some)) > 0)
		;
	wait_left(USER, 0);
	close(ends[0]);
}

/* Its pages would be ours for as long as the file is there. */
static void
test_memory_is_bounded(void **state)
{
	/* Half of what is left each, and root the rest. */
	static const struct {
		uid_t uid;
		size_t bytes;
	} users[] = { { USER, CLIENT_FILE_MEMORY_MAX / 2 },
		      { USER, CLIENT_FILE_MEMORY_MAX / 4 },
		      { 0, CLIENT_FILE_MEMORY_MAX / 4 } };
	struct client_file *f;
	struct io_sink *sink;
	int r = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++) {
		size_t taken = 0;

		assert_int_equal(
			client_file_new(memfd_create("full", MFD_CLOEXEC), users[i].uid, &f), 0);
		assert_int_equal(client_file_is_pseudo(f), 0);
		sink = client_file_sink(f);
		while ((r = sink->write(sink, bytes, MORE)) == 0)
			taken += MORE;
		assert_int_equal(r, -EDQUOT);
		assert_true(client_file_is_full(f));
		assert_in_range(taken, users[i].bytes - 2 * MORE, users[i].bytes + MORE);
		sink->close(sink);
		client_file_free(f);
		wait_left(users[i].uid, 0);
	}
	/* What is on a disk is another matter. */
	assert_int_equal(client_file_new(open(".", O_TMPFILE | O_WRONLY, 0600), USER, &f), 0);
	assert_int_equal(client_file_is_pseudo(f), 0);
	sink = client_file_sink(f);
	assert_int_equal(sink->write(sink, bytes, MORE), 0);
	assert_false(client_file_is_full(f));
	sink->close(sink);
	client_file_free(f);
	wait_left(USER, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_takes),
		cmocka_unit_test(test_error),
		cmocka_unit_test(test_kernels_own),
		cmocka_unit_test(test_given_up),
		cmocka_unit_test(test_memory_is_bounded),
	};

	return cmocka_run_group_tests_name("client_file", tests, NULL, NULL);
}

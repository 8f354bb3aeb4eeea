/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/bytes/io.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bsd/sys/endian.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* Word i of the stream is i. */
static void *
feed(void *arg)
{
	const uint64_t *how = arg;
	int fd = (int)how[0];
	uint64_t words[4096];

	for (uint64_t i = 0; i < how[1];) {
		size_t n = 0;
		const uint8_t *p = (const uint8_t *)words;

		while (n < 4096 && i < how[1])
			le64enc(&words[n++], i++);
		for (n *= 8; n > 0;) {
			ssize_t done = write(fd, p, n);

			if (done <= 0)
				goto out;
			p += done;
			n -= (size_t)done;
		}
	}
out:
	close(fd);
	return NULL;
}

struct pipe_of {
	uint64_t how[2];
	pthread_t thread;
	struct io_source *source;
};

static void
begin(struct pipe_of *p, uint64_t words)
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	p->how[0] = (uint64_t)fds[1];
	p->how[1] = words;
	assert_int_equal(pthread_create(&p->thread, NULL, feed, p->how), 0);
	p->source = io_source_pipe(fds[0]);
	assert_non_null(p->source);
}

static void
end(struct pipe_of *p)
{
	p->source->close(p->source);
	pthread_join(p->thread, NULL);
}

static uint64_t
word_at(struct io_source *s, uint64_t i)
{
	uint8_t b[8];

	assert_int_equal(s->read(s, i * 8, b, sizeof(b)), 8);
	return le64dec(b);
}

#define WORDS (8u << 20) /* 64 MiB: more than it keeps, several times over */

static void
test_forwards(void **state)
{
	struct pipe_of p;
	uint8_t b[64];

	begin(&p, WORDS);
	assert_true(p.source->size(p.source) < 0);
	assert_int_equal(word_at(p.source, 0), 0);
	/* Ahead, and back again, as far as it keeps. */
	assert_int_equal(word_at(p.source, IO_PIPE_KEEP / 8 - 1), IO_PIPE_KEEP / 8 - 1);
	assert_int_equal(word_at(p.source, 2), 2);
	for (uint64_t i = 0; i < WORDS; i += 1000)
		assert_int_equal(word_at(p.source, i), i);
	assert_int_equal(word_at(p.source, WORDS - 1), WORDS - 1);
	assert_int_equal(word_at(p.source, WORDS - IO_PIPE_KEEP / 8), WORDS - IO_PIPE_KEEP / 8);
	assert_int_equal(p.source->read(p.source, 0, b, 8), -ESPIPE);
	assert_int_equal(p.source->read(p.source, WORDS * 8 - 24, b, 64), 24);
	assert_int_equal(p.source->read(p.source, WORDS * 8, b, 8), 0);
	assert_int_equal(p.source->read(p.source, UINT64_MAX - 8, b, 8), 0);
	assert_int_equal(p.source->size(p.source), (int64_t)WORDS * 8);
	end(&p);
}

static void
test_slurp(void **state)
{
	struct pipe_of p;

	begin(&p, WORDS);
	assert_int_equal(word_at(p.source, 1), 1);
	assert_int_equal(io_source_slurp(p.source), 0);
	assert_int_equal(p.source->size(p.source), (int64_t)WORDS * 8);
	assert_int_equal(word_at(p.source, WORDS - 1), WORDS - 1);
	assert_int_equal(word_at(p.source, 0), 0);
	end(&p);
}

static void
test_empty(void **state)
{
	struct pipe_of p;
	uint8_t b[8];

	begin(&p, 0);
	assert_int_equal(p.source->read(p.source, 0, b, 8), 0);
	assert_int_equal(p.source->size(p.source), 0);
	end(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forwards),
		cmocka_unit_test(test_slurp),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

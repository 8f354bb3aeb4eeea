/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Readers beside the writer: each opens the file as it is at that moment, reads it to its end
 * and verifies it, again and again. What was in the file before it was opened comes, to the
 * byte; nothing is damaged, nothing comes twice; also while writes fail half-way and are cut back.
 * LIVE_PASSES makes it longer.
 */
#include "tests/lab/numbered.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define READERS 2

static struct crew {
	int fd;
	unsigned int fail_every;
	struct numbered_script script;
	struct numbered_progress progress;
	int result;
	bool ended; /* atomic */
	/* of all readers; atomic */
	unsigned int rounds, wrong;
	char what[640];
} crew;

/* The sink that programs use; some writes do only a part and fail. */
struct half_sink {
	struct io_sink io;
	struct io_sink *file;
	unsigned int writes, fail_every;
};

static int
half_write(struct io_sink *io, const void *p, size_t n)
{
	struct half_sink *s = (struct half_sink *)io;
	/* Not at the end: nobody is left to try again when closing fails. */
	bool late = crew.progress.given + 500 > crew.script.passes * crew.script.per_pass;
	int error;

	s->writes++;
	usleep(100); /* readers are slower than writers */
	if (s->fail_every == 0 || s->writes < 3 || late || s->writes % s->fail_every)
		return s->file->write(s->file, p, n);
	/* To the last byte but one: its header may have been read. */
	error = s->file->write(s->file, p, s->writes % 2 ? n / 2 : n - 1);
	usleep(50);
	return error ? error : -ENOSPC;
}

static int
half_sync(struct io_sink *io)
{
	return 0;
}

static int
half_cut(struct io_sink *io, uint64_t size)
{
	struct half_sink *s = (struct half_sink *)io;

	return s->file->cut(s->file, size);
}

static void
half_close(struct io_sink *io)
{
	struct half_sink *s = (struct half_sink *)io;

	s->file->close(s->file);
	free(s);
}

static void *
write_thread(void *arg)
{
	struct recording_meta *meta = numbered_meta(1);
	struct half_sink *s = calloc(1, sizeof(*s));

	s->io = (struct io_sink){ half_write, half_sync, half_cut, half_close };
	s->file = io_sink_fd(dup(crew.fd));
	s->fail_every = crew.fail_every;
	crew.result = numbered_write(&s->io, meta, &crew.script, &crew.progress);
	__atomic_store_n(&crew.ended, true, __ATOMIC_SEQ_CST);
	recording_meta_free(meta);
	return NULL;
}

static uint64_t
now_written(void)
{
	return __atomic_load_n(&crew.progress.written, __ATOMIC_SEQ_CST);
}

/* One look at the file; what is wrong with it is told at the end. */
static void
look(bool verify)
{
	uint64_t least = now_written();
	struct recording_reader *reader;
	struct numbered_result r;

	numbered_read(io_source_fd(dup(crew.fd)), 1, UINT32_MAX, NULL, &r);
	if (r.error && least == 0)
		return; /* there is no header yet */
	if (verify && r.error == 0) {
		r.error = recording_reader_open(io_source_fd(dup(crew.fd)), &reader, &r.where);
		if (r.error == 0) {
			if (recording_reader_verify(reader, &r.where) < 0)
				r.error = -FMT_E_MAX;
			if (recording_reader_health(reader)->bad_indexes)
				r.strange = true;
			recording_reader_close(reader);
		}
	}
	__atomic_fetch_add(&crew.rounds, 1, __ATOMIC_RELAXED);
	if (r.error || r.strange || !r.order || r.prefix < least || r.count != r.prefix ||
	    r.health.damaged_blocks || r.health.damaged_bytes) {
		if (__atomic_fetch_add(&crew.wrong, 1, __ATOMIC_RELAXED) == 0)
			snprintf(crew.what, sizeof(crew.what),
				 "error %d (%s), %ju samples to %ju of %ju, damaged %ju, %ju: %s",
				 r.error, r.where.detail, (uintmax_t)r.count, (uintmax_t)r.prefix,
				 (uintmax_t)least, (uintmax_t)r.health.damaged_blocks,
				 (uintmax_t)r.health.damaged_bytes, r.health.first.detail);
	}
}

static void *
read_thread(void *arg)
{
	for (unsigned int i = 0; !__atomic_load_n(&crew.ended, __ATOMIC_SEQ_CST); i++)
		look(i % 2);
	return NULL;
}

static void
run(unsigned int fail_every)
{
	char path[] = "/tmp/spoor-test-live.XXXXXX";
	pthread_t writer, readers[READERS];

	crew = (struct crew){
		.fd = mkostemp(path, O_CLOEXEC),
		.fail_every = fail_every,
		.script = { .passes = numbered_env("LIVE_PASSES", 6000),
			    .per_pass = 8,
			    .block_bytes = 6000,
			    .index_every = 12,
			    .small_every = 40,
			    .retries = 5 },
	};
	assert_true(crew.fd >= 0);
	unlink(path);
	assert_int_equal(pthread_create(&writer, NULL, write_thread, NULL), 0);
	for (size_t i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&readers[i], NULL, read_thread, NULL), 0);
	pthread_join(writer, NULL);
	for (size_t i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
	look(true);
	assert_int_equal(crew.result, 0);
	print_message("# %u times read while it was written\n", crew.rounds);
	if (crew.wrong)
		fail_msg("%u of %u wrong; the first: %s", crew.wrong, crew.rounds, crew.what);
	assert_int_equal(crew.progress.written, crew.progress.given);
	close(crew.fd);
}

static void
test_live(void **state)
{
	run(0);
}

static void
test_live_and_cut_back(void **state)
{
	run(5);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live),
		cmocka_unit_test(test_live_and_cut_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

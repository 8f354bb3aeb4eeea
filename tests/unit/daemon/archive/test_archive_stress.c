/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The archive where it hurts: random work against the bound, threads, full file systems of
 * every size, kills at any instant, many files.
 */
#include "daemon/archive/archive.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/block/recording_header.h"
#include "recorder/host/host.h"
#include "tests/lab/archive_lab.h"
#include "tests/lab/child_lab.h"
#include "tests/lab/numbered.h"

#define SINKS 4

static uint64_t seed = 7;

static uint64_t
roll(uint64_t n)
{
	return numbered_roll(&seed, n);
}

static void
tick(struct archive *a)
{
	struct clock_triple now;

	host_clocks(&now);
	archive_tick(a, &now);
}

struct open_sink {
	struct io_sink *io;
	uint64_t size;
};

static void
write_some(struct open_sink *s)
{
	size_t n = roll(8) ? roll(20000) : roll(200000);
	int error = lab_write(s->io, n, s->size == 0);

	assert_true(error == 0 || error == -ENOSPC);
	if (error)
		assert_int_equal(s->io->cut(s->io, s->size), 0);
	else
		s->size += n;
}

static void
random_step(struct lab *l, struct open_sink *sinks)
{
	struct open_sink *s = &sinks[roll(SINKS)];
	struct session_error error = { 0 };
	char label[8];
	uint64_t bytes, from = roll(l->clock_ns / 1000000000u - 1767323040 + 10) + 1767323040;

	if (!s->io) {
		s->io = roll(3) ? lab_segment(l) : lab_capture(l);
		s->size = 0;
	} else if (roll(12) == 0) {
		s->io->close(s->io);
		s->io = NULL;
	} else {
		write_some(s);
	}
	if (roll(150) == 0) {
		snprintf(label, sizeof(label), "l%u", (unsigned int)roll(6));
		(void)archive_keep(l->archive, label, 0, from, false, NULL, &error);
	}
	if (roll(300) == 0)
		(void)archive_vacuum(l->archive, 1 + roll(1 << 20), 0, roll(20), &bytes, NULL,
				     &error);
	if (roll(50) == 0)
		tick(l->archive);
}

static void
test_random(void **state)
{
	for (int round = 0; round < 3; round++) {
		struct open_sink sinks[SINKS] = { 0 };
		struct lab l;

		assert_true(lab_init(&l, 0));
		lab_open(&l);
		for (int i = 0; i < 1500; i++) {
			random_step(&l, sinks);
			lab_check(&l, 1 << 20);
		}
		for (size_t i = 0; i < SINKS; i++) {
			if (sinks[i].io)
				sinks[i].io->close(sinks[i].io);
		}
		lab_check(&l, 1 << 20);
		/* What is kept is there. */
		lab_close(&l);
		lab_open(&l);
		lab_check(&l, 1 << 20);
		lab_done(&l);
	}
}

struct crew {
	struct lab lab;
	bool end; /* atomic */
};

static void *
write_thread(void *arg)
{
	struct crew *c = arg;
	static const uint8_t boot[16] = { 1 };
	struct session_error error = { 0 };

	for (uint64_t t = 0; !__atomic_load_n(&c->end, __ATOMIC_ACQUIRE); t++) {
		struct io_sink *sink;

		if (archive_segment(c->lab.archive, (t + 1767323045) * 1000000000u, boot, false,
				    &sink, &error) != 0)
			continue;
		for (int i = 0; i < 8; i++)
			(void)lab_write(sink, 16000, i == 0);
		sink->close(sink);
	}
	return NULL;
}

static uint64_t
fs_free(const struct lab *l)
{
	struct statvfs v;

	assert_int_equal(statvfs(l->dir, &v), 0);
	return (uint64_t)v.f_bavail * v.f_frsize;
}

/* Many writers, one who looks, nothing above the bound at any look. */
static void
test_threads(void **state)
{
	struct crew c = { .end = false };
	struct session_error error = { 0 };
	pthread_t threads[4];

	if (!lab_init(&c.lab, 8 << 10)) {
		print_message("skipped: no tmpfs can be mounted here\n");
		skip();
	}
	lab_open(&c.lab);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, write_thread, &c), 0);
	for (int i = 0; i < 300; i++) {
		struct archive_entry *list = NULL;
		struct archive_usage u;

		/* In one instant: a walk counts one file before and another one after. */
		assert_in_range((8 << 20) - fs_free(&c.lab), 0, 1 << 20);
		archive_usage(c.lab.archive, &u);
		assert_true(u.bytes <= 1 << 20);
		assert_true(archive_list(c.lab.archive, &list) >= 0);
		free(list);
		if (i % 50 == 25)
			(void)archive_keep(c.lab.archive, i % 100 == 25 ? "a" : "b", 0, 1767323047,
					   i % 100 == 25, NULL, &error);
		tick(c.lab.archive);
		usleep(1000);
	}
	__atomic_store_n(&c.end, true, __ATOMIC_RELEASE);
	for (size_t i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	lab_check(&c.lab, 1 << 20);
	lab_done(&c.lab);
}

/* Records into a file system of this size far beyond it. */
static void
fill_one(unsigned int kib, uint64_t keep_free)
{
	struct lab l;
	unsigned int written = 0, refused = 0;

	assert_true(lab_init(&l, kib));
	l.config->max_use.bytes = 1 << 20;
	l.config->keep_free.bytes = keep_free;
	lab_open(&l);
	for (int i = 0; i < 30; i++) {
		struct io_sink *sink = i % 5 == 4 ? lab_capture(&l) : lab_segment(&l);
		uint64_t size = 0;

		for (int k = 0; k < 4; k++) {
			int error = lab_write(sink, 3000, size == 0);

			assert_true(error == 0 || error == -ENOSPC);
			if (error) {
				assert_int_equal(sink->cut(sink, size), 0);
				refused++;
			} else {
				size += 3000;
				written++;
			}
			assert_true(fs_free(&l) >= keep_free || size == 0);
		}
		sink->close(sink);
	}
	/* Two whole segments and what a write needs beside them: it never has to stop. */
	if (kib * 1024 >= keep_free + 48 * 1024)
		assert_int_equal(refused, 0);
	if (kib * 1024 < keep_free + 3000)
		assert_int_equal(written, 0);
	lab_done(&l);
}

static void
test_disk_full(void **state)
{
	for (unsigned int kib = 4; kib <= 256; kib += 4) {
		struct lab probe;

		if (!lab_init(&probe, kib)) {
			print_message("skipped: no tmpfs can be mounted here\n");
			skip();
		}
		lab_done(&probe);
		fill_one(kib, 0);
		fill_one(kib, 16 << 10);
	}
}

/* Someone else takes the disk: the archive gives way, and goes on when it is given back. */
static void
test_disk_taken(void **state)
{
	struct lab l;
	static char filler[30000];
	char path[128];
	struct archive_usage u;

	if (!lab_init(&l, 256)) {
		print_message("skipped: no tmpfs can be mounted here\n");
		skip();
	}
	l.config->keep_free.bytes = 32 << 10;
	lab_open(&l);
	for (int i = 0; i < 20; i++)
		assert_int_equal(lab_file(&l, 10000), 0);
	archive_usage(l.archive, &u);
	assert_true(u.segments >= 10);
	/* Piece by piece the archive makes way, until there is nothing of it left. */
	for (int i = 0; fs_free(&l) >= 32 << 10; i++) {
		snprintf(path, sizeof(path), "../more%d", i);
		lab_plant(&l, path, filler, sizeof(filler));
		tick(l.archive);
		archive_usage(l.archive, &u);
		assert_true(fs_free(&l) >= 32 << 10 || u.segments == 0);
	}
	assert_int_equal(u.segments, 0);
	assert_int_equal(lab_file(&l, 10000), -ENOSPC);
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/more%d", l.tmp, i);
		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(lab_file(&l, 10000), 0);
	lab_done(&l);
}

/* Whatever the moment of the kill: all that was sealed is there, nothing is named twice. */
static void
test_kill(void **state)
{
	struct lab l;
	uint64_t *sealed = mmap(NULL, sizeof(*sealed), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(lab_init(&l, 0));
	l.config->max_use.bytes = 64 << 20;
	for (int round = 0; round < 40; round++) {
		struct archive_usage u;
		pid_t pid = fork();
		uint64_t kept;

		if (pid == 0) {
			/* Not lab_open(): a failure here is the parent's to tell. */
			struct session_error error = { 0 };

			if (archive_open(l.config, &l.archive, &error) != 0)
				_exit(1);
			for (;;) {
				if (lab_file(&l, 2000) != 0)
					_exit(2);
				(*sealed)++;
			}
		}
		usleep((useconds_t)roll(5000));
		child_lab_end(pid);
		kept = *sealed;
		lab_open(&l);
		archive_usage(l.archive, &u);
		assert_int_equal(u.quarantined, 0);
		assert_true(u.segments >= kept);
		assert_true(u.segments <= kept + 1);
		assert_int_equal(lab_count(&l, "", ".active"), 0);
		*sealed = u.segments;
		l.clock_ns += UINT64_C(3600000000000);
		lab_close(&l);
	}
	munmap(sealed, sizeof(*sealed));
	lab_done(&l);
}

static void
test_many(void **state)
{
	struct lab l;
	char name[100];
	struct archive_usage u;
	struct archive_entry *list = NULL;

	assert_true(lab_init(&l, 0));
	l.config->max_use.bytes = UINT64_C(1) << 30;
	lab_open(&l);
	lab_close(&l);
	for (unsigned int i = 0; i < 10000; i++) {
		snprintf(name, sizeof(name), "20250102T%02u%02u%02u.000000Z-abcdef01-%06u.spoor",
			 i / 3600, i / 60 % 60, i % 60, i + 1);
		lab_plant(&l, name, RECORDING_MAGIC, RECORDING_MAGIC_BYTES);
	}
	lab_open(&l);
	assert_int_equal(archive_list(l.archive, &list), 10000);
	for (size_t i = 1; i < 10000; i++)
		assert_true(list[i - 1].start_s < list[i].start_s);
	free(list);
	l.config->max_segments = 100;
	archive_reload(l.archive, l.config);
	archive_usage(l.archive, &u);
	assert_int_equal(u.segments, 100);
	assert_true(lab_exists(&l, name));
	lab_done(&l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),	  cmocka_unit_test(test_threads),
		cmocka_unit_test(test_disk_full), cmocka_unit_test(test_disk_taken),
		cmocka_unit_test(test_kill),	  cmocka_unit_test(test_many),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("archive_stress", tests, NULL, NULL);
}

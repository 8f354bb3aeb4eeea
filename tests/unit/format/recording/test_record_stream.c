/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lab/recording_maker.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "format/recording/record_stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* What was given to the writer, in that order. */
struct given {
	uint64_t time, ip;
	size_t order;
};

#define GIVEN_MAX 5000

static struct given given[GIVEN_MAX];
static size_t nr_given;

static uint32_t
next_random(uint64_t *x)
{
	*x = *x * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*x >> 33);
}

static int
by_time(const void *va, const void *vb)
{
	const struct given *a = va, *b = vb;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

/*
 * Rings of some CPUs drained in turn. A pass takes from each ring what is older than its
 * stamp, and sometimes more: what came while the other rings were visited.
 */
static void
random_recording(struct memory_file *f, uint64_t seed)
{
	uint64_t x = seed * 7919 + 1, now[8], ip = 1, stamp = 1000;
	uint32_t cpus = 1 + next_random(&x) % 4, n = 50 + next_random(&x) % 500;
	const struct recording_writer_options options = {
		.block_bytes = 300 + next_random(&x) % 3000,
		.index_every = 3,
	};
	struct recording_meta *meta = maker_meta(3);
	struct recording_writer *w;
	struct buf b;

	buf_init(&b);
	nr_given = 0;
	for (int i = 0; i < 8; i++)
		now[i] = 1000;
	assert_int_equal(recording_writer_open(memory_sink(f), meta, &options, &w, NULL), 0);
	while (ip < n) {
		stamp += next_random(&x) % 200;
		for (uint32_t cpu = 0; cpu < cpus; cpu++) {
			uint64_t until = stamp + next_random(&x) % 20;

			buf_clear(&b);
			/* Steps of 0 make ties, on one CPU and between them. */
			while (now[cpu] + 12 < until) {
				now[cpu] += next_random(&x) % 12;
				given[nr_given] = (struct given){ now[cpu], ip, nr_given };
				nr_given++;
				maker_sample(&b, cpu, now[cpu], ip++);
			}
			now[cpu] = now[cpu] < stamp ? stamp : now[cpu];
			assert_int_equal(recording_writer_records(w, buf_span(&b), NULL, NULL), 0);
		}
		recording_writer_pass(w, stamp);
		if (next_random(&x) % 8 == 0)
			assert_int_equal(recording_writer_flush(w, NULL), 0);
	}
	assert_int_equal(recording_writer_close(w, 0, NULL), 0);
	recording_meta_free(meta);
	buf_done(&b);
}

static void
test_order(void **state)
{
	for (uint64_t seed = 0; seed < 400; seed++) {
		struct memory_file f = { 0 };
		struct recording_reader *r;
		struct record_stream *s;
		struct stream_record rec;
		size_t n = 0;

		random_recording(&f, seed);
		qsort(given, nr_given, sizeof(given[0]), by_time);
		assert_int_equal(recording_reader_open(io_source_memory(f.p, f.n), &r, NULL), 0);
		assert_int_equal(record_stream_open(r, &s), 0);
		while (record_stream_next(s, &rec, NULL) > 0) {
			assert_true(n < nr_given);
			if (rec.record->sample.ip != given[n].ip)
				fail_msg("seed %ju: record %zu is ip %ju at %ju, want %ju at %ju",
					 (uintmax_t)seed, n, (uintmax_t)rec.record->sample.ip,
					 (uintmax_t)rec.record->sid.time, (uintmax_t)given[n].ip,
					 (uintmax_t)given[n].time);
			n++;
		}
		assert_int_equal(n, nr_given);
		assert_int_equal(record_stream_stats(s)->samples, n);
		assert_int_equal(record_stream_stats(s)->by_type[REC_SAMPLE], n);
		record_stream_close(s);
		recording_reader_close(r);
		memory_file_done(&f);
	}
}

struct seen_blocks {
	unsigned int ksyms, buildids, loss;
};

static void
on_block(void *arg, const struct block *block)
{
	struct seen_blocks *seen = arg;

	seen->ksyms += block->header.type == BLOCK_KSYMS;
	seen->buildids += block->header.type == BLOCK_BUILDIDS;
	seen->loss += block->header.type == BLOCK_LOSS;
}

static void
test_everything_comes(void **state)
{
	struct seen_blocks seen = { 0 };
	struct memory_file f = { 0 };
	struct recording_reader *r;
	struct record_stream *s;
	struct stream_record rec;
	unsigned int states = 0, comms = 0;
	uint64_t last = 0;

	maker_recording(&f, 1, 60, 700, 5);
	assert_int_equal(recording_reader_open(io_source_memory(f.p, f.n), &r, NULL), 0);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(record_stream_open(r, &s), 0);
		record_stream_on_block(s, on_block, &seen);
		while (record_stream_next(s, &rec, NULL) > 0) {
			assert_true(rec.record->sid.time >= last);
			last = rec.record->sid.time;
			assert_int_equal(rec.event, rec.record->type == REC_SAMPLE ? 0 : 1);
			states += rec.state;
			comms += rec.record->type == REC_COMM && !rec.state;
		}
		assert_int_equal(record_stream_next(s, &rec, NULL), 0);
		assert_int_equal(record_stream_stats(s)->state_records, 2);
		assert_int_equal(record_stream_stats(s)->samples, 60);
		assert_int_equal(record_stream_stats(s)->by_type[REC_COMM], 10);
		assert_int_equal(record_stream_stats(s)->records, 70);
		assert_int_equal(loss_samples(record_stream_loss(s)), 5);
		record_stream_close(s);
		last = 0;
	}
	assert_int_equal(states, 4);
	assert_int_equal(comms, 20);
	assert_int_equal(seen.ksyms, 2);
	assert_int_equal(seen.buildids, 2);
	assert_int_equal(seen.loss, 2);
	recording_reader_close(r);
	memory_file_done(&f);
}

/* Samples are those of the window; who was who is known from before it. */
static void
test_window(void **state)
{
	struct memory_file f = { 0 };
	struct recording_reader *r;
	uint64_t from, until;

	maker_recording(&f, 1, 60, 700, 5);
	assert_int_equal(recording_reader_open(io_source_memory(f.p, f.n), &r, NULL), 0);
	for (from = 9990; from < 11100; from += 37) {
		for (until = from; until < 11100; until += 91) {
			struct record_stream *s;
			struct stream_record rec;
			unsigned int samples = 0, sideband = 0, want = 0;

			assert_int_equal(record_stream_open(r, &s), 0);
			record_stream_window(s, from, until);
			while (record_stream_next(s, &rec, NULL) > 0) {
				if (rec.record->type == REC_SAMPLE) {
					samples++;
					assert_true(rec.record->sid.time >= from &&
						    rec.record->sid.time < until);
				} else if (!rec.state) {
					sideband++;
				}
			}
			for (uint64_t pass = 0; pass < 10; pass++) {
				for (uint64_t i = 0; i < 6; i++) {
					uint64_t t = 10000 + 100 * pass + 10 * (i % 3) + i / 3;

					want += t >= from && t < until;
				}
				sideband -= 10001 + 100 * pass < until;
			}
			assert_int_equal(samples, want);
			assert_int_equal(sideband, 0);
			assert_int_equal(record_stream_stats(s)->state_records, 2);
			record_stream_close(s);
		}
	}
	recording_reader_close(r);
	memory_file_done(&f);
}

static size_t
allocated(void)
{
#if __GLIBC_PREREQ(2, 33)
	return mallinfo2().uordblks;
#else
	return (unsigned int)mallinfo().uordblks;
#endif
}

/* A long recording is handed out with the memory of a few blocks. */
static void
test_memory(void **state)
{
	struct memory_file f = { 0 };
	struct recording_meta *meta = maker_meta(1);
	const struct recording_writer_options options = { .block_bytes = 64 << 10 };
	struct recording_writer *w;
	struct recording_reader *r;
	struct record_stream *s;
	struct stream_record rec;
	size_t before, peak = 0;
	uint64_t n = 0, last = 0;
	struct buf b;

	buf_init(&b);
	assert_int_equal(recording_writer_open(memory_sink(&f), meta, &options, &w, NULL), 0);
	for (uint64_t pass = 0; pass < 4000; pass++) {
		for (uint32_t cpu = 0; cpu < 4; cpu++) {
			buf_clear(&b);
			for (uint64_t i = 0; i < 20; i++)
				maker_sample(&b, cpu, 1 + pass * 100 + i * 4 + cpu, ++n);
			assert_int_equal(recording_writer_records(w, buf_span(&b), NULL, NULL), 0);
		}
		recording_writer_pass(w, 1 + pass * 100 + 100);
	}
	assert_int_equal(recording_writer_close(w, 0, NULL), 0);
	assert_int_equal(recording_reader_open(io_source_memory(f.p, f.n), &r, NULL), 0);
	assert_int_equal(record_stream_open(r, &s), 0);
	before = allocated();
	while (record_stream_next(s, &rec, NULL) > 0) {
		assert_true(rec.record->sid.time >= last);
		last = rec.record->sid.time;
		if (n-- % 256 == 0) {
			size_t now = allocated();

			peak = now > peak ? now : peak;
		}
	}
	assert_int_equal(n, 0);
	/* 320,000 records are 20 MB; the C library says 0 under ASan. */
	assert_true(peak == 0 || peak - before < 1u << 20);
	record_stream_close(s);
	recording_reader_close(r);
	recording_meta_free(meta);
	memory_file_done(&f);
	buf_done(&b);
}

/* n blocks of samples from before n records until after them. Returns the CPU seconds, and the order of all. */
static double
overlapping_blocks(unsigned int n)
{
	const struct recording_writer_options options = { .block_bytes = 0 };
	struct recording_meta *meta = maker_meta(3);
	struct memory_file f = { 0 };
	struct recording_reader *r;
	struct recording_writer *w;
	struct record_stream *s;
	struct stream_record rec;
	uint64_t samples = 0, comms = 0;
	struct buf b;
	clock_t before;

	buf_init(&b);
	assert_int_equal(recording_writer_open(memory_sink(&f), meta, &options, &w, NULL), 0);
	for (uint32_t i = 0; i < 20 * n; i++) {
		buf_clear(&b);
		maker_comm(&b, 0, 1000000, 100000 + i, "x");
		assert_int_equal(recording_writer_records(w, buf_span(&b), NULL, NULL), 0);
	}
	for (uint32_t i = 0; i < n; i++) {
		buf_clear(&b);
		for (uint32_t k = 0; k < 60; k++)
			maker_sample(&b, 1, k < 30 ? 1 + i : 2000000 + i, 60 * i + k);
		assert_int_equal(recording_writer_flush(w, NULL), 0);
		assert_int_equal(recording_writer_records(w, buf_span(&b), NULL, NULL), 0);
	}
	assert_int_equal(recording_writer_close(w, 0, NULL), 0);
	recording_meta_free(meta);
	buf_done(&b);
	before = clock();
	assert_int_equal(recording_reader_open(io_source_memory(f.p, f.n), &r, NULL), 0);
	assert_int_equal(record_stream_open(r, &s), 0);
	record_stream_columns(s, NULL, NULL);
	while (record_stream_next(s, &rec, NULL) > 0) {
		comms += rec.record && rec.record->type == REC_COMM;
		if (rec.columns && rec.sample == STREAM_TOGETHER)
			continue;
		samples += rec.columns != NULL;
	}
	assert_int_equal(comms, 20 * n);
	assert_int_equal(record_stream_stats(s)->samples, 60 * n);
	print_message("# %u blocks: %ju of %u samples in order\n", n, (uintmax_t)samples, 60 * n);
	record_stream_close(s);
	recording_reader_close(r);
	memory_file_done(&f);
	return (double)(clock() - before) / CLOCKS_PER_SEC;
}

static void
test_overlaps(void **state)
{
	double few = overlapping_blocks(300), many = overlapping_blocks(1200);

	print_message("# %.3f s, four times as many: %.3f s\n", few, many);
	assert_true(many < 8 * few + 0.5);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),	 cmocka_unit_test(test_everything_comes),
		cmocka_unit_test(test_window),	 cmocka_unit_test(test_memory),
		cmocka_unit_test(test_overlaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Clocks that do what clocks should not: a suspend of a year between two passes, steps back
 * of an hour, the same nanosecond for ever, 0 and the largest number there is. Every record
 * comes once, whatever the times and the promises of the blocks; where clocks kept their
 * promises, in order; and who was who at a sample is right.
 */
#include "tests/lab/numbered.h"

#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/model/task_model.h"
#include "format/record/record_build.h"
#include "format/recording/record_stream.h"
#include "tests/lab/record_sample.h"

#define PASSES 120
#define PER_PASS 12
#define YEAR_NS UINT64_C(31557600000000000)
#define HOUR_NS UINT64_C(3600000000000)

enum clock { STEADY, SUSPENDS, STEPS_BACK, STANDS_STILL, NONSENSE, CLOCKS };

/* The time of the next record, and what the pass may promise when it has ended. */
static uint64_t
tick(enum clock clock, uint64_t now, uint64_t *seed)
{
	switch (clock) {
	case SUSPENDS:
		return now + (numbered_roll(seed, 200) ? 1000 : YEAR_NS);
	case STEPS_BACK:
		return numbered_roll(seed, 100) || now < 2 * HOUR_NS ? now + 1000 : now - HOUR_NS;
	case STANDS_STILL:
		return now;
	case NONSENSE:
		switch (numbered_roll(seed, 4)) {
		case 0:
			return 0;
		case 1:
			return UINT64_MAX - numbered_roll(seed, 3);
		default:
			return numbered_roll(seed, UINT64_MAX);
		}
	default:
		return now + 1000;
	}
}

/* A sample with its number in the period; a pid that is another program each 64 samples. */
static void
add(struct buf *out, const struct recording_meta *meta, uint64_t n, uint64_t time)
{
	const struct event *samples = event_set_at(meta->events, 0);
	const struct event *side = event_set_at(meta->events, 2);
	struct perf_sample_id sid = {
		.pid = 7, .tid = 7, .time = time, .id = side->ids[1], .cpu = 1
	};
	char comm[16];

	if (n % 64 == 1) {
		snprintf(comm, sizeof(comm), "c%u", (unsigned int)(n / 64));
		assert_int_equal(record_build_comm(out, &side->attr, &sid, 7, 7, comm,
						   PERF_RECORD_MISC_COMM_EXEC),
				 0);
	}
	sid.id = samples->ids[1];
	assert_int_equal(
		record_sample_build(out, &sid,
				    &(struct perf_sample){ .have = samples->attr.sample_type,
							   .ip = 0x1000,
							   .period = n },
				    2),
		0);
}

static void
write_file(struct fault_file *f, const struct recording_meta *meta, enum clock clock)
{
	const struct recording_writer_options options = { .block_bytes = 4000, .index_every = 9 };
	uint64_t seed = 41 + (uint64_t)clock, now = 3 * HOUR_NS, n = 0;
	struct recording_writer *w;
	struct buf b;

	buf_init(&b);
	assert_int_equal(recording_writer_open(fault_sink(f), meta, &options, &w, NULL), 0);
	for (int pass = 0; pass < PASSES; pass++) {
		buf_clear(&b);
		for (int i = 0; i < PER_PASS; i++) {
			now = tick(clock, now, &seed);
			add(&b, meta, ++n, now);
		}
		assert_int_equal(recording_writer_records(w, buf_span(&b), NULL, NULL), 0);
		recording_writer_pass(w, now);
	}
	assert_int_equal(recording_writer_close(w, 0, NULL), 0);
	buf_done(&b);
}

static void
check_comm(const struct task_model *model, uint64_t n)
{
	const struct task *t = task_model_task(model, 7, 7);
	char comm[16];

	snprintf(comm, sizeof(comm), "c%u", (unsigned int)((n - 1) / 64));
	assert_non_null(t);
	assert_string_equal(t->comm, comm);
}

static void
read_file(const struct fault_file *f, enum clock clock)
{
	struct task_model *model = task_model_new();
	bool ordered = clock == STEADY || clock == SUSPENDS || clock == STANDS_STILL;
	uint64_t count = 0, last = 0, when = 0;
	uint8_t seen[PASSES * PER_PASS + 1] = { 0 };
	struct recording_reader *reader;
	struct record_stream *s;
	struct stream_record rec;
	int more;

	assert_int_equal(recording_reader_open(io_source_memory(f->p, f->n), &reader, NULL), 0);
	assert_int_equal(recording_reader_verify(reader, NULL), 0);
	assert_int_equal(record_stream_open(reader, &s), 0);
	while ((more = record_stream_next(s, &rec, NULL)) > 0) {
		assert_non_null(rec.record);
		if (rec.record->type != REC_SAMPLE) {
			assert_int_equal(task_model_apply(model, rec.record), 0);
			continue;
		}
		count++;
		assert_uint_in_range(rec.record->sample.period, 1, PASSES * PER_PASS);
		assert_int_equal(seen[rec.record->sample.period]++, 0);
		if (!ordered)
			continue;
		assert_true(rec.record->sid.time >= when);
		when = rec.record->sid.time;
		/* Between equal times the order of the file holds. */
		assert_int_equal(rec.record->sample.period, last + 1);
		last = rec.record->sample.period;
		if (clock != STANDS_STILL)
			check_comm(model, last);
	}
	assert_int_equal(more, 0);
	assert_int_equal(count, PASSES * PER_PASS);
	record_stream_close(s);
	recording_reader_close(reader);
	task_model_free(model);
}

static void
test_clocks(void **state)
{
	for (enum clock clock = STEADY; clock < CLOCKS; clock++) {
		struct recording_meta *meta = numbered_meta(1);
		struct fault_file f;

		fault_file_init(&f, 1u << 20);
		write_file(&f, meta, clock);
		read_file(&f, clock);
		recording_meta_free(meta);
		fault_file_done(&f);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

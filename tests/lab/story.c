/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lab/story.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <linux/perf_event.h>

#include "format/record/record_build.h"

static uint64_t state;

uint32_t
story_roll(uint32_t sides)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % sides;
}

static void
give(struct synthetic *s, uint64_t complete_ns)
{
	struct fmt_where where = { 0 };

	assert_int_equal(recording_writer_records(s->writer, buf_span(&s->records), NULL, &where),
			 0);
	buf_clear(&s->records);
	recording_writer_pass(s->writer, complete_ns);
	assert_int_equal(recording_writer_flush(s->writer, &where), 0);
}

static void
make_sample(struct synthetic *s, uint32_t pid)
{
	uint64_t chain[] = { PERF_CONTEXT_USER, 0, 0, 0 };
	size_t words = 1 + story_roll(3);

	for (size_t i = 1; i < words; i++)
		chain[i] = 0x10000 + story_roll(3) * 0x2000;
	s->event = story_roll(2);
	s->period = story_roll(3) * 500;
	s->cgroup = 1 + story_roll(3);
	s->cpumode = story_roll(4) ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL;
	synthetic_sample(s, pid, pid + story_roll(2), words > 1 ? chain[1] : 0x10000, chain, words);
	s->event = 0;
}

/* Something that changes what is so for a task, or for all. */
static void
make_change(struct synthetic *s, uint32_t pid)
{
	static const char *const names[] = { "sh", "cc1", "ld", "a-task" };
	static const char *const paths[] = { "/bin/sh", "/lib/libc.so.6", "/tmp/x", "//anon" };
	const uint32_t tid = pid + story_roll(2);
	struct perf_sample_id id = {
		.have = s->attr[0].sample_type, .id = 100, .cpu = s->cpu, .pid = pid, .tid = tid
	};

	switch (story_roll(8)) {
	case 0:
		synthetic_comm(s, pid, pid + story_roll(2), names[story_roll(4)]);
		break;
	case 1:
		synthetic_exit(s, pid, pid + story_roll(2));
		break;
	case 2:
		synthetic_cgroup(s, 1 + story_roll(3), paths[story_roll(4)]);
		break;
	case 3:
	case 4:
		id.time = s->now;
		assert_int_equal(record_build_fork(&s->records, &s->attr[0], &id, pid,
						   10 + story_roll(10), tid, pid, s->now, 0),
				 0);
		break;
	case 5:
		id.time = s->now;
		assert_int_equal(record_build_comm(&s->records, &s->attr[0], &id, pid, pid,
						   names[story_roll(4)],
						   PERF_RECORD_MISC_COMM_EXEC),
				 0);
		break;
	default:
		synthetic_map(s, pid, 0x10000 + story_roll(8) * 0x1000,
			      0x1000 * (1 + story_roll(4)), paths[story_roll(4)]);
	}
}

void
story_make(struct synthetic *s, uint64_t seed)
{
	uint32_t rare = seed % 3 == 0 ? 5 : 400, jitter = 1 + (uint32_t)(seed % 5) * 20000;
	uint64_t base = STORY_BEGIN_NS, have = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;

	state = seed;
	have |= seed % 2 ? PERF_SAMPLE_PERIOD : 0;
	have |= seed % 3 == 1 ? PERF_SAMPLE_ID : 0;
	have |= seed % 4 < 2 ? PERF_SAMPLE_CGROUP : 0;
	synthetic_begin(s, have);
	for (uint32_t i = 0; i < 3000; i++) {
		base += story_roll(4) * 1000;
		/* To the microsecond, so that some are at one time. */
		s->now = base + (uint64_t)story_roll(jitter) / 1000 * 1000;
		s->cpu = story_roll(4);
		if (story_roll(rare))
			make_sample(s, 10 + story_roll(10));
		else
			make_change(s, 10 + story_roll(10));
		if (story_roll(200) == 0)
			give(s, base > jitter ? base - 1 : 0);
	}
	s->now = base + jitter;
	synthetic_read(s);
}

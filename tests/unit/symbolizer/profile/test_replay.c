/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples that are given together, out of order, against the same recording record by record: equal
 * to the sample, with what is so of each at its time.
 */
#include "symbolizer/profile/replay.h"

#include <fcntl.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <linux/perf_event.h>

#include "format/bytes/slots.h"
#include "format/record/record_build.h"
#include "tests/lab/synthetic.h"

#define STORIES 300

/* A sum over all samples of all that is known of each: the order does not matter to it. */
struct digest {
	struct replay *replay;
	uint64_t calls, samples, period, sum, times;
};

static uint64_t
mix_text(uint64_t h, const char *text)
{
	for (; *text; text++)
		h = slots_mix(h, (uint8_t)*text);
	return h;
}

static uint64_t
mix_frame(const struct task_model *m, uint64_t h, uint32_t pid, const struct callchain_address *a)
{
	const struct task_map *map = task_model_map(m, pid, a->ip);

	h = slots_mix(slots_mix(h, a->ip), (uint64_t)a->mode << 1 | a->is_return);
	if (a->mode == CALLCHAIN_USER && map)
		h = mix_text(slots_mix(h, a->ip - map->start + map->pgoff), map->object->path);
	return h;
}

static int
on_sample(void *arg, const struct replay_sample *s)
{
	struct digest *d = arg;
	const struct task_model *m = replay_model(d->replay);
	const struct task *task = task_model_task(m, s->pid, s->tid);
	const char *cgroup = s->has_cgroup ? task_model_cgroup(m, s->cgroup) : NULL;
	uint64_t h = slots_mix((uint64_t)s->pid << 32 | s->tid, (uint32_t)s->event);
	struct callchain_address address;
	struct callchain chain;

	h = slots_mix(h, s->cpu);
	h = mix_text(h, task && task->comm_known ? task->comm : "?");
	h = mix_text(h, cgroup ? cgroup : "?");
	callchain_begin(&chain, &s->chain, &address);
	do
		h = mix_frame(m, h, s->pid, &address);
	while (callchain_next(&chain, &address));
	d->calls++;
	d->samples += s->samples;
	d->period += s->period;
	d->sum += h * s->samples + slots_mix(h, 1) * s->period;
	return 0;
}

static void
digest(struct recording_reader *reader, uint64_t from, uint64_t until, bool in_order,
       struct digest *ret, struct record_stream_stats *ret_stats)
{
	struct resolver *resolver = resolver_new(NULL);
	const struct replay_options o = {
		.by_cpu = true, .in_order = in_order, .on_sample = on_sample, .arg = ret
	};
	struct record_stream *stream;
	struct fmt_where where = { 0 };

	*ret = (struct digest){ NULL };
	assert_non_null(resolver);
	assert_int_equal(record_stream_open(reader, &stream), 0);
	record_stream_window(stream, from, until);
	ret->replay = replay_new(stream, resolver, &o);
	assert_non_null(ret->replay);
	assert_int_equal(replay_run(ret->replay, &where), 0);
	*ret_stats = *record_stream_stats(stream);
	replay_free(ret->replay);
	record_stream_close(stream);
	resolver_free(resolver);
}

/* How many calls were spared. */
static uint64_t
compare(struct recording_reader *reader, uint64_t from, uint64_t until)
{
	struct record_stream_stats slow_stats, fast_stats;
	struct recording_health slow_health;
	struct digest slow, fast;

	digest(reader, from, until, true, &slow, &slow_stats);
	slow_health = *recording_reader_health(reader);
	digest(reader, from, until, false, &fast, &fast_stats);
	assert_int_equal(fast.samples, slow.samples);
	assert_int_equal(fast.period, slow.period);
	assert_int_equal(fast.sum, slow.sum);
	assert_memory_equal(&fast_stats, &slow_stats, sizeof(fast_stats));
	assert_memory_equal(recording_reader_health(reader), &slow_health, sizeof(slow_health));
	assert_true(fast.calls <= slow.calls);
	return slow.calls - fast.calls;
}

/* --- made up ----------------------------------------------------------------------------- */

static uint64_t state;

static uint32_t
roll(uint32_t sides)
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
	size_t words = 1 + roll(3);

	for (size_t i = 1; i < words; i++)
		chain[i] = 0x10000 + roll(3) * 0x2000;
	s->event = roll(2);
	s->period = roll(3) * 500;
	s->cgroup = 1 + roll(3);
	s->cpumode = roll(4) ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL;
	synthetic_sample(s, pid, pid + roll(2), words > 1 ? chain[1] : 0x10000, chain, words);
	s->event = 0;
}

/* Something that changes what is so for a task, or for all. */
static void
make_change(struct synthetic *s, uint32_t pid)
{
	static const char *const names[] = { "sh", "cc1", "ld", "a-task" };
	static const char *const paths[] = { "/bin/sh", "/lib/libc.so.6", "/tmp/x", "//anon" };
	const uint32_t tid = pid + roll(2);
	struct perf_sample_id id = {
		.have = s->attr[0].sample_type, .id = 100, .cpu = s->cpu, .pid = pid, .tid = tid
	};

	switch (roll(8)) {
	case 0:
		synthetic_comm(s, pid, pid + roll(2), names[roll(4)]);
		break;
	case 1:
		synthetic_exit(s, pid, pid + roll(2));
		break;
	case 2:
		synthetic_cgroup(s, 1 + roll(3), paths[roll(4)]);
		break;
	case 3:
	case 4:
		id.time = s->now;
		assert_int_equal(record_build_fork(&s->records, &s->attr[0], &id, pid,
						   10 + roll(10), tid, pid, s->now, 0),
				 0);
		break;
	case 5:
		id.time = s->now;
		assert_int_equal(record_build_comm(&s->records, &s->attr[0], &id, pid, pid,
						   names[roll(4)], PERF_RECORD_MISC_COMM_EXEC),
				 0);
		break;
	default:
		synthetic_map(s, pid, 0x10000 + roll(8) * 0x1000, 0x1000 * (1 + roll(4)),
			      paths[roll(4)]);
	}
}

/*
 * Of some CPUs, whose records come late by up to jitter; changes are so rare that whole blocks have
 * none, or so frequent that all have.
 */
static void
make_story(struct synthetic *s, uint64_t seed)
{
	uint32_t rare = seed % 3 == 0 ? 5 : 400, jitter = 1 + (uint32_t)(seed % 5) * 20000;
	uint64_t base = 2000000000, have = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;

	state = seed;
	have |= seed % 2 ? PERF_SAMPLE_PERIOD : 0;
	have |= seed % 4 < 2 ? PERF_SAMPLE_CGROUP : 0;
	synthetic_begin(s, have);
	for (uint32_t i = 0; i < 3000; i++) {
		base += roll(4) * 1000;
		/* To the microsecond, so that some are at one time. */
		s->now = base + (uint64_t)roll(jitter) / 1000 * 1000;
		s->cpu = roll(4);
		if (roll(rare))
			make_sample(s, 10 + roll(10));
		else
			make_change(s, 10 + roll(10));
		if (roll(200) == 0)
			give(s, base > jitter ? base - 1 : 0);
	}
	s->now = base + jitter;
	synthetic_read(s);
}

static void
made_up_ones(void **arg)
{
	uint64_t spared = 0;
	struct synthetic s;

	for (uint64_t seed = 1; seed <= STORIES; seed++) {
		make_story(&s, seed);
		spared += compare(s.reader, 0, UINT64_MAX);
		compare(s.reader, 2000000000 + roll(5000000), 2000000000 + roll(8000000));
		synthetic_end(&s);
	}
	/* There is something to compare. */
	assert_true(spared > STORIES * 20);
}

/* --- of every version -------------------------------------------------------------------- */

static void
golden_ones(void **arg)
{
	struct recording_reader *reader;
	struct fmt_where where = { 0 };
	struct io_source *source;
	size_t compared = 0;
	glob_t files;

	assert_int_equal(glob("tests/golden/*/*.spoor", 0, NULL, &files), 0);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		source = io_source_fd(open(files.gl_pathv[i], O_RDONLY | O_CLOEXEC));
		assert_non_null(source);
		if (recording_reader_open(source, &reader, &where) < 0)
			continue;
		compare(reader, 0, UINT64_MAX);
		recording_reader_close(reader);
		compared++;
	}
	globfree(&files);
	assert_true(compared >= 8);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(made_up_ones),
		cmocka_unit_test(golden_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

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
#include "format/columns/columns_view.h"
#include "tests/lab/story.h"

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
	d->samples++;
	d->period += s->period;
	d->sum += h + slots_mix(h, 1) * s->period + slots_mix(h, 2) * s->time_ns;
	return 0;
}

static int
on_block(void *arg, const struct stream_columns *block)
{
	struct digest *d = arg;
	const struct columns_view_sample *samples;
	size_t nr = columns_view_samples(block->view, &samples);
	struct replay_sample s;

	for (size_t i = 0; i < nr; i++) {
		if (block->in_order[samples[i].task])
			continue;
		replay_block_sample(block, i, &s);
		assert_true(s.time_ns >= block->first_ns);
		on_sample(d, &s);
		d->calls--;
	}
	d->calls++;
	return 0;
}

static void
digest(struct recording_reader *reader, uint64_t from, uint64_t until, bool in_order,
       struct digest *ret, struct record_stream_stats *ret_stats)
{
	struct intern *strings = intern_new(INTERN_BYTES_MAX);
	const struct replay_options o = {
		.in_order = in_order, .on_sample = on_sample, .on_block = on_block, .arg = ret
	};
	struct record_stream *stream;
	struct fmt_where where = { 0 };

	*ret = (struct digest){ NULL };
	assert_non_null(strings);
	assert_int_equal(record_stream_open(reader, &stream), 0);
	record_stream_window(stream, from, until);
	ret->replay = replay_new(stream, strings, &o);
	assert_non_null(ret->replay);
	assert_int_equal(replay_run(ret->replay, &where), 0);
	*ret_stats = *record_stream_stats(stream);
	replay_free(ret->replay);
	record_stream_close(stream);
	intern_free(strings);
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

static void
made_up_ones(void **arg)
{
	uint64_t spared = 0;
	struct synthetic s;

	for (uint64_t seed = 1; seed <= STORIES; seed++) {
		story_make(&s, seed);
		spared += compare(s.reader, 0, UINT64_MAX);
		compare(s.reader, STORY_BEGIN_NS + story_roll(5000000),
			STORY_BEGIN_NS + story_roll(8000000));
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

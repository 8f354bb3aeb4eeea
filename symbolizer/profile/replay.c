/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/replay.h"

#include <stdlib.h>
#include <string.h>

#include <linux/perf_event.h>

#include "format/block/buildids.h"
#include "format/bytes/array.h"
#include "format/bytes/word_lists.h"
#include "format/columns/columns_view.h"

#define GHOST_NS UINT64_C(1000000000) /* how much later samples of a task that has ended may be */

/* Samples of a block that differ in nothing but their times. */
struct alike {
	uint32_t source, task, stack;
	uint64_t samples, period, first_ns, last_ns;
};

struct replay {
	struct record_stream *stream;
	struct resolver *resolver;
	struct replay_options options;
	struct task_model *model;
	struct word_lists keys; /* of the block's: {task, stack, event or source} */
	struct alike *alike;	/* by the number of its key */
	size_t cap_alike;
	uint32_t *order, *begins; /* of alike: by task; where each task's begin */
	size_t cap_order, cap_begins;
	uint64_t epoch;
	uint64_t aged_ns; /* up to when tasks that have ended were forgotten */
	uint64_t bad_blocks;
	int error; /* of the block callback, which cannot return one */
};

struct replay *
replay_new(struct record_stream *stream, struct resolver *resolver,
	   const struct replay_options *options)
{
	struct replay *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->stream = stream;
	r->resolver = resolver;
	r->options = *options;
	r->model = task_model_new();
	if (r->model)
		return r;
	replay_free(r);
	return NULL;
}

void
replay_free(struct replay *r)
{
	if (!r)
		return;
	task_model_free(r->model);
	word_lists_done(&r->keys);
	free(r->alike);
	free(r->order);
	free(r->begins);
	free(r);
}

const struct task_model *
replay_model(const struct replay *r)
{
	return r->model;
}

uint64_t
replay_bad_blocks(const struct replay *r)
{
	return r->bad_blocks;
}

/* --- blocks ------------------------------------------------------------------------------ */

static int
add_buildids(struct replay *r, const struct block *block)
{
	struct buildid_entry e;
	size_t cursor = 0;
	int err;

	while ((err = buildids_next(block->payload, &cursor, &e)) > 0) {
		if (e.path_len == 6 && memcmp(e.path, "[vdso]", 6) == 0)
			resolver_set_vdso_build_id(r->resolver, &e.id);
		/* An imported table and the recorder's of modules have paths, not inodes. */
		if (e.ino == 0)
			err = task_model_set_path_build_id(r->model, e.path, e.path_len, &e.id);
		else
			err = task_model_set_build_id(r->model, e.maj, e.min, e.ino,
						      e.ino_generation, &e.id);
		if (err < 0)
			break;
	}
	return err;
}

static void
see_block(void *arg, const struct block *block)
{
	struct replay *r = arg;
	int err = 0;

	if (block->header.type == BLOCK_KSYMS)
		err = resolver_add_ksyms(r->resolver, block);
	else if (block->header.type == BLOCK_BUILDIDS)
		err = add_buildids(r, block);
	if (err == -FMT_E_NOMEM)
		r->error = err;
	else if (err < 0) /* the checksum was right: a strange writer */
		r->bad_blocks++;
}

/* --- samples ----------------------------------------------------------------------------- */

/*
 * Later, its number may be another's whose FORK the recording lacks: lost by the kernel, or left out
 * as side-band over the budget. No name is better than that of the one before.
 */
static void
forget_ghosts(struct replay *r, uint64_t time_ns)
{
	if (time_ns < r->aged_ns + GHOST_NS)
		return;
	r->aged_ns = time_ns;
	r->epoch++;
	task_model_forget_exited(r->model, time_ns - GHOST_NS);
}

static uint64_t
period_of(const struct perf_record *r)
{
	return r->sample.have & PERF_SAMPLE_PERIOD ? r->sample.period : event_attr_period(r->attr);
}

static int
give_record(struct replay *r, const struct perf_record *record, int event)
{
	struct replay_sample s = {
		.event = event,
		.pid = record->sid.pid,
		.tid = record->sid.tid,
		.cpu = record->sid.cpu,
		.has_cgroup = record->sample.have & PERF_SAMPLE_CGROUP,
		.cgroup = record->sample.cgroup,
		.samples = 1,
		.period = period_of(record),
		.first_ns = record->sid.time,
		.last_ns = record->sid.time,
		.epoch = r->epoch,
	};

	callchain_of_record(record, &s.chain);
	return r->options.on_sample(r->options.arg, &s);
}

static int
give_alike(struct replay *r, const struct stream_columns *c, const struct alike *a)
{
	const struct stream_source *source = &c->sources[a->source];
	const uint64_t(*tasks)[2];
	struct replay_sample s = {
		.event = source->event,
		.cpu = source->cpu,
		.has_cgroup = source->has_cgroup,
		.samples = a->samples,
		.period = a->period,
		.first_ns = a->first_ns,
		.last_ns = a->last_ns,
		.epoch = r->epoch,
	};

	columns_view_tasks(c->view, &tasks);
	s.pid = (uint32_t)tasks[a->task][0];
	s.tid = (uint32_t)(tasks[a->task][0] >> 32);
	s.cgroup = tasks[a->task][1];
	callchain_of_columns(c->view, a->source, a->stack, &s.chain);
	return r->options.on_sample(r->options.arg, &s);
}

static void
add_alike(struct alike *a, const struct stream_source *source, const struct columns_view_sample *s)
{
	if (a->samples == 0 || s->time < a->first_ns)
		a->first_ns = s->time;
	if (s->time > a->last_ns)
		a->last_ns = s->time;
	a->samples++;
	a->period += source->by_value ? s->value : source->period;
}

static int
give_one(struct replay *r, const struct stream_columns *c, size_t number)
{
	const struct columns_view_sample *samples, *s;
	struct alike a;

	columns_view_samples(c->view, &samples);
	s = &samples[number];
	a = (struct alike){ .source = s->source, .task = s->task, .stack = s->stack };
	add_alike(&a, &c->sources[s->source], s);
	forget_ghosts(r, s->time);
	return give_alike(r, c, &a);
}

/* Counts one of those that are given together. */
static int
count_alike(struct replay *r, const struct stream_columns *c, const struct columns_view_sample *s)
{
	const struct stream_source *source = &c->sources[s->source];
	const uint32_t key[] = { s->task, s->stack,
				 r->options.by_cpu ? s->source : (uint32_t)source->event };
	size_t known = r->keys.nr;
	uint32_t number;

	if (word_lists_number(&r->keys, key, 3, &number) != 0 ||
	    array_reserve(r->alike, known, r->cap_alike, 1) != 0)
		return -FMT_E_NOMEM;
	if (number == known)
		r->alike[number] =
			(struct alike){ .source = s->source, .task = s->task, .stack = s->stack };
	add_alike(&r->alike[number], source, s);
	return 0;
}

/* Those of one task one after another, so that what is so for it is looked up once. */
static int
order_by_task(struct replay *r, const struct stream_columns *c)
{
	const uint64_t(*tasks)[2];
	size_t nr_tasks = columns_view_tasks(c->view, &tasks);
	uint32_t at = 0, n;

	if (array_reserve(r->order, 0, r->cap_order, r->keys.nr) != 0 ||
	    array_reserve(r->begins, 0, r->cap_begins, nr_tasks) != 0)
		return -FMT_E_NOMEM;
	memset(r->begins, 0, nr_tasks * sizeof(*r->begins));
	for (size_t i = 0; i < r->keys.nr; i++)
		r->begins[r->alike[i].task]++;
	for (size_t i = 0; i < nr_tasks; i++) {
		n = r->begins[i];
		r->begins[i] = at;
		at += n;
	}
	for (size_t i = 0; i < r->keys.nr; i++)
		r->order[r->begins[r->alike[i].task]++] = (uint32_t)i;
	return 0;
}

static int
give_together(struct replay *r, const struct stream_columns *c)
{
	const struct columns_view_sample *samples;
	size_t nr = columns_view_samples(c->view, &samples);
	uint64_t first_ns = UINT64_MAX;
	int err = 0;

	word_lists_clear(&r->keys);
	for (size_t i = 0; err == 0 && i < nr; i++) {
		if (c->in_order[samples[i].task])
			continue;
		err = count_alike(r, c, &samples[i]);
		if (samples[i].time < first_ns)
			first_ns = samples[i].time;
	}
	if (err == 0)
		err = order_by_task(r, c);
	if (r->keys.nr)
		forget_ghosts(r, first_ns);
	for (size_t i = 0; err == 0 && i < r->keys.nr; i++)
		err = give_alike(r, c, &r->alike[r->order[i]]);
	return err;
}

/* --- records ----------------------------------------------------------------------------- */

static int
apply_record(struct replay *r, const struct perf_record *record, int event)
{
	int err;

	forget_ghosts(r, record->sid.time);
	if (record->type == REC_SAMPLE)
		return give_record(r, record, event);
	r->epoch++;
	if (record->type == REC_KSYMBOL)
		return resolver_apply_ksymbol(r->resolver, record);
	if (record->type == REC_MMAP && record->mmap.pid == TASK_PID_KERNEL) {
		err = resolver_kernel_map(r->resolver, record);
		if (err < 0)
			return err;
	}
	return task_model_apply(r->model, record);
}

static int
apply(struct replay *r, const struct stream_record *sr)
{
	if (sr->record)
		return apply_record(r, sr->record, sr->event);
	if (!sr->columns)
		return 0;
	return sr->sample == STREAM_TOGETHER ? give_together(r, sr->columns)
					     : give_one(r, sr->columns, sr->sample);
}

static uint32_t
owner_of(void *arg, uint32_t tid)
{
	return task_model_owner(((const struct replay *)arg)->model, tid);
}

int
replay_run(struct replay *r, struct fmt_where *where)
{
	struct stream_record sr;
	int err;

	record_stream_on_block(r->stream, see_block, r);
	if (!r->options.in_order)
		record_stream_columns(r->stream, owner_of, r);
	while ((err = record_stream_next(r->stream, &sr, where)) > 0) {
		err = apply(r, &sr);
		if (err == 0)
			err = r->error;
		if (err < 0)
			break;
	}
	record_stream_on_block(r->stream, NULL, NULL);
	return err == 0 ? r->error : err;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/replay.h"

#include <stdlib.h>
#include <string.h>

#include <linux/perf_event.h>
#include <sys/mman.h>

#include "format/block/buildids.h"
#include "format/columns/columns_view.h"
#include "symbolizer/profile/deferred_chains.h"
#include "symbolizer/profile/other_namespace.h"
#include "symbolizer/profile/read_deltas.h"

struct replay {
	struct record_stream *stream;
	struct replay_options options;
	struct task_model *model;
	struct kernel_symbols *kernel;
	struct deferred_chains *deferred; /* NULL: no event asked for such chains */
	struct unwind_stops stops;	  /* of stacks that were unwound while it was recorded */
	bool has_kernel;
	bool inside; /* the recorder was in a PID namespace: whose a sample of pid 0 is, its place tells */
	struct buildid vdso;
	struct map_object vsyscall_object;
	struct task_map vsyscall; /* empty: the machine has none */
	uint64_t epoch, kernel_epoch;
	uint64_t aged_ns; /* up to when tasks that have ended were forgotten */
	uint64_t bad_blocks;
	struct wait_samples *waits; /* NULL: the recording has none */
	struct read_deltas deltas;
	uint64_t counted; /* samples with counts */
	struct read_counts counts;
	int error; /* of the block callback, which cannot return one */
};

static void
vsyscall_init(struct replay *r)
{
	const char *arch = record_stream_meta(r->stream)->arch;

	r->vsyscall_object = (struct map_object){ .serial = UINT64_MAX, .path = "[vsyscall]" };
	r->vsyscall = (struct task_map){ .start = CALLCHAIN_VSYSCALL,
					 .prot = PROT_EXEC,
					 .object = &r->vsyscall_object };
	if (!arch || !*arch || strcmp(arch, "x86_64") == 0)
		r->vsyscall.end = CALLCHAIN_VSYSCALL_END;
}

struct replay *
replay_new(struct record_stream *stream, struct intern *strings,
	   const struct replay_options *options)
{
	struct replay *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->stream = stream;
	r->options = *options;
	vsyscall_init(r);
	r->model = task_model_new();
	r->kernel = kernel_symbols_new(strings);
	if (r->model && r->kernel)
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
	kernel_symbols_free(r->kernel);
	wait_samples_free(r->waits);
	deferred_chains_free(r->deferred);
	read_deltas_done(&r->deltas);
	read_counts_done(&r->counts);
	free(r);
}

const struct task_model *
replay_model(const struct replay *r)
{
	return r->model;
}

const struct task_map *
replay_map(const struct replay *r, uint32_t pid, uint64_t addr)
{
	const struct task_map *map = task_model_map(r->model, pid, addr);

	if (!map && addr >= r->vsyscall.start && addr < r->vsyscall.end)
		map = &r->vsyscall;
	return map;
}

const struct kernel_symbols *
replay_kernel(const struct replay *r)
{
	return r->kernel;
}

uint64_t
replay_epoch(const struct replay *r)
{
	return r->epoch;
}

uint64_t
replay_kernel_epoch(const struct replay *r)
{
	return r->kernel_epoch;
}

bool
replay_has_kernel(const struct replay *r)
{
	return r->has_kernel;
}

const struct buildid *
replay_vdso(const struct replay *r)
{
	return &r->vdso;
}

void
replay_take_counts(struct replay *r, struct read_counts *ret)
{
	read_counts_settle(&r->counts);
	*ret = r->counts;
	r->counts = (struct read_counts){ 0 };
}

uint64_t
replay_bad_blocks(const struct replay *r)
{
	return r->bad_blocks;
}

const char *
replay_event_name(const struct replay *r, size_t event)
{
	const char *name = r->waits ? wait_samples_event(r->waits, &event) : NULL;

	return name ? name : event_set_at(record_stream_events(r->stream), event)->name;
}

const struct event_set *
replay_events(const struct replay *r)
{
	return record_stream_events(r->stream);
}

size_t
replay_first_wait(const struct replay *r)
{
	return r->waits ? wait_samples_first(r->waits) : SIZE_MAX;
}

const struct unwind_stops *
replay_stops(const struct replay *r)
{
	return &r->stops;
}

struct waits_counts
replay_waits(const struct replay *r)
{
	return r->waits ? wait_samples_counts(r->waits) : (struct waits_counts){ 0 };
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
			r->vdso = e.id;
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

static int
add_ksyms(struct replay *r, const struct block *block)
{
	r->has_kernel = true;
	r->kernel_epoch++;
	return kernel_symbols_add_block(r->kernel, block->payload);
}

static void
see_block(void *arg, const struct block *block)
{
	struct replay *r = arg;
	int err = 0;

	r->epoch++;
	if (block->header.type == BLOCK_KSYMS)
		err = add_ksyms(r, block);
	else if (block->header.type == BLOCK_BUILDIDS)
		err = add_buildids(r, block);
	else if (block->header.type == BLOCK_STACKS)
		err = unwind_stops_decode(&r->stops, block->payload);
	else if (block->header.type == BLOCK_GAP && r->waits)
		wait_samples_gaps_changed(r->waits);
	if (err == -FMT_E_NOMEM)
		r->error = err;
	else if (err < 0) /* the checksum was right: a strange writer */
		r->bad_blocks++;
}

/* --- samples ----------------------------------------------------------------------------- */

/*
 * Later, its number may be another's whose FORK the recording lacks: lost by the kernel, or left
 * out as side-band over the budget. No name is better than that of the one before.
 */
static void
forget_ghosts(struct replay *r, uint64_t time_ns)
{
	if (time_ns < r->aged_ns + REPLAY_GHOST_NS)
		return;
	r->aged_ns = time_ns;
	r->epoch++;
	task_model_forget_exited(r->model, time_ns - REPLAY_GHOST_NS);
}

static uint64_t
period_of(const struct perf_record *r)
{
	return r->sample.have & PERF_SAMPLE_PERIOD ? r->sample.period : event_attr_period(r->attr);
}

static void
sample_of_record(const struct replay *r, const struct perf_record *record, int event,
		 struct replay_sample *ret)
{
	*ret = (struct replay_sample){
		.event = event,
		.pid = record->sid.pid,
		.tid = record->sid.tid,
		.cpu = record->sid.cpu,
		.has_cgroup = record->sample.have & PERF_SAMPLE_CGROUP,
		.cgroup = record->sample.cgroup,
		.copied = &record->sample,
		.period = period_of(record),
		.time_ns = record->sid.time,
	};
	if (r->inside && ret->pid == 0 && other_namespace_has(record, r->kernel))
		ret->pid = ret->tid = TASK_PID_ELSEWHERE;
	callchain_of_record(record, &ret->chain);
}

/* The number of the event with this id; -1: none, or its samples are waits. */
static int
event_of(const struct replay *r, uint64_t id)
{
	const int event = event_set_find(record_stream_events(r->stream), id);

	return r->waits && event >= 0 ? wait_samples_number(r->waits, event) : event;
}

/* A sample for each event that counted since the one before. */
static int
give_counts(struct replay *r, const struct perf_record *record, struct replay_sample *s,
	    bool outside)
{
	const struct perf_read *read = &record->sample.read;
	bool timed = read->format & PERF_FORMAT_TOTAL_TIME_ENABLED;
	bool begins = record_stream_counts_begin(
		r->stream, timed ? record->sid.time - read->time_enabled : record->sid.time);
	const int own = s->event;
	struct perf_sample others = record->sample;
	int err = 0;

	others.raw = span_of(NULL, 0);
	s->record = ++r->counted;
	for (uint64_t i = 0; err == 0 && i < read->nr; i++) {
		const uint64_t id = read_deltas_id(record, i);

		/* The sample's own event is known also where there are no ids. */
		s->event = id == record->sid.id ? own : event_of(r, id);
		if (s->event < 0)
			continue;
		err = read_deltas_at(&r->deltas, record, i, begins, &s->period);
		/* The bytes are those of the sample's own event. */
		s->copied = id == record->sid.id ? &record->sample : &others;
		if (err == 0 && !outside && s->period != 0)
			err = r->options.on_sample(r->options.arg, s);
	}
	return err;
}

static int
give_sample(struct replay *r, const struct perf_record *record, int event, bool outside)
{
	struct replay_sample s;

	sample_of_record(r, record, event, &s);
	if (read_deltas_has(record))
		return give_counts(r, record, &s, outside);
	return outside ? 0 : r->options.on_sample(r->options.arg, &s);
}

static int
give_record(void *arg, const struct perf_record *record, int event)
{
	return give_sample(arg, record, event, false);
}

void
replay_block_who(const struct stream_columns *block, size_t number, struct replay_sample *ret)
{
	const struct columns_view_sample *samples, *s;
	const struct stream_source *source;
	const uint64_t(*tasks)[2];

	columns_view_samples(block->view, &samples);
	columns_view_tasks(block->view, &tasks);
	s = &samples[number];
	source = &block->sources[s->source];
	*ret = (struct replay_sample){
		.event = source->event,
		.pid = (uint32_t)tasks[s->task][0],
		.tid = (uint32_t)(tasks[s->task][0] >> 32),
		.cpu = source->cpu,
		.has_cgroup = source->has_cgroup,
		.cgroup = tasks[s->task][1],
		.period = source->by_value ? s->value : source->period,
		.time_ns = s->time,
	};
}

void
replay_block_sample(const struct stream_columns *block, size_t number, struct replay_sample *ret)
{
	const struct columns_view_sample *samples;

	columns_view_samples(block->view, &samples);
	replay_block_who(block, number, ret);
	callchain_of_columns(block->view, samples[number].source, samples[number].stack,
			     &ret->chain);
}

static int
give_block(struct replay *r, const struct stream_columns *block)
{
	forget_ghosts(r, block->first_ns);
	return r->options.on_block(r->options.arg, block);
}

static int
give_one(struct replay *r, const struct stream_columns *block, size_t number)
{
	struct replay_sample s;

	replay_block_sample(block, number, &s);
	forget_ghosts(r, s.time_ns);
	return r->options.on_sample(r->options.arg, &s);
}

/* --- records ----------------------------------------------------------------------------- */

/* Of the event off-cpu, waits are given. *event: as they leave its number. */
static int
give_wait(struct replay *r, const struct perf_record *record, int *event)
{
	struct wait_sample w;
	struct replay_sample s;
	int nr = wait_samples_see(r->waits, record, event, &w), err = 0;

	if (nr <= 0)
		return nr;
	sample_of_record(r, w.record, w.parts[0].event, &s);
	s.chain = w.chain;
	s.time_ns = w.time_ns;
	s.waker = w.waker;
	for (int i = 0; i < nr && err == 0; i++) {
		s.event = w.parts[i].event;
		s.period = w.parts[i].period_ns;
		err = r->options.on_sample(r->options.arg, &s);
	}
	return err;
}

/* A sample that lacks callers waits; those that waited are given before their thread is gone. */
static int
wait_for_chains(struct replay *r, const struct perf_record *record, int event, bool *ret_held)
{
	switch (record->type) {
	case REC_SAMPLE:
		/* Counts are compared in the order of their samples. */
		if (read_deltas_has(record))
			return 0;
		return deferred_chains_hold(r->deferred, record, event, ret_held);
	case REC_CALLCHAIN_DEFERRED:
		return deferred_chains_merge(r->deferred, record);
	case REC_EXIT:
		return deferred_chains_end(r->deferred, record->task.tid, false);
	}
	return 0;
}

static int
apply_record(struct replay *r, const struct stream_record *sr)
{
	const struct perf_record *record = sr->record;
	bool held = false;
	int event = sr->event, err = 0;

	forget_ghosts(r, record->sid.time);
	if (r->waits && !sr->outside)
		err = give_wait(r, record, &event);
	if (err || event == WAIT_SAMPLES_TAKEN)
		return err;
	if (r->deferred && !sr->outside)
		err = wait_for_chains(r, record, event, &held);
	if (err || held)
		return err;
	if (record->type == REC_SAMPLE)
		return give_sample(r, record, event, sr->outside);
	if (record->type == REC_READ)
		return read_counts_add(&r->counts, record_stream_events(r->stream), record);
	r->epoch++;
	if (record->type == REC_KSYMBOL) {
		r->kernel_epoch++;
		return kernel_symbols_apply(r->kernel, record);
	}
	if (record->type == REC_MMAP && record->mmap.pid == TASK_PID_KERNEL) {
		r->kernel_epoch++;
		err = kernel_symbols_map(r->kernel, &record->mmap);
	}
	if (!err && (record->type == REC_MMAP || record->type == REC_MMAP2) && r->options.on_map)
		err = r->options.on_map(r->options.arg, &record->mmap);
	return err ? err : task_model_apply(r->model, record);
}

static int
apply(struct replay *r, const struct stream_record *sr)
{
	if (sr->record)
		return apply_record(r, sr);
	if (!sr->columns)
		return 0;
	return sr->sample == STREAM_TOGETHER ? give_block(r, sr->columns)
					     : give_one(r, sr->columns, sr->sample);
}

static uint32_t
owner_of(void *arg, uint32_t tid)
{
	return task_model_owner(((const struct replay *)arg)->model, tid);
}

/* Then samples are records, which can wait. */
static int
begin_deferred(struct replay *r)
{
	const struct event_set *events = record_stream_events(r->stream);
	bool deferred = false;

	for (size_t i = 0; i < event_set_count(events); i++)
		deferred |=
			event_attr_has(&event_set_at(events, i)->attr, EVENT_ATTR_defer_callchain);
	if (deferred)
		r->deferred = deferred_chains_new(give_record, r);
	return deferred && !r->deferred ? -FMT_E_NOMEM : 0;
}

int
replay_run(struct replay *r, struct fmt_where *where)
{
	struct stream_record sr;
	bool failed = false;
	int given = 0, err = wait_samples_open(r->stream, r->model, r->kernel, &r->waits);

	if (err == 0)
		err = begin_deferred(r);
	if (err)
		return err;
	r->inside = record_stream_meta(r->stream)->pid_namespace != 0;
	record_stream_on_block(r->stream, see_block, r);
	record_stream_reads(r->stream);
	if (!r->options.in_order && !r->waits && !r->deferred && !r->inside)
		record_stream_columns(r->stream, owner_of, r);
	while ((err = record_stream_next(r->stream, &sr, where)) > 0) {
		err = apply(r, &sr);
		if (err == 0)
			err = r->error;
		failed = err != 0;
		if (failed)
			break;
	}
	record_stream_on_block(r->stream, NULL, NULL);
	/* What is damaged behind them costs them nothing. */
	if (r->deferred && err != -FMT_E_NOMEM && !failed)
		given = deferred_chains_end(r->deferred, 0, true);
	if (err == 0)
		err = given;
	return err == 0 ? r->error : err;
}

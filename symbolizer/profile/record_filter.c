/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/record_filter.h"

#include <linux/perf_event.h>

#include "symbolizer/profile/callchain.h"
#include "symbolizer/profile/other_namespace.h"
#include "symbolizer/profile/replay.h"
#include "symbolizer/profile/task_comm.h"

static int
inside_init(struct record_filter *f)
{
	f->strings = intern_new(INTERN_BYTES_MAX);
	f->kernel = f->strings ? kernel_symbols_new(f->strings) : NULL;
	return f->kernel ? 0 : -FMT_E_NOMEM;
}

int
record_filter_init(struct record_filter *f, const struct filter *filter,
		   const struct recording_meta *meta)
{
	*f = (struct record_filter){ .filter = filter };
	kernel_names_init(&f->names);
	if (filter && meta->pid_namespace && inside_init(f) < 0)
		return -FMT_E_NOMEM;
	if (filter && filter_by_cgroup(filter))
		f->verdicts = cgroup_verdicts_new();
	if (filter && filter_by_comm(filter)) {
		f->tasks = task_model_new();
		return f->tasks ? 0 : -FMT_E_NOMEM;
	}
	return 0;
}

void
record_filter_done(struct record_filter *f)
{
	kernel_names_done(&f->names);
	tracepoints_done(&f->tracepoints);
	cgroup_verdicts_free(f->verdicts);
	task_model_free(f->tasks);
	kernel_symbols_free(f->kernel);
	intern_free(f->strings);
}

void
record_filter_block(void *filter, const struct block *block)
{
	struct record_filter *f = filter;

	if (f->kernel && block->header.type == BLOCK_KSYMS &&
	    kernel_symbols_add_block(f->kernel, block->payload) == -FMT_E_NOMEM)
		f->error = -FMT_E_NOMEM;
}

/* Of what was there: names alone; maps of processes would be most of the work. */
static int
follow(struct record_filter *f, const struct perf_record *r)
{
	int error = 0;

	if (r->type == REC_CGROUP && filter_by_cgroup(f->filter))
		error = kernel_names_apply(&f->names, r);
	if (error == 0 && f->kernel && r->type == REC_KSYMBOL)
		error = kernel_symbols_apply(f->kernel, r);
	if (error == 0 && f->kernel && r->type == REC_MMAP)
		error = kernel_symbols_map(f->kernel, &r->mmap);
	if (error == 0 && f->tasks && r->type != REC_MMAP && r->type != REC_MMAP2)
		error = task_model_apply(f->tasks, r);
	return error;
}

/* As replay does it, so that a sample has the same name here and in a report. */
static void
forget_ghosts(struct record_filter *f, uint64_t time_ns)
{
	if (!f->tasks || time_ns < f->aged_ns + REPLAY_GHOST_NS)
		return;
	f->aged_ns = time_ns;
	task_model_forget_exited(f->tasks, time_ns - REPLAY_GHOST_NS);
}

static bool
is_kernel(const struct perf_record *r)
{
	struct callchain_address leaf;
	struct callchain_words words;
	struct callchain chain;

	callchain_of_record(r, &words);
	callchain_begin(&chain, &words, &leaf);
	return callchain_mode_is_kernel(leaf.mode);
}

int
record_filter_see(struct record_filter *f, const struct stream_record *rec,
		  const struct event_set *events)
{
	const struct perf_record *r = rec->record;
	char spare[TASK_COMM_BYTES];
	struct filter_subject s;
	bool wanted;
	int error;

	if (f->error)
		return f->error;
	if (!f->filter || !r)
		return 1;
	forget_ghosts(f, r->sid.time);
	if (rec->state || r->type != REC_SAMPLE) {
		error = follow(f, r);
		return error < 0 ? error : 1;
	}
	s = (struct filter_subject){
		.pid = r->sid.pid, .tid = r->sid.tid, .cpu = r->sid.cpu, .verdicts = f->verdicts
	};
	if (f->kernel && s.pid == 0 && other_namespace_has(r, f->kernel))
		s.pid = s.tid = TASK_PID_ELSEWHERE;
	s.event = rec->event < 0 ? "" : event_set_at(events, (size_t)rec->event)->name;
	if (f->tasks)
		s.comm = task_comm(f->tasks, s.pid, s.tid, spare);
	if (r->sample.have & PERF_SAMPLE_CGROUP)
		s.cgroup = kernel_names_cgroup(&f->names, r->sample.cgroup);
	/* Both, whatever the first one says: values that no sample has are told. */
	wanted = filter_scope(f->filter, &s);
	wanted &= filter_sample(f->filter, &s);
	if (!wanted || !filter_mode(f->filter, is_kernel(r)))
		return 0;
	return !filter_by_trace(f->filter) ||
		filter_trace(f->filter, tracepoints_of(&f->tracepoints, events, rec->event),
			     r->sample.raw);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a record does to the counts, the budget of side-band and the model; and what is said of
 * them to other threads.
 */
#include <errno.h>
#include <linux/perf_event.h>

#include "format/record/perf_record.h"
#include "format/recording/recording_writer.h"
#include "recorder/host/task_users.h"
#include "recorder/live/live.h"
#include "recorder/unwind/unwinding.h"
#include "recorder/writer/writer_internal.h"

#define IN_VAIN_NS UINT64_C(10000000000)
#define WINDOW_NS UINT64_C(1000000000) /* between passes of the model of a flight recorder */

/* --- counts ------------------------------------------------------------------------------ */

/* What comes in an outage is told by the file that ends it. */
void
writer_count(struct writer *w, uint32_t cpu, enum loss_cause cause, uint64_t n)
{
	loss_add(w->loss, cpu, cause, n);
	loss_add(w->outage.on ? w->outage.loss : w->file.loss, cpu, cause, n);
	w->file.loss_changed |= !w->outage.on;
}

static void
see_aux(struct writer *w, const struct perf_record *r)
{
	enum loss_cause causes[LOSS_AUX_CAUSES];
	const size_t n = loss_of_aux(r->aux.flags, causes);

	for (size_t i = 0; i < n; i++)
		writer_count(w, r->sid.cpu, causes[i], 1);
}

void
writer_see(struct writer *w, const struct perf_record *r, int event)
{
	switch (r->type) {
	case REC_THROTTLE:
		writer_count(w, r->sid.cpu, LOSS_THROTTLED, 1);
		break;
	case REC_LOST_SAMPLES:
		writer_count(w, r->sid.cpu, LOSS_LOST_SAMPLES, r->lost.lost);
		break;
	case REC_AUX:
		see_aux(w, r);
		break;
	case REC_LOST:
		if (w->options.count_lost_records)
			writer_count(w, r->sid.cpu,
				     (size_t)event == w->options.sideband ? LOSS_KERNEL_SIDEBAND
									  : LOSS_KERNEL_SAMPLES,
				     r->lost.lost);
		break;
	default:
		break;
	}
	live_record(w->options.live, r);
}

/* --- the budget of side-band ------------------------------------------------------------- */

/* Who made it. */
static uint32_t
maker_of(const struct perf_record *r)
{
	switch (r->type) {
	case REC_FORK:
		return r->task.ppid;
	case REC_MMAP:
	case REC_MMAP2:
		return r->mmap.pid;
	default:
		return r->sid.pid;
	}
}

static uint32_t
user_of(struct writer *w, const struct perf_record *r)
{
	struct live *l = w->options.live;
	uint32_t pid = maker_of(r), uid;

	/* The idle task, and the kernel's own maps, which are those of its modules. */
	if (pid == 0 || (pid == TASK_PID_KERNEL && r->type == REC_MMAP))
		return 0;
	uid = task_users_of(live_users(l), live_model(l), pid, r->sid.time);
	/* It is gone, and its FORK is yet to come, out of another CPU's ring. */
	if (uid == TASK_USER_UNKNOWN && r->type == REC_EXIT && r->task.ppid > 1)
		uid = task_users_of(live_users(l), live_model(l), r->task.ppid, r->sid.time);
	return uid;
}

/* For whoever tells people; the first of them are enough. */
static void
note_over(struct writer *w, uint32_t uid)
{
	size_t i = session_stats_over(&w->stats, uid, 1);

	if (i < SESSION_OVER_MAX)
		w->over[i].here = true;
}

void
writer_told(struct writer *w, struct span state)
{
	struct perf_record r;
	struct span raw;

	while (perf_record_next(&state, &raw) == 1) {
		if (event_set_parse(w->meta->events, raw, &r, NULL))
			continue;
		if (r.type == REC_FORK || r.type == REC_EXIT)
			sideband_budget_told(&w->sideband, r.task.tid, r.type == REC_FORK);
		else if (r.type == REC_COMM)
			sideband_budget_told(&w->sideband, r.comm.tid, true);
	}
}

/* Whose name, map, beginning or end it tells: of all of these there is one number for tasks of other PID namespaces. */
static bool
is_of_other_namespace(const struct perf_record *r)
{
	switch (r->type) {
	case REC_FORK:
	case REC_EXIT:
		return r->task.pid == 0;
	case REC_COMM:
		return r->comm.pid == 0;
	case REC_MMAP:
	case REC_MMAP2:
		return r->mmap.pid == 0;
	case REC_NAMESPACES:
		return r->namespaces.pid == 0;
	default:
		return false;
	}
}

bool
writer_admit(struct writer *w, const struct perf_record *r)
{
	struct sideband_cost cost = sideband_budget_cost(&w->sideband, r);
	uint32_t uid = TASK_USER_UNKNOWN;

	if (!cost.bytes)
		return true;
	if (w->meta->pid_namespace && is_of_other_namespace(r))
		return false;
	/* The scan that goes on may have seen it, and not yet told. */
	if (r->type == REC_EXIT)
		cost.must |= live_scanning(w->options.live);
	if (sideband_budget_asks(&w->sideband, r->sid.time))
		uid = user_of(w, r);
	if (sideband_budget_take(&w->sideband, &cost, uid))
		return true;
	writer_count(w, r->sid.cpu, LOSS_SIDEBAND_BUDGET, 1);
	note_over(w, uid);
	if (cost.kind == SIDEBAND_PROCESS)
		task_users_fork(live_users(w->options.live), r->task.ppid, r->task.pid);
	/* Should it live on, or be known from another record, a scan says so. */
	w->resync_wanted |= cost.kind == SIDEBAND_PROCESS || cost.kind == SIDEBAND_END;
	return false;
}

/* --- records ------------------------------------------------------------------------------ */

static void
on_sample(void *arg, const struct sample_glance *sample)
{
	const struct writer *w = arg;

	live_sample(w->options.live, sample);
}

static bool
on_record(void *arg, const struct perf_record *r, int event)
{
	if (!writer_admit(arg, r))
		return false;
	writer_see(arg, r, event);
	return true;
}

/* A STACKS block of what became of stacks since the last one. 0, -FMT_E_*. */
static int
stacks_ledger(struct writer *w, struct fmt_where *where)
{
	const struct unwind_stops now = *unwinding_stops(w->unwinding);
	const struct unwind_stops since = unwind_stops_since(&now, &w->stops_told);
	struct buf bytes;
	int r;

	if (!unwind_stops_any(&since))
		return 0;
	buf_init(&bytes);
	unwind_stops_encode(&since, &bytes);
	r = buf_failed(&bytes)
		? fmt_fail(where, FMT_E_NOMEM, 0, "what became of stacks")
		: recording_writer_block(w->file.writer, BLOCK_STACKS, buf_span(&bytes), where);
	buf_done(&bytes);
	if (r == 0) {
		w->stops_told = now;
		unwinding_told(w->unwinding);
	}
	return r;
}

static int
before_close(void *arg, struct recording_writer *file, struct fmt_where *where)
{
	struct writer *w = arg;
	int r = live_before_close(w->options.live, file, where);

	sideband_budget_block(&w->sideband);
	/* The ledger first: what it tells of is in no other file. */
	if (r == 0)
		r = out_file_ledger(&w->file, where);
	if (r == 0 && w->unwinding)
		r = stacks_ledger(w, where);
	return r < 0 ? r : out_file_aux(&w->file, &w->aux, where);
}

struct recording_writer_options
writer_hooks(struct writer *w)
{
	return (struct recording_writer_options){ .arg = w,
						  .block_bytes = w->options.block_bytes,
						  .on_sample = on_sample,
						  .on_record = on_record,
						  .before_close = before_close };
}

void
writer_keep(struct writer *w, struct span records)
{
	struct perf_record record;
	struct span bytes;
	int event;

	while (perf_record_next(&records, &bytes) > 0)
		if (event_set_parse(w->meta->events, bytes, &record, &event) == 0 &&
		    writer_admit(w, &record))
			writer_see(w, &record, event);
}

/*
 * The model of a flight recorder stays behind, where its oldest sample is: a dump tells of the state then, and of
 * all that came after. What is younger waits, by far more than it does elsewhere: to sort that is work.
 */
bool
writer_behind(const struct writer *w)
{
	if (w->unwinding && unwinding_behind(w->unwinding))
		return true;
	if (!w->options.flight)
		return live_due(w->options.live, w->complete_ns);
	return w->window_ns >= w->window_due_ns;
}

int
writer_follow(struct writer *w, struct fmt_where *where)
{
	uint64_t left_out, until_ns = w->options.flight ? w->window_ns : w->complete_ns;

	w->window_due_ns = w->window_ns + WINDOW_NS;
	if (live_pass(w->options.live, until_ns) < 0)
		return fmt_fail(where, FMT_E_NOMEM, 0, "live model");
	left_out = live_left_out(w->options.live);
	if (left_out > w->left_out)
		writer_count(w, UINT32_MAX, LOSS_SIDEBAND_BUDGET, left_out - w->left_out);
	w->left_out = left_out;
	return 0;
}

/* --- for other threads -------------------------------------------------------------------- */

/*
 * Does an outage go on for want of another file? Room may come; whatever else is wrong for so long
 * may be wrong with this file alone.
 */
static bool
writer_refused(const struct writer *w)
{
	const struct outage *o = &w->outage;

	if (!o->on || o->for_ever)
		return o->on;
	if (o->error != -FMT_E_IO || o->where.saved_errno == ENOSPC ||
	    o->where.saved_errno == EDQUOT)
		return false;
	return o->where.saved_errno == EFBIG || o->counted_ns - o->from_ns > IN_VAIN_NS;
}

void
writer_publish(struct writer *w)
{
	struct session_stats *to = &w->stats;
	struct recording_writer_stats s;

	recording_writer_stats(w->file.writer, &s);
	recording_writer_lost(w->file.writer, loss_samples(w->file.loss));
	/* What is not in the file, and will not be, is not to be told as if it were. */
	if (w->error) {
		s.records -= s.open_records;
		s.samples -= s.open_samples;
	}
	for (int i = 0; i < LOSS_CAUSES; i++)
		to->loss[i] = loss_total(w->loss, (enum loss_cause)i);
	to->samples = w->ended_samples + s.samples;
	to->records = w->ended_records + s.records;
	to->file_bytes = s.file_bytes;
	to->sideband_bytes = w->ended_sideband + s.sideband_bytes;
	to->lost = loss_samples(w->loss);
	to->objects_bytes = live_stored(w->options.live);
	to->suspended = w->outage.on;
	to->refused = writer_refused(w);
	if (w->unwinding)
		to->stacks = *unwinding_stops(w->unwinding);
	pthread_mutex_lock(&w->published_lock);
	w->published = *to;
	pthread_mutex_unlock(&w->published_lock);
}

void
writer_stats(struct writer *w, struct session_stats *ret)
{
	pthread_mutex_lock(&w->published_lock);
	*ret = w->published;
	pthread_mutex_unlock(&w->published_lock);
}

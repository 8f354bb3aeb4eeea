/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/perf_record.h"
#include "format/recording_writer.h"
#include "recorder/host.h"
#include "recorder/live.h"
#include "recorder/session_error.h"
#include "recorder/session_request.h"
#include "recorder/wake.h"
#include "recorder/writer_internal.h"

#define SCRATCH_KEEP (1u << 20)
#define STATE_BYTES (512u << 10)	    /* of a block, while more of a scan is to come */
#define FIRST_STATE_NS UINT64_C(1000000000) /* what is later comes in blocks of its own */
#define FIRST_STATE_LOOK_MS 20
#define LATE_IDS_NS UINT64_C(1000000000) /* in which a block may wait for its build-ids */
#define SHARE_NS UINT64_C(1000000000)
#define RESYNC_PAUSE 20 /* times as long as one took, until the next */
#define RESYNC_PAUSE_MAX_NS UINT64_C(60000000000)
#define RESYNC_SHARE 8 /* part of the rate of side-band that they may take in the file */

/* --- hooks of the file ------------------------------------------------------------------ */

/* What comes in an outage is told by the file that ends it. */
void
writer_count(struct writer *w, uint32_t cpu, enum loss_cause cause, uint64_t n)
{
	loss_add(w->loss, cpu, cause, n);
	loss_add(w->outage.on ? w->outage.loss : w->file.loss, cpu, cause, n);
	w->file.loss_changed |= !w->outage.on;
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
	live_record(w->options.live, r, event);
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
	uint32_t pid = maker_of(r);

	if (!w->users)
		w->users = sideband_users_new();
	if (!w->users)
		return SIDEBAND_USER_UNKNOWN;
	if (r->type == REC_FORK)
		sideband_users_fork(w->users, r->task.ppid, r->task.pid);
	else if (r->type == REC_COMM && r->misc & TASK_MISC_COMM_EXEC)
		sideband_users_exec(w->users, r->comm.pid);
	/* The idle task, and the kernel's own maps, which are those of its modules. */
	if (pid == 0 || (pid == TASK_PID_KERNEL && r->type == REC_MMAP))
		return 0;
	return sideband_users_of(w->users, live_model(w->options.live), pid, r->sid.time);
}

/* For whoever tells people; the first of them are enough. */
static void
note_over(struct writer *w, uint32_t uid)
{
	size_t nr = atomic_load_explicit(&w->nr_over, memory_order_relaxed), i = 0;

	while (i < nr && w->over[i].uid != uid)
		i++;
	if (i == SESSION_OVER_MAX)
		return;
	w->over[i].uid = uid;
	w->over[i].here = true;
	atomic_fetch_add_explicit(&w->over[i].records, 1, memory_order_relaxed);
	if (i == nr)
		/* Pairs with the acquire in writer_totals(). */
		atomic_store_explicit(&w->nr_over, nr + 1, memory_order_release);
}

bool
writer_admit(struct writer *w, const struct perf_record *r)
{
	const struct sideband_cost cost = sideband_budget_cost(&w->sideband, r);
	uint32_t uid = SIDEBAND_USER_UNKNOWN;

	if (!cost.bytes)
		return true;
	if (sideband_budget_asks(&w->sideband, r->sid.time))
		uid = user_of(w, r);
	if (sideband_budget_take(&w->sideband, &cost, uid))
		return true;
	writer_count(w, r->sid.cpu, LOSS_SIDEBAND_BUDGET, 1);
	note_over(w, uid);
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

static int
before_close(void *arg, struct recording_writer *file, struct fmt_where *where)
{
	struct writer *w = arg;
	int r = live_before_close(w->options.live, file, where);

	sideband_budget_block(&w->sideband);

	return r < 0 ? r : out_file_ledger(&w->file, where);
}

const struct recording_writer_options writer_hooks = { .on_sample = on_sample,
						       .on_record = on_record,
						       .before_close = before_close };

/* --- messages --------------------------------------------------------------------------- */

void
writer_publish(struct writer *w)
{
	struct recording_writer_stats s;
	uint64_t losses[LOSS_CAUSES];

	recording_writer_stats(w->file.writer, &s);
	recording_writer_lost(w->file.writer, loss_samples(w->file.loss));
	/* What is not in the file, and will not be, is not to be told as if it were. */
	if (w->error) {
		s.records -= s.open_records;
		s.samples -= s.open_samples;
	}
	for (int i = 0; i < LOSS_CAUSES; i++) {
		losses[i] = loss_total(w->loss, (enum loss_cause)i);
		atomic_store_explicit(&w->losses[i], losses[i], memory_order_relaxed);
	}
	atomic_store_explicit(&w->samples, w->ended_samples + s.samples, memory_order_relaxed);
	atomic_store_explicit(&w->records, w->ended_records + s.records, memory_order_relaxed);
	atomic_store_explicit(&w->file_bytes, s.file_bytes, memory_order_relaxed);
	atomic_store_explicit(&w->sideband_bytes, w->ended_sideband + s.sideband_bytes,
			      memory_order_relaxed);
	atomic_store_explicit(&w->lost, loss_samples(w->loss), memory_order_relaxed);
	atomic_store_explicit(&w->throttled, losses[LOSS_THROTTLED], memory_order_relaxed);
	atomic_store_explicit(&w->suspended, w->outage.on, memory_order_relaxed);
	atomic_store_explicit(&w->refused, writer_refused(w), memory_order_relaxed);
}

int
writer_follow(struct writer *w, struct fmt_where *where)
{
	uint64_t left_out;

	if (live_pass(w->options.live, w->complete_ns) < 0)
		return fmt_fail(where, FMT_E_NOMEM, 0, "live model");
	left_out = live_left_out(w->options.live);
	if (left_out > w->left_out)
		writer_count(w, UINT32_MAX, LOSS_SIDEBAND_BUDGET, left_out - w->left_out);
	w->left_out = left_out;
	return 0;
}

void
writer_shrink(struct writer *w)
{
	if (w->scratch.cap > SCRATCH_KEEP)
		buf_done(&w->scratch);
}

/* An error of the current file: the session's, or only an outage. */
static int
settle(struct writer *w, int r, const struct fmt_where *where)
{
	return r < 0 ? writer_trouble(w, r, where) : 0;
}

/* What this thread took since the last look is shared by what went through it. */
static void
share_cpu(struct writer *w, uint64_t now_ns)
{
	uint64_t ns, used;

	if (now_ns < w->shared_ns + SHARE_NS)
		return;
	ns = host_thread_cpu_ns();
	used = ns - w->cpu_ns;
	if (w->taken)
		atomic_fetch_add_explicit(
			&w->sideband_ns,
			(uint64_t)((double)used * (double)w->taken_sideband / (double)w->taken),
			memory_order_relaxed);
	w->shared_ns = now_ns;
	w->cpu_ns = ns;
	w->taken = w->taken_sideband = 0;
}

/* A message is of one ring, and a ring has samples or side-band. */
static bool
is_sideband(struct span records)
{
	return records.len >= 4 && le32dec(records.p) != REC_SAMPLE;
}

static int
take_records(struct writer *w, struct span records)
{
	struct fmt_where where = { 0 };
	uint64_t bad = 0;
	int r = 0;

	w->taken += records.len;
	if (is_sideband(records))
		w->taken_sideband += records.len;
	if (!w->outage.on) {
		r = recording_writer_records(w->file.writer, records, &bad, &where);
		w->bad_records += bad;
		r = settle(w, r, &where);
	}
	if (w->outage.on)
		writer_drop(w, records);
	return r;
}

/* Of a user who is over the budget: once in each file, once to people. */
static int
tell_over(struct writer *w, struct writer_over *over)
{
	char who[64] = "processes whose user is not known", line[NEWS_BYTES];

	if (over->uid != SIDEBAND_USER_UNKNOWN)
		(void)snprintf(who, sizeof(who), "user %" PRIu32, over->uid);
	(void)snprintf(line, sizeof(line),
		       "side-band of %s is over its budget: maps and names are left out", who);
	if (!over->told)
		news_put(&w->news, line);
	over->told = over->noted = true;
	return writer_note(w, line);
}

static int
take_news(struct writer *w)
{
	size_t nr_over = atomic_load_explicit(&w->nr_over, memory_order_relaxed);
	uint64_t unanswered = live_unanswered(w->options.live);
	char line[NEWS_BYTES];
	int r = 0;

	if (unanswered)
		writer_count(w, UINT32_MAX, LOSS_UNANSWERED, unanswered);
	while (live_news(w->options.live, line, sizeof(line))) {
		news_put(&w->news, line);
		r = r < 0 ? r : writer_note(w, line);
	}
	for (size_t i = 0; i < nr_over && r == 0; i++)
		if (w->over[i].here && !w->over[i].noted)
			r = tell_over(w, &w->over[i]);
	return r;
}

static uint64_t
sideband_bytes(const struct writer *w)
{
	struct recording_writer_stats s;

	recording_writer_stats(w->file.writer, &s);
	return s.sideband_bytes;
}

/*
 * Under a flood side-band is lost all the time. What a scan costs says how often one is made; the
 * last loss always has one behind it.
 */
static void
pause_resync(struct writer *w)
{
	uint64_t now_ns = host_now_ns(), pause_ns = (now_ns - w->resync_began_ns) * RESYNC_PAUSE;
	uint64_t have = sideband_bytes(w), bytes_ns = 0;
	/* In another file by now, where it is less than it was. */
	uint64_t bytes = have < w->resync_had ? have : have - w->resync_had;

	w->resync_began_ns = 0;
	/* What it waited for somebody is no cost. */
	if (pause_ns > RESYNC_PAUSE_MAX_NS)
		pause_ns = RESYNC_PAUSE_MAX_NS;
	if (w->sideband.rate)
		bytes_ns = bytes * UINT64_C(1000000000) / w->sideband.rate * RESYNC_SHARE;
	w->resync_after_ns = now_ns + (bytes_ns > pause_ns ? bytes_ns : pause_ns);
}

/* What came of a scan is written in large pieces, the last one when it is over. */
static int
write_state(struct writer *w, bool all)
{
	struct fmt_where where = { 0 };
	int r = take_news(w);

	if (r < 0)
		return r;
	if (!w->state.len || (!all && w->state.len < STATE_BYTES && live_scanning(w->options.live)))
		return 0;
	if (w->outage.on)
		w->outage.missed_state = true;
	else
		r = recording_writer_block(w->file.writer, BLOCK_STATE, buf_span(&w->state),
					   &where);
	buf_done(&w->state);
	return settle(w, r, &where);
}

int
writer_take_state(struct writer *w)
{
	int r;

	if (live_take(w->options.live, &w->state) < 0)
		return fmt_fail(&w->where, FMT_E_NOMEM, 0, "state");
	r = write_state(w, false);
	if (w->resync_began_ns && !live_scanning(w->options.live))
		pause_resync(w);
	return r;
}

int
writer_wait_state(struct writer *w, uint64_t limit_ns)
{
	if (live_wait(w->options.live, limit_ns, &w->state) < 0)
		return fmt_fail(&w->where, FMT_E_NOMEM, 0, "state");
	return write_state(w, true);
}

/* A build-id that comes after its samples is of no use to them. */
static uint64_t
due_age(const struct writer *w)
{
	return w->options.block_age_ns + (live_waiting(w->options.live) ? LATE_IDS_NS : 0);
}

static void
follow_rate(struct writer *w)
{
	uint64_t rate = atomic_load_explicit(&w->sideband_rate, memory_order_relaxed);

	if (rate != w->sideband.rate)
		sideband_budget_rate(&w->sideband, rate);
}

/* Side-band was lost: what is so is asked of /proc. The loss itself is in the ledger. */
static void
resync(struct writer *w, uint64_t now_ns)
{
	struct fmt_where where = { 0 };
	uint64_t began_ns = host_now_ns();

	w->resync_wanted = live_scanning(w->options.live) || began_ns < w->resync_after_ns;
	if (w->resync_wanted)
		return;
	if (writer_follow(w, &where) < 0 || live_resync(w->options.live, now_ns) < 0) {
		w->resync_wanted = true;
		return;
	}
	w->resync_began_ns = began_ns;
	w->resync_had = sideband_bytes(w);
}

static int
end_pass(struct writer *w, uint64_t complete_ns, uint64_t now_ns)
{
	struct fmt_where where = { 0 };
	struct recording_writer_stats s;
	int r = 0;

	w->complete_ns = complete_ns;
	recording_writer_pass(w->file.writer, complete_ns);
	r = writer_take_state(w);
	if (r < 0)
		return r;
	follow_rate(w);
	if (live_due(w->options.live, complete_ns)) {
		r = writer_follow(w, &w->where);
		if (r < 0)
			return r;
	}
	recording_writer_stats(w->file.writer, &s);
	if (s.open_records == 0 || s.blocks != w->blocks)
		w->open_since_ns = now_ns;
	w->blocks = s.blocks;
	if (w->outage.on)
		r = writer_outage_pass(w, now_ns);
	else if (now_ns - w->open_since_ns >= due_age(w))
		r = settle(w, recording_writer_flush(w->file.writer, &where), &where);
	if (w->resync_wanted)
		resync(w, now_ns);
	share_cpu(w, now_ns);
	writer_publish(w);
	return r;
}

/* The drain counts since the session began: what is new goes to this file's account. */
static void
take_loss(struct writer *w, uint32_t cpu, enum loss_cause cause, uint64_t total)
{
	uint64_t known = loss_get(w->loss, cpu, cause);

	if (total > known)
		writer_count(w, cpu, cause, total - known);
}

/* A request of another thread, which waits for the answer. */
static int
answer_request(struct writer *w, const struct queue_message *m)
{
	struct session_request *rq = (struct session_request *)(uintptr_t)m->a;
	int result = 0, r = w->error;

	if (r < 0) {
		if (rq->sink)
			rq->sink->close(rq->sink);
		result = writer_file_error(r, &w->where, &rq->error);
	} else if (m->kind == WRITER_ROTATE) {
		r = writer_rotate(w, rq->sink, &result, &rq->error);
	} else {
		r = writer_sync(w, &result, &rq->error);
	}
	rq->sink = NULL;
	session_request_done(w->options.requests, rq, result);
	return w->error ? 0 : r;
}

static int
take(struct writer *w, const struct queue_message *m)
{
	struct rate rate;
	struct gap gap;

	switch ((enum writer_message)m->kind) {
	case WRITER_RECORDS:
		return take_records(w, span_of(m->p, m->bytes));
	case WRITER_PASS:
		return end_pass(w, m->a, m->b);
	case WRITER_LOSS:
		take_loss(w, (uint32_t)(m->a >> 32), (enum loss_cause)(uint32_t)m->a, m->b);
		return 0;
	case WRITER_RESYNC:
		resync(w, m->b);
		return 0;
	case WRITER_IDS:
		return writer_ids(w, (const struct writer_id *)(const void *)m->p,
				  m->bytes / sizeof(struct writer_id));
	case WRITER_GAP:
		memcpy(&gap, m->p, sizeof(gap));
		return writer_gap(w, &gap);
	case WRITER_RATE:
		memcpy(&rate, m->p, sizeof(rate));
		return writer_rate(w, &rate);
	case WRITER_ROTATE:
	case WRITER_SYNC:
		return answer_request(w, m);
	case WRITER_END:
		break;
	}
	return 0;
}

static void
set_failed(struct writer *w, int error)
{
	w->error = error;
	if (w->file.writer)
		writer_publish(w);
	/* Pairs with the acquire in writer_failed(). */
	atomic_store_explicit(&w->failed, true, memory_order_release);
	wake_signal(w->options.failure_fd);
}

/* What a helper tells is not left to the next pass: that may be a second away. */
static void
take_early(struct writer *w)
{
	int r = writer_take_state(w);

	if (r < 0)
		set_failed(w, r);
}

/*
 * The state stands before the samples that need it, if it comes in time: these are in the queue
 * until then.
 */
static void
begin(struct writer *w)
{
	uint64_t until_ns = host_now_ns() + FIRST_STATE_NS;
	int r = 0;

	while (r == 0 && live_scanning(w->options.live) && host_now_ns() < until_ns &&
	       !queue_crowded(w->queue)) {
		struct pollfd p = { .fd = live_fd(w->options.live), .events = POLLIN };

		(void)poll(&p, 1, FIRST_STATE_LOOK_MS);
		r = writer_take_state(w);
	}
	if (r == 0)
		r = write_state(w, true);
	if (r < 0)
		set_failed(w, r);
}

static void *
run(void *arg)
{
	struct writer *w = arg;
	struct queue_message m;
	bool end = false;

	pthread_setname_np(pthread_self(), "spoor-writer");
	begin(w);
	while (!end) {
		if (!queue_peek(w->queue, &m)) {
			queue_wait(w->queue, w->error ? -1 : live_fd(w->options.live));
			if (!w->error &&
			    (live_scanning(w->options.live) || live_waiting(w->options.live)))
				take_early(w);
			continue;
		}
		end = m.kind == WRITER_END;
		/*
		 * After a failure messages are only taken away: the drain must come to its end,
		 * and whoever waits must be told.
		 */
		if (!w->error || m.kind == WRITER_ROTATE || m.kind == WRITER_SYNC) {
			int r = take(w, &m);

			if (r < 0)
				set_failed(w, r);
		}
		queue_next(w->queue);
		atomic_fetch_add_explicit(&w->progress, 1, memory_order_relaxed);
	}
	return NULL;
}

/* --- life ------------------------------------------------------------------------------- */

static int
open_parts(struct writer *w, const struct writer_options *o, struct session_error *error)
{
	struct recording_writer_options hooks = writer_hooks;
	int r;

	hooks.arg = w;
	r = out_file_open(&w->file, o->sink, o->meta, false, &hooks, &w->where);
	if (r < 0)
		return writer_file_error(r, &w->where, error);
	w->loss = loss_new();
	if (!w->loss || event_ids_init(&w->ids, o->meta->events) < 0)
		return session_fail(error, -ENOMEM, "out of memory");
	if (queue_new(o->queue_bytes, &w->queue) < 0)
		return session_fail(error, -ENOMEM, "no memory for a queue of %llu bytes",
				    (unsigned long long)o->queue_bytes);
	return 0;
}

int
writer_open(const struct writer_options *o, struct writer **ret, struct session_error *error)
{
	struct writer *w = calloc(1, sizeof(*w));
	int r;

	if (!w) {
		o->sink->close(o->sink);
		recording_meta_free(o->meta);
		return session_fail(error, -ENOMEM, "out of memory");
	}
	w->options = *o;
	w->options.sink = NULL;
	w->meta = o->meta;
	w->sideband_rate = o->sideband_bytes_per_s;
	sideband_budget_init(&w->sideband, o->sideband_bytes_per_s);
	buf_init(&w->scratch);
	buf_init(&w->state);
	news_init(&w->news);
	r = open_parts(w, o, error);
	if (r < 0)
		writer_free(w);
	else
		*ret = w;
	return r;
}

int
writer_state(struct writer *w, struct span records, struct session_error *error)
{
	int r = recording_writer_block(w->file.writer, BLOCK_STATE, records, &w->where);

	return r < 0 ? writer_file_error(r, &w->where, error) : 0;
}

int
writer_start(struct writer *w, struct session_error *error)
{
	sigset_t all, before;
	int r;

	/* Signals are for the thread that drains: they interrupt its wait. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&w->thread, NULL, run, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r)
		return session_fail(error, -r, "cannot start a thread: %s", strerror(r));
	w->started = true;
	return 0;
}

struct queue *
writer_queue(struct writer *w)
{
	return w->queue;
}

bool
writer_failed(const struct writer *w)
{
	/* Pairs with the release in set_failed(). */
	return atomic_load_explicit(&w->failed, memory_order_acquire);
}

bool
writer_news(struct writer *w, char *line, size_t cap)
{
	return news_take(&w->news, line, cap);
}

void
writer_set_sideband(struct writer *w, uint64_t bytes_per_s)
{
	atomic_store_explicit(&w->sideband_rate, bytes_per_s, memory_order_relaxed);
}

void
writer_totals(const struct writer *w, struct writer_totals *ret)
{
	*ret = (struct writer_totals){
		.samples = atomic_load_explicit(&w->samples, memory_order_relaxed),
		.records = atomic_load_explicit(&w->records, memory_order_relaxed),
		.file_bytes = atomic_load_explicit(&w->file_bytes, memory_order_relaxed),
		.lost = atomic_load_explicit(&w->lost, memory_order_relaxed),
		.throttled = atomic_load_explicit(&w->throttled, memory_order_relaxed),
		.suspended = atomic_load_explicit(&w->suspended, memory_order_relaxed),
		.refused = atomic_load_explicit(&w->refused, memory_order_relaxed),
		.sideband_bytes = atomic_load_explicit(&w->sideband_bytes, memory_order_relaxed),
		.sideband_ns = atomic_load_explicit(&w->sideband_ns, memory_order_relaxed),
	};
	for (int i = 0; i < LOSS_CAUSES; i++)
		ret->loss[i] = atomic_load_explicit(&w->losses[i], memory_order_relaxed);
	/* Pairs with the release in note_over(). */
	ret->nr_over = atomic_load_explicit(&w->nr_over, memory_order_acquire);
	for (size_t i = 0; i < ret->nr_over; i++)
		ret->over[i] = (struct session_over){
			.uid = w->over[i].uid,
			.records = atomic_load_explicit(&w->over[i].records, memory_order_relaxed),
		};
}

uint64_t
writer_progress(const struct writer *w)
{
	return atomic_load_explicit(&w->progress, memory_order_relaxed);
}

int
writer_finish(struct writer *w, struct session_error *error)
{
	struct recording_writer_stats rest;
	int r;

	if (w->started)
		pthread_join(w->thread, NULL);
	w->started = false;
	if (!w->error) {
		w->error = writer_end(w);
		if (w->error && w->file.writer)
			writer_publish(w);
	}
	/* Here, and not where it is freed: to close somebody's file may take its time. */
	if (w->file.writer)
		out_file_end(&w->file, false, false, &rest, NULL);
	r = w->error;
	return r < 0 ? writer_file_error(r, &w->where, error) : 0;
}

void
writer_free(struct writer *w)
{
	if (!w)
		return;
	writer_files_done(w);
	recording_meta_free(w->meta);
	loss_free(w->loss);
	queue_free(w->queue);
	sideband_users_free(w->users);
	buf_done(&w->scratch);
	buf_done(&w->state);
	free(w);
}

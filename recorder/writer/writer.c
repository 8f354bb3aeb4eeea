/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/writer/writer.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "format/record/perf_record.h"
#include "format/recording/recording_writer.h"
#include "recorder/ground/session_error.h"
#include "recorder/ground/session_request.h"
#include "recorder/host/host.h"
#include "recorder/live/live.h"
#include "recorder/unwind/unwinding.h"
#include "recorder/writer/writer_internal.h"

#define LATE_IDS_NS UINT64_C(1000000000) /* in which a block may wait for its build-ids */
#define SHARE_NS UINT64_C(1000000000)

/* --- messages --------------------------------------------------------------------------- */

/* What this thread took since the last look is shared by what went through it. */
static void
share_cpu(struct writer *w, uint64_t now_ns)
{
	uint64_t ns, used;

	if (now_ns < w->shared_ns + SHARE_NS)
		return;
	ns = host_thread_cpu_ns();
	used = ns - w->cpu_ns;
	w->stats.cpu_ns += used;
	if (w->taken)
		w->stats.sideband_ns +=
			(uint64_t)((double)used * (double)w->taken_sideband / (double)w->taken);
	if (w->unwinding) {
		w->stats.cpu_ns += unwinding_used_ns(w->unwinding) - w->unwind_ns;
		w->unwind_ns = unwinding_used_ns(w->unwinding);
	}
	w->shared_ns = now_ns;
	w->cpu_ns = ns;
	w->taken = w->taken_sideband = 0;
}

/* A message is of one ring, and a ring has samples, with those of switches among them, or side-band. */
static bool
is_sideband(struct span records)
{
	const uint32_t type = records.len >= 4 ? le32dec(records.p) : REC_SAMPLE;

	return type != REC_SAMPLE && !perf_record_is_switch(type);
}

static int
take_records(struct writer *w, struct span records)
{
	w->taken += records.len;
	if (is_sideband(records))
		w->taken_sideband += records.len;
	if (!w->options.flight)
		return w->unwinding ? writer_unwind_take(w, records) : writer_records(w, records);
	writer_keep(w, records);
	return 0;
}

/* All side-band of before has been taken. A scan that has not come to its end is waited for as at the beginning. */
static int
begin_dump(struct writer *w)
{
	int r = writer_wait_state(w, WRITER_WAIT_DUMP);

	w->dumping = true;
	return r == 0 ? writer_snapshot(w) : r;
}

/* A build-id that comes after its samples is of no use to them. */
static uint64_t
due_age(const struct writer *w)
{
	return w->options.block_age_ns + (live_waiting(w->options.live) ? LATE_IDS_NS : 0);
}

static int
flush_due(struct writer *w, uint64_t now_ns)
{
	struct fmt_where where = { 0 };

	if (w->outage.on || now_ns < w->open_since_ns + due_age(w))
		return 0;
	w->open_since_ns = now_ns;
	return writer_trouble(w, recording_writer_flush(w->file.writer, &where), &where);
}

/* What other threads have said. */
static void
follow_rate(struct writer *w)
{
	uint64_t rate = atomic_load_explicit(&w->sideband_rate, memory_order_relaxed);
	uint64_t allowed =
		atomic_exchange_explicit(&w->objects_allowed, NOT_ALLOWED, memory_order_relaxed);

	if (allowed != NOT_ALLOWED)
		live_allow_objects(w->options.live, allowed);

	if (rate != w->sideband.rate)
		sideband_budget_rate(&w->sideband, rate);
}

static int
end_pass(struct writer *w, uint64_t complete_ns, uint64_t now_ns)
{
	struct recording_writer_stats s;
	int r = 0;

	w->complete_ns = complete_ns;
	/* What a dump has is as old as the rings are long: until it is over, no order is certain. */
	if (w->unwinding)
		unwinding_begin_pass(w->unwinding, complete_ns);
	else if (!w->options.flight || w->dumping)
		recording_writer_pass(w->file.writer, complete_ns);
	w->dumping = false;
	r = writer_take_state(w);
	if (r < 0)
		return r;
	follow_rate(w);
	if (writer_behind(w)) {
		r = writer_follow(w, &w->where);
		if (r < 0)
			return r;
	}
	r = w->unwinding ? writer_unwind_pass(w, host_now_ns()) : 0;
	if (r < 0)
		return r;
	recording_writer_stats(w->file.writer, &s);
	if (s.open_records == 0 || s.blocks != w->blocks)
		w->open_since_ns = now_ns;
	w->blocks = s.blocks;
	r = w->outage.on ? writer_outage_pass(w, now_ns) : flush_due(w, now_ns);
	if (r == 0)
		r = writer_aux_due(w);
	if (w->resync_wanted)
		writer_resync(w, now_ns);
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

	if (r == 0 && w->unwinding)
		r = writer_unwind_all(w);
	if (r == 0 && m->kind == MESSAGE_ROTATE && !w->outage.on)
		r = writer_wait_state(w, WRITER_WAIT_NAMES);
	if (r < 0) {
		if (rq->sink)
			rq->sink->close(rq->sink);
		result = writer_file_error(r, &w->where, &rq->error);
	} else if (m->kind == MESSAGE_ROTATE) {
		r = writer_rotate(w, rq->sink, &result, &rq->error);
	} else {
		r = writer_aux_flush(w);
		if (r == 0)
			r = writer_sync(w, &result, &rq->error);
	}
	rq->sink = NULL;
	session_request_done(w->options.requests, rq, result);
	return w->error ? 0 : r;
}

static int
writer_take(struct writer *w, const struct queue_message *m)
{
	struct rate rate;
	struct gap gap;

	switch ((enum message)m->kind) {
	case MESSAGE_RECORDS:
		return take_records(w, span_of(m->p, m->bytes));
	case MESSAGE_KEPT:
		w->taken += m->bytes;
		return writer_records(w, span_of(m->p, m->bytes));
	case MESSAGE_WINDOW:
		w->window_ns = m->a > w->window_ns ? m->a : w->window_ns;
		return 0;
	case MESSAGE_DUMP:
		return begin_dump(w);
	case MESSAGE_PASS:
		return end_pass(w, m->a, m->b);
	case MESSAGE_LOSS:
		take_loss(w, (uint32_t)(m->a >> 32), (enum loss_cause)(uint32_t)m->a, m->b);
		return 0;
	case MESSAGE_RESYNC:
		writer_resync(w, m->b);
		return 0;
	case MESSAGE_MODULES:
		live_modules_changed(w->options.live);
		return writer_take_state(w);
	case MESSAGE_IDS:
		return writer_ids(w, (const struct message_id *)(const void *)m->p,
				  m->bytes / sizeof(struct message_id));
	case MESSAGE_GAP:
		memcpy(&gap, m->p, sizeof(gap));
		return writer_gap(w, &gap);
	case MESSAGE_RATE:
		memcpy(&rate, m->p, sizeof(rate));
		return writer_rate(w, &rate);
	case MESSAGE_NOTE:
		return writer_note(w, (const char *)m->p);
	case MESSAGE_AUX:
		return writer_aux(w, span_of(m->p, m->bytes));
	case MESSAGE_ROTATE:
	case MESSAGE_SYNC:
		return answer_request(w, m);
	case MESSAGE_END:
		return w->unwinding ? writer_unwind_all(w) : 0;
	}
	return 0;
}

/*
 * After a failure messages are only removed: the drain must come to its end. A caller that waits for a rotation or a
 * sync is answered. The samples are counted: where memory ran out, for the ledger at the end of the file; else for
 * whoever asks.
 */
static void
take_failed(struct writer *w, const struct queue_message *m)
{
	switch ((enum message)m->kind) {
	case MESSAGE_RECORDS:
	case MESSAGE_KEPT:
		writer_count_lost(w, span_of(m->p, m->bytes));
		break;
	case MESSAGE_LOSS:
	case MESSAGE_ROTATE:
	case MESSAGE_SYNC:
		(void)writer_take(w, m);
		break;
	default:
		break;
	}
}

/* Where memory ran out the open block is written yet; else what it has is lost. */
static void
count_failed(struct writer *w)
{
	struct recording_writer_stats s;

	if (!w->file.writer)
		return;
	if (w->error != -FMT_E_NOMEM) {
		recording_writer_stats(w->file.writer, &s);
		writer_count(w, UINT32_MAX, LOSS_DROPPED, s.open_samples);
	}
	writer_publish(w);
}

static void
set_failed(struct writer *w, int error)
{
	w->error = error;
	if (w->unwinding)
		(void)writer_unwind_all(w);
	count_failed(w);
	/* Pairs with the acquire in writer_failed(). */
	atomic_store_explicit(&w->failed, true, memory_order_release);
	(void)eventfd_write(w->options.failure_fd, 1);
}

/*
 * What a helper tells is not left to the next pass: that may be a second away, and then brings maps
 * of files that are asked for anew. A block that waited for the answers ends here.
 */
static void
take_early(struct writer *w)
{
	int r = writer_take_state(w);

	if (r == 0 && w->unwinding) {
		unwinding_step(w->unwinding, host_now_ns());
		r = writer_unwind_give(w);
	}
	if (r == 0)
		r = flush_due(w, host_now_ns());
	if (r < 0)
		set_failed(w, r);
}

static int
unwind_fd(const struct writer *w)
{
	return w->unwinding ? unwinding_fd(w->unwinding) : -1;
}

/* What the thread waits for beside messages. */
static int
other_fd(const struct writer *w)
{
	const int fd = live_fd(w->options.live);

	return fd < 0 ? unwind_fd(w) : fd;
}

static void *
writer_run(void *arg)
{
	struct writer *w = arg;
	struct queue_message m;
	bool end = false;
	int r;

	pthread_setname_np(pthread_self(), "spoor-writer");
	r = writer_wait_state(w, WRITER_WAIT_FIRST);
	if (r < 0)
		set_failed(w, r);
	while (!end) {
		if (!queue_peek(w->queue, &m)) {
			queue_wait(w->queue, w->error ? -1 : other_fd(w));
			if (!w->error &&
			    (live_scanning(w->options.live) || live_waiting(w->options.live) ||
			     unwind_fd(w) >= 0))
				take_early(w);
			continue;
		}
		end = m.kind == MESSAGE_END;
		r = 0;
		if (w->error)
			take_failed(w, &m);
		else
			r = writer_take(w, &m);
		if (r < 0)
			set_failed(w, r);
		queue_next(w->queue);
		atomic_fetch_add_explicit(&w->progress, 1, memory_order_relaxed);
	}
	return NULL;
}

/* --- life ------------------------------------------------------------------------------- */

static int
open_parts(struct writer *w, const struct writer_options *o, struct session_error *error)
{
	const struct recording_writer_options hooks = writer_hooks(w);
	int r;

	r = out_file_open(&w->file, o->sink, o->meta, false, &hooks, &w->where);
	if (r < 0)
		return writer_file_error(r, &w->where, error);
	w->loss = loss_new();
	if (!w->loss)
		return session_fail(error, -ENOMEM, "out of memory");
	if (writer_unwind_open(w) < 0)
		return session_fail(error, -ENOMEM, "out of memory");
	r = queue_new(o->queue_bytes, &w->queue);
	return r < 0 ? session_fail(error, r, "a queue of %llu bytes: %s",
				    (unsigned long long)o->queue_bytes, strerror(-r))
		     : 0;
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
	w->objects_allowed = NOT_ALLOWED;
	sideband_budget_init(&w->sideband, o->sideband_bytes_per_s);
	buf_init(&w->scratch);
	buf_init(&w->aux);
	buf_init(&w->state);
	buf_init(&w->unwound);
	news_init(&w->news);
	(void)pthread_mutex_init(&w->published_lock, NULL);
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
	int r = 0;

	/* The model has it. */
	if (!w->options.flight)
		r = recording_writer_block(w->file.writer, BLOCK_STATE, records, &w->where);

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
	r = pthread_create(&w->thread, NULL, writer_run, w);
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

void
writer_tell(struct writer *w, const char *line)
{
	news_put(&w->news, NEWS_NO_USER, line);
}

bool
writer_news(struct writer *w, struct news_line *ret)
{
	return news_take(&w->news, ret);
}

void
writer_set_sideband(struct writer *w, uint64_t bytes_per_s)
{
	atomic_store_explicit(&w->sideband_rate, bytes_per_s, memory_order_relaxed);
}

void
writer_allow_objects(struct writer *w, uint64_t bytes)
{
	atomic_store_explicit(&w->objects_allowed, bytes, memory_order_relaxed);
}

uint64_t
writer_progress(const struct writer *w)
{
	return atomic_load_explicit(&w->progress, memory_order_relaxed);
}

static int
end_last_file(struct writer *w)
{
	int r = writer_last_try(w);

	if (r == 0)
		r = writer_wait_state(w, WRITER_WAIT_LAST);
	return r == 0 ? writer_end(w) : r;
}

int
writer_finish(struct writer *w, struct session_error *error)
{
	struct fmt_where where = { 0 };
	struct news_line line;
	bool whole = false;
	int r;

	if (w->started)
		pthread_join(w->thread, NULL);
	w->started = false;
	/* In an outage the file is left as it is. */
	if (w->error == -FMT_E_NOMEM && w->file.writer && !w->outage.on)
		whole = recording_writer_retry(w->file.writer, &where) == 0 && writer_end(w) == 0;
	if (!w->error) {
		w->error = end_last_file(w);
		if (w->error)
			count_failed(w);
	} else if (w->file.writer) {
		writer_publish(w);
	}
	/* Here, and not where it is freed: to close somebody's file may take its time. */
	out_file_abandon(&w->file, NULL);
	while (w->unwinding && unwinding_news(w->unwinding, &line))
		news_put(&w->news, line.uid, line.text);
	writer_unwind_close(w);
	live_finish(w->options.live);
	while (live_news(w->options.live, &line))
		news_put(&w->news, line.uid, line.text);
	r = w->error;
	if (whole)
		return session_fail(error, -ENOMEM,
				    "out of memory: the recording ends early; its file is whole");
	return r < 0 ? writer_file_error(r, &w->where, error) : 0;
}

void
writer_free(struct writer *w)
{
	if (!w)
		return;
	writer_unwind_close(w);
	writer_files_done(w);
	recording_meta_free(w->meta);
	loss_free(w->loss);
	queue_free(w->queue);
	sideband_budget_done(&w->sideband);
	buf_done(&w->scratch);
	buf_done(&w->aux);
	buf_done(&w->state);
	buf_done(&w->unwound);
	free(w);
}

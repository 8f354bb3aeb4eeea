/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/writer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/perf_record.h"
#include "format/recording_writer.h"
#include "recorder/live.h"
#include "recorder/session_error.h"

struct writer {
	struct writer_options options;
	struct queue *queue;
	struct recording_writer *file;
	struct loss *loss;
	bool loss_changed;
	struct buf scratch;
	pthread_t thread;
	bool started;
	uint64_t open_since_ns; /* when the open block got its first record, more or less */
	uint64_t blocks;
	uint64_t bad_records;
	uint64_t complete_ns;
	struct fmt_where where; /* of the failure; the thread's until it is joined */
	int error;		/* FMT_E_*, likewise */
	atomic_bool failed;	/* set: release; pairs in writer_failed() */
	/* Statistics: relaxed, each a fact of its own. */
	_Atomic uint64_t samples, records, file_bytes, lost, throttled;
};

/* --- hooks of the file ------------------------------------------------------------------ */

static void
count_loss(struct writer *w, const struct perf_record *r, enum loss_cause cause, uint64_t n)
{
	loss_add(w->loss, r->sid.cpu, cause, n);
	w->loss_changed = true;
}

static void
on_record(void *arg, const struct perf_record *r, int event)
{
	struct writer *w = arg;

	switch (r->type) {
	case REC_THROTTLE:
		count_loss(w, r, LOSS_THROTTLED, 1);
		break;
	case REC_LOST_SAMPLES:
		count_loss(w, r, LOSS_LOST_SAMPLES, r->lost.lost);
		break;
	case REC_LOST:
		if (w->options.count_lost_records)
			count_loss(w, r,
				   (size_t)event == w->options.sideband ? LOSS_KERNEL_SIDEBAND
									: LOSS_KERNEL_SAMPLES,
				   r->lost.lost);
		break;
	default:
		break;
	}
	live_record(w->options.live, r, event);
}

static int
write_ledger(struct writer *w, struct fmt_where *where)
{
	if (!w->loss_changed)
		return 0;
	buf_clear(&w->scratch);
	loss_encode(w->loss, &w->scratch);
	if (buf_failed(&w->scratch))
		return -FMT_E_NOMEM;
	w->loss_changed = false;
	return recording_writer_block(w->file, BLOCK_LOSS, buf_span(&w->scratch), where);
}

static int
before_close(void *arg, struct recording_writer *file, struct fmt_where *where)
{
	struct writer *w = arg;
	int r = live_before_close(w->options.live, file, where);

	return r < 0 ? r : write_ledger(w, where);
}

/* --- messages --------------------------------------------------------------------------- */

static void
publish(struct writer *w, const struct recording_writer_stats *s)
{
	atomic_store_explicit(&w->samples, s->samples, memory_order_relaxed);
	atomic_store_explicit(&w->records, s->records, memory_order_relaxed);
	atomic_store_explicit(&w->file_bytes, s->file_bytes, memory_order_relaxed);
	atomic_store_explicit(&w->lost, loss_samples(w->loss), memory_order_relaxed);
	atomic_store_explicit(&w->throttled, loss_total(w->loss, LOSS_THROTTLED),
			      memory_order_relaxed);
}

static int
end_pass(struct writer *w, uint64_t complete_ns, uint64_t now_ns)
{
	struct recording_writer_stats s;
	int r = 0;

	w->complete_ns = complete_ns;
	recording_writer_pass(w->file, complete_ns);
	if (live_pass(w->options.live, complete_ns) < 0)
		return fmt_fail(&w->where, FMT_E_NOMEM, 0, "live model");
	recording_writer_stats(w->file, &s);
	if (s.open_records == 0 || s.blocks != w->blocks)
		w->open_since_ns = now_ns;
	w->blocks = s.blocks;
	if (now_ns - w->open_since_ns >= w->options.block_age_ns) {
		r = recording_writer_flush(w->file, &w->where);
		recording_writer_stats(w->file, &s);
	}
	publish(w, &s);
	return r;
}

static int
set_loss(struct writer *w, const struct queue_message *m)
{
	if (loss_set(w->loss, (uint32_t)(m->a >> 32), (enum loss_cause)(uint32_t)m->a, m->b) < 0)
		return fmt_fail(&w->where, FMT_E_NOMEM, 0, "loss ledger");
	w->loss_changed = true;
	recording_writer_lost(w->file, loss_samples(w->loss));
	return 0;
}

static int
resync(struct writer *w, uint64_t now_ns)
{
	buf_clear(&w->scratch);
	if (live_resync(w->options.live, now_ns, &w->scratch) < 0)
		return 0; /* the loss itself is in the ledger */
	return recording_writer_block(w->file, BLOCK_STATE, buf_span(&w->scratch), &w->where);
}

static int
take(struct writer *w, const struct queue_message *m)
{
	uint64_t bad = 0;
	int r;

	switch ((enum writer_message)m->kind) {
	case WRITER_RECORDS:
		r = recording_writer_records(w->file, span_of(m->p, m->bytes), &bad, &w->where);
		w->bad_records += bad;
		return r;
	case WRITER_PASS:
		return end_pass(w, m->a, m->b);
	case WRITER_LOSS:
		return set_loss(w, m);
	case WRITER_RESYNC:
		return resync(w, m->b);
	case WRITER_END:
		break;
	}
	return 0;
}

/* What is not in the file, and will not be, is not to be told as if it were. */
static void
publish_written(struct writer *w)
{
	struct recording_writer_stats s;

	recording_writer_stats(w->file, &s);
	s.records -= s.open_records;
	s.samples -= s.open_samples;
	publish(w, &s);
}

static void
set_failed(struct writer *w, int error)
{
	uint64_t one = 1;

	w->error = error;
	publish_written(w);
	/* Pairs with the acquire in writer_failed(). */
	atomic_store_explicit(&w->failed, true, memory_order_release);
	if (write(w->options.failure_fd, &one, sizeof(one)) < 0)
		return; /* it is polled on a timer as well */
}

static void *
run(void *arg)
{
	struct writer *w = arg;
	struct queue_message m;
	bool end = false;

	pthread_setname_np(pthread_self(), "spoor-writer");
	while (!end) {
		if (!queue_peek(w->queue, &m)) {
			queue_wait(w->queue);
			continue;
		}
		end = m.kind == WRITER_END;
		/* After a failure messages are only taken away: the drain must come to its end. */
		if (!w->error) {
			int r = take(w, &m);

			if (r < 0)
				set_failed(w, r);
		}
		queue_next(w->queue);
	}
	return NULL;
}

/* --- life ------------------------------------------------------------------------------- */

static int
file_error(int error, const struct fmt_where *where, struct session_error *ret)
{
	int err = where->saved_errno ? -where->saved_errno : -EIO;

	if (error == -FMT_E_NOMEM)
		return session_fail(ret, -ENOMEM, "out of memory");
	return session_fail(ret, err, "cannot write the recording: %s",
			    where->saved_errno ? strerror(where->saved_errno)
					       : fmt_error_text(error));
}

int
writer_open(const struct writer_options *o, struct writer **ret, struct session_error *error)
{
	struct writer *w = calloc(1, sizeof(*w));
	struct recording_writer_options file = { .on_record = on_record,
						 .before_close = before_close,
						 .arg = w };
	int r;

	if (!w) {
		o->sink->close(o->sink);
		return session_fail(error, -ENOMEM, "out of memory");
	}
	w->options = *o;
	w->options.sink = NULL;
	buf_init(&w->scratch);
	r = recording_writer_open(o->sink, o->meta, &file, &w->file, &w->where);
	if (r < 0) {
		r = file_error(r, &w->where, error);
		goto fail;
	}
	w->loss = loss_new();
	r = queue_new(o->queue_bytes, &w->queue);
	if (!w->loss || r < 0) {
		r = session_fail(error, -ENOMEM, "no memory for a queue of %llu bytes",
				 (unsigned long long)o->queue_bytes);
		goto fail;
	}
	*ret = w;
	return 0;
fail:
	writer_free(w);
	return r;
}

int
writer_state(struct writer *w, struct span records, struct session_error *error)
{
	int r = recording_writer_block(w->file, BLOCK_STATE, records, &w->where);

	return r < 0 ? file_error(r, &w->where, error) : 0;
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

void
writer_totals(const struct writer *w, struct writer_totals *ret)
{
	*ret = (struct writer_totals){
		.samples = atomic_load_explicit(&w->samples, memory_order_relaxed),
		.records = atomic_load_explicit(&w->records, memory_order_relaxed),
		.file_bytes = atomic_load_explicit(&w->file_bytes, memory_order_relaxed),
		.lost = atomic_load_explicit(&w->lost, memory_order_relaxed),
		.throttled = atomic_load_explicit(&w->throttled, memory_order_relaxed),
	};
}

static int
close_file(struct writer *w)
{
	struct recording_writer_stats s;
	int r = recording_writer_flush(w->file, &w->where);

	if (r == 0)
		r = write_ledger(w, &w->where);
	recording_writer_stats(w->file, &s);
	publish(w, &s);
	if (r < 0) {
		publish_written(w);
		recording_writer_abandon(w->file);
	} else {
		r = recording_writer_close(w->file, 0, &w->where);
	}
	w->file = NULL;
	return r;
}

int
writer_finish(struct writer *w, struct session_error *error)
{
	int r;

	if (w->started)
		pthread_join(w->thread, NULL);
	w->started = false;
	if (!w->error)
		w->error = close_file(w);
	r = w->error;
	return r < 0 ? file_error(r, &w->where, error) : 0;
}

void
writer_free(struct writer *w)
{
	if (!w)
		return;
	if (w->file)
		recording_writer_abandon(w->file);
	loss_free(w->loss);
	queue_free(w->queue);
	buf_done(&w->scratch);
	free(w);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What of the stream waits for a disk: rotation, sync, a look at the files; the frequency and the counters'
 * turn, which wait for sessions. Run in chores; what came of it is for the main thread.
 */
#include "daemon/stream/base_stream_internal.h"

#include <errno.h>

#include "daemon/process/log.h"
#include "format/bytes/time_text.h"
#include "recorder/host/host.h"

#define OBJECTS_NS (10 * SECOND_NS)

int
base_stream_segment(struct base_stream *b, bool hidden, struct io_sink **ret,
		    struct session_error *error)
{
	struct clock_triple now;

	host_clocks(&now);
	return archive_segment(b->archive, now.realtime, b->boot_id, hidden, ret, error);
}

static struct session *
running(struct base_stream *b, struct session_error *error)
{
	struct base_session *s = b->now;

	if (s && session_thread_running(s->thread))
		return session_thread_session(s->thread);
	session_fail(error, -EAGAIN, "nothing is being recorded");
	return NULL;
}

int
base_stream_rotate(struct base_stream *b, uint64_t *ret_state_ns, struct session_error *error)
{
	struct session *s = running(b, error);
	uint64_t share = b->share;
	struct session_stats begun;
	struct io_sink *sink;
	int r;

	*ret_state_ns = 0;
	if (!s)
		return -EAGAIN;
	r = base_stream_segment(b, session_contents(s), &sink, error);
	if (r == 0)
		r = session_rotate(s, sink, error);
	if (r < 0)
		return r;
	b->rotated_ns = host_now_ns();
	session_stats(s, &begun);
	if (share)
		*ret_state_ns = begun.file_bytes * SECOND_NS / share;
	return r;
}

/* What of the copies of files has to go, and how many more there may be. */
static void
look_at_objects(struct base_stream *b)
{
	struct session_error error;
	struct session *s = running(b, &error);
	uint64_t now_ns = host_now_ns();
	struct session_stats before;
	struct archive_objects o;

	if (!s || b->now->options.objects.mode == SESSION_OBJECTS_NONE ||
	    now_ns - b->objects_ns < OBJECTS_NS)
		return;
	b->objects_ns = now_ns;
	/* What is stored meanwhile is within what is allowed now, whether the archive saw it or not. */
	session_stats(s, &before);
	archive_objects(b->archive, &o);
	session_allow_objects(s, before.objects_bytes + o.allowed_bytes);
}

/* Is the file still there? If not, on to another one. */
static int
base_chores_look(struct base_stream *b, struct session_error *error)
{
	struct session *s;
	uint64_t state_ns;
	int r;

	archive_look(b->archive, &b->sight);
	look_at_objects(b);
	if (!b->sight.gone && !b->sight.renamed)
		return 0;
	s = running(b, error);
	if (!s)
		return -EAGAIN;
	/* It may be the file of a session that is about to end. */
	r = session_sync(s, error);
	if (r == 0 && !b->sight.renamed)
		return 0;
	if (r < 0 && b->sight.astray)
		return r;
	return base_stream_rotate(b, &state_ns, error);
}

static int
sync_now(struct base_stream *b, uint64_t asked_ns, struct session_error *error)
{
	uint64_t begun_ns = host_now_ns();
	struct session *s;
	int r;

	/* Many who ask at once must not get a block each, nor wait for a disk that refuses. */
	if (asked_ns < b->sync_tried_ns) {
		*error = b->sync_error;
		return b->sync_result;
	}
	(void)base_chores_look(b, error);
	s = running(b, error);
	if (!s)
		return -EAGAIN;
	r = session_sync(s, error);
	b->sync_tried_ns = begun_ns;
	b->sync_result = r;
	b->sync_error = *error;
	return r;
}

uint64_t
base_stream_sync_due(const struct base_stream *b, uint64_t asked_ns)
{
	return asked_ns < b->sync_tried_ns ? 0 : b->sync_tried_ns + SECOND_NS;
}

int
base_stream_sync(struct base_stream *b, uint64_t asked_ns, struct session_error *error)
{
	int r = sync_now(b, asked_ns, error);

	/* What has been lost since somebody was told is told to all who have asked until now. */
	if (b->sight.lost_files != b->lost_files) {
		b->lost_files = b->sight.lost_files;
		b->lost_told_ns = host_now_ns();
	}
	if (r == -ESTALE || asked_ns < b->lost_told_ns)
		return session_fail(error, -ESTALE, "%s", b->sight.lost);
	return r;
}

static struct stream_chore *
stream_chore(struct chore *one)
{
	return (struct stream_chore *)one;
}

static void
run_rotation(struct chore *one)
{
	struct stream_chore *c = stream_chore(one);
	struct base_stream *b = c->stream;
	struct session *s = running(b, &c->error);
	struct session_stats now;
	uint64_t state_ns;

	c->result = -EAGAIN;
	if (!s)
		return;
	session_stats(s, &now);
	/* Another chore may have had the same thought. */
	c->result = b->for_refusal && !now.refused ? 0
						   : base_stream_rotate(b, &state_ns, &c->error);
}

static void
run_sync(struct chore *one)
{
	struct stream_chore *c = stream_chore(one);

	c->result = sync_now(c->stream, one->asked_ns, &c->error);
}

static void
run_look(struct chore *one)
{
	struct stream_chore *c = stream_chore(one);

	c->result = base_chores_look(c->stream, &c->error);
}

static void
run_frequency(struct chore *one)
{
	struct stream_chore *c = stream_chore(one);
	struct session *s = running(c->stream, &c->error);

	c->result = s ? session_set_frequency(s, c->stream->frequency_hz,
					      c->stream->frequency_limit_hz, &c->error)
		      : -EAGAIN;
}

/* Between both no more time passes than this takes: what is counted in it is in no file. */
static void
run_counting(struct chore *one)
{
	struct stream_chore *c = stream_chore(one);
	struct base_stream *b = c->stream;
	struct base_session *by = b->counted_by;

	/* One that has ended has read them for the last time already. */
	if (by && session_thread_opened(by->thread))
		(void)session_count(session_thread_session(by->thread), false, NULL);
	if (by)
		session_thread_stop(by->thread);
	c->result = session_count(session_thread_session(b->counting_of->thread), true, &c->error);
}

/* Is it worth a word? Not when the session just ends. */
static bool
went_wrong(const struct stream_chore *c)
{
	return !c->chore.dropped && c->result != 0 && c->result != -EAGAIN &&
		c->result != -ESHUTDOWN;
}

static void
rotation_done(struct chore *one)
{
	struct stream_chore *c = stream_chore(one);

	c->asked = false;
	if (!went_wrong(c))
		return;
	if (c->result < 0)
		c->stream->rotate_after_ns = host_now_ns() + ROTATE_AGAIN_NS;
	log_warning("%s: %s", c->result < 0 ? "the segment goes on" : "the segment before",
		    c->error.text);
}

static void
sync_done(struct chore *one)
{
	struct stream_chore *c = stream_chore(one);

	c->asked = false;
	if (went_wrong(c))
		log_warning("not synced: %s", c->error.text);
}

/* The archive has said what is wrong with it; what else is in the way is said once. */
static void
look_done(struct chore *one)
{
	struct stream_chore *c = stream_chore(one);
	struct base_stream *b = c->stream;

	c->asked = false;
	if (went_wrong(c) && c->result != -ESTALE && !b->look_failed)
		log_warning("no new file: %s", c->error.text);
	b->look_failed = c->result < 0;
}

static void
frequency_done(struct chore *one)
{
	struct stream_chore *c = stream_chore(one);
	struct base_stream *b = c->stream;

	c->asked = false;
	if (b->now == b->frequency_of) {
		b->applied_hz = b->frequency_hz;
		b->applied_limit_hz = b->frequency_limit_hz;
	}
	if (went_wrong(c))
		log_warning("the frequency stays: %s", c->error.text);
}

/* What has failed has ended, and so do its counters. */
static void
counting_done(struct chore *one)
{
	struct stream_chore *c = stream_chore(one);

	c->asked = false;
	if (c->stream->now == c->stream->counting_of)
		c->stream->counting_of->options.counters_wait = false;
	c->stream->counted_by = NULL;
}

bool
base_chores_ask(struct base_stream *b, struct stream_chore *c)
{
	if (c->asked)
		return false;
	c->asked = true;
	c->stream = b;
	c->error = (struct session_error){ .text = "" };
	chores_add(b->chores, &c->chore);
	return true;
}

void
base_chores_init(struct base_stream *b)
{
	b->rotation.chore = (struct chore){ .run = run_rotation, .done = rotation_done };
	b->sync.chore = (struct chore){ .run = run_sync, .done = sync_done };
	b->frequency.chore = (struct chore){ .run = run_frequency, .done = frequency_done };
	b->counting.chore = (struct chore){ .run = run_counting, .done = counting_done };
	b->look.chore = (struct chore){ .run = run_look, .done = look_done };
}

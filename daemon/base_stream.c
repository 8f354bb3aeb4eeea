/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/base_stream.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/call_graph.h"
#include "daemon/log.h"
#include "daemon/session_thread.h"
#include "daemon/watchdog.h"
#include "recorder/host.h"
#include "recorder/session_error.h"

#define SECOND_NS UINT64_C(1000000000)
#define BACKOFF_MAX_NS (60 * SECOND_NS)
#define ROTATE_AGAIN_NS (10 * SECOND_NS)
#define SEGMENT_BYTES_MIN (64u << 10)

enum chore { CHORE_NONE, CHORE_ROTATE, CHORE_SYNC, CHORE_QUIT };

struct base_stream {
	const struct config *config;
	struct archive *archive;
	int wake_fd;
	uint64_t hz, applied_hz; /* as the governor has it; as the session knows it */
	uint8_t boot_id[16];

	struct session_thread *thread; /* NULL: it is tried again at retry_ns */
	uint64_t begun_ns, retry_ns, backoff_ns;
	uint64_t segment_ns, sync_ns, rotate_after_ns;
	struct session_stats before;  /* of sessions that are over */
	uint64_t written, file_bytes; /* all bytes; of the current file when last asked */

	pthread_mutex_t session_lock; /* held while a message to the session is under way */
	pthread_t chores;
	pthread_mutex_t chore_lock;
	pthread_cond_t chore_new;
	enum chore chore;	    /* under chore_lock */
	_Atomic bool rotate_failed; /* by the chores thread, for the main one */
	_Atomic uint64_t chores_done;
	struct watchdog_counter chores_seen;
};

/* The loop's idea of now is from before what a client asked for in the same round. */
static uint64_t
since(uint64_t now_ns, uint64_t then_ns)
{
	return now_ns > then_ns ? now_ns - then_ns : 0;
}

/* --- starting ---------------------------------------------------------------------------- */

static int
fail_archive(const struct archive_error *from, struct session_error *error)
{
	int err = from->saved_errno ? from->saved_errno : EIO;

	return session_fail(error, -err, "%s", from->text);
}

static int
new_segment(struct base_stream *b, struct io_sink **ret, struct session_error *error)
{
	struct archive_error why = { .saved_errno = 0 };
	struct clock_triple now;
	int r;

	host_clocks(&now);
	r = archive_segment(b->archive, now.realtime, b->boot_id, ret, &why);
	if (r < 0 && why.saved_errno == 0)
		why.saved_errno = -r;
	return r < 0 ? fail_archive(&why, error) : 0;
}

static void
log_lines(const char *text)
{
	while (*text) {
		int len = (int)strcspn(text, "\n");

		log_notice("%.*s", len, text);
		text += len + (text[len] == '\n');
	}
}

/* A session as this configuration wants it, running. b itself is left as it is. */
static int
begin(struct base_stream *b, const struct config *c, uint64_t hz, struct session_thread **ret,
      struct session_error *error)
{
	const char *events[] = { c->events };
	struct session_options o = {
		.events = c->events[0] ? events : NULL,
		.nr_events = c->events[0] ? 1 : 0,
		.frequency_hz = hz,
		.target = SESSION_ALL,
		.ring_pages = (uint32_t)c->ring_pages,
		.sideband_pages = SESSION_SIDEBAND_PAGES_RARE,
		.block_age_ns = c->block_age,
		.out_fd = -1,
		.suspend_on_full = true,
		.cmdline = "spoord",
		.writer = "spoord " SPOOR_VERSION,
	};
	struct session *s;
	int r;

	if (call_graph_parse(c->call_graph, &o) < 0)
		return session_usage(error, "call_graph = %s: fp, none or dwarf[,BYTES]",
				     c->call_graph);
	r = new_segment(b, &o.sink, error);
	if (r == 0)
		r = session_open(&o, &s, error);
	if (r < 0)
		return r;
	log_lines(session_notes(s));
	return session_thread_start(s, b->wake_fd, ret, error);
}

static void
begun(struct base_stream *b, struct session_thread *t, uint64_t hz, uint64_t now_ns)
{
	b->thread = t;
	b->hz = b->applied_hz = hz;
	b->begun_ns = b->segment_ns = b->sync_ns = now_ns;
	b->rotate_after_ns = 0;
	b->file_bytes = 0;
}

/* --- chores ------------------------------------------------------------------------------ */

/* Under session_lock. */
static int
rotate(struct base_stream *b, struct session_error *error)
{
	struct io_sink *sink;
	int r;

	if (!b->thread || !session_thread_running(b->thread))
		return session_fail(error, -EAGAIN, "nothing is being recorded");
	r = new_segment(b, &sink, error);
	return r < 0 ? r : session_rotate(session_thread_session(b->thread), sink, error);
}

static int
sync_now(struct base_stream *b, struct session_error *error)
{
	if (!b->thread || !session_thread_running(b->thread))
		return session_fail(error, -EAGAIN, "nothing is being recorded");
	return session_sync(session_thread_session(b->thread), error);
}

static void
do_chore(struct base_stream *b, enum chore chore)
{
	struct session_error error = { .saved_errno = 0 };
	int r;

	pthread_mutex_lock(&b->session_lock);
	r = chore == CHORE_ROTATE ? rotate(b, &error) : sync_now(b, &error);
	pthread_mutex_unlock(&b->session_lock);
	if (r == 0 || r == -EAGAIN || r == -ESHUTDOWN)
		return;
	if (chore == CHORE_ROTATE)
		atomic_store(&b->rotate_failed, r < 0);
	log_warning("%s: %s",
		    chore == CHORE_SYNC ? "not synced"
			    : r < 0	? "the segment goes on"
					: "the segment before",
		    error.text);
}

static void *
chores_body(void *arg)
{
	struct base_stream *b = arg;

	pthread_mutex_lock(&b->chore_lock);
	for (;;) {
		enum chore chore = b->chore;

		if (chore == CHORE_QUIT)
			break;
		if (chore == CHORE_NONE) {
			pthread_cond_wait(&b->chore_new, &b->chore_lock);
			continue;
		}
		pthread_mutex_unlock(&b->chore_lock);
		do_chore(b, chore);
		atomic_fetch_add(&b->chores_done, 1);
		pthread_mutex_lock(&b->chore_lock);
		if (b->chore == chore)
			b->chore = CHORE_NONE;
	}
	pthread_mutex_unlock(&b->chore_lock);
	return NULL;
}

/* False: one is still being done. */
static bool
ask_for(struct base_stream *b, enum chore chore)
{
	bool free;

	pthread_mutex_lock(&b->chore_lock);
	free = b->chore == CHORE_NONE || chore == CHORE_QUIT;
	if (free)
		b->chore = chore;
	pthread_cond_signal(&b->chore_new);
	pthread_mutex_unlock(&b->chore_lock);
	return free;
}

/* --- keeping it running ------------------------------------------------------------------ */

static void
retry_later(struct base_stream *b, uint64_t now_ns, const char *why)
{
	/* Whoever ran for long begins at the beginning again. */
	if (b->begun_ns && since(now_ns, b->begun_ns) > BACKOFF_MAX_NS)
		b->backoff_ns = 0;
	b->backoff_ns = b->backoff_ns ? b->backoff_ns * 2 : SECOND_NS;
	if (b->backoff_ns > BACKOFF_MAX_NS)
		b->backoff_ns = BACKOFF_MAX_NS;
	b->retry_ns = now_ns + b->backoff_ns;
	b->begun_ns = 0;
	log_error("nothing is recorded: %s; again in %u s", why,
		  (unsigned int)(b->backoff_ns / SECOND_NS));
}

static void
count_written(struct base_stream *b)
{
	struct session_stats now;

	if (!b->thread)
		return;
	session_stats(session_thread_session(b->thread), &now);
	if (now.file_bytes < b->file_bytes)
		b->file_bytes = 0;
	b->written += now.file_bytes - b->file_bytes;
	b->file_bytes = now.file_bytes;
}

static void
add_counts(struct session_stats *to, const struct session_stats *more)
{
	to->samples += more->samples;
	to->records += more->records;
	to->lost += more->lost;
	to->throttled += more->throttled;
	for (size_t i = 0; i < LOSS_CAUSES; i++)
		to->loss[i] += more->loss[i];
}

/* Ends t, whose counts go to the past. */
static int
end(struct base_stream *b, struct session_thread *t, struct session_error *error)
{
	struct session_stats last = { .samples = 0 };
	int r = session_thread_close(t, NULL, NULL, &last, error);

	add_counts(&b->before, &last);
	return r;
}

static void
reap(struct base_stream *b, uint64_t now_ns)
{
	struct session_error error = { .text = "the session ended by itself" };
	struct session_thread *t = b->thread;

	count_written(b);
	pthread_mutex_lock(&b->session_lock);
	b->thread = NULL;
	pthread_mutex_unlock(&b->session_lock);
	(void)end(b, t, &error);
	retry_later(b, now_ns, error.text);
}

static void
try_again(struct base_stream *b, uint64_t now_ns)
{
	struct session_error error = { .saved_errno = 0 };
	struct session_thread *t;

	if (begin(b, b->config, b->hz, &t, &error) < 0) {
		retry_later(b, now_ns, error.text);
		return;
	}
	pthread_mutex_lock(&b->session_lock);
	begun(b, t, b->hz, now_ns);
	pthread_mutex_unlock(&b->session_lock);
	log_notice("recording again");
}

static uint64_t
segment_bytes(const struct base_stream *b)
{
	struct archive_usage u;

	archive_usage(b->archive, &u);
	return u.segment_bytes < SEGMENT_BYTES_MIN ? SEGMENT_BYTES_MIN : u.segment_bytes;
}

static void
look_at_segment(struct base_stream *b, uint64_t now_ns)
{
	count_written(b);
	if (atomic_exchange(&b->rotate_failed, false))
		b->rotate_after_ns = now_ns + ROTATE_AGAIN_NS;
	if (now_ns >= b->rotate_after_ns &&
	    (b->file_bytes >= segment_bytes(b) ||
	     since(now_ns, b->segment_ns) >= b->config->segment_age)) {
		if (ask_for(b, CHORE_ROTATE)) {
			/* Not twice for the size that is still told of the old file. */
			b->rotate_after_ns = now_ns + 2 * SECOND_NS;
			b->segment_ns = b->sync_ns = now_ns;
		}
	} else if (b->config->sync_interval &&
		   since(now_ns, b->sync_ns) >= b->config->sync_interval) {
		if (ask_for(b, CHORE_SYNC))
			b->sync_ns = now_ns;
	}
}

static void
apply_frequency(struct base_stream *b)
{
	struct session_error error = { .saved_errno = 0 };
	int r = 0;

	/* A sync may hold it for as long as the disk likes; there is a next time. */
	if (pthread_mutex_trylock(&b->session_lock) != 0)
		return;
	if (session_thread_running(b->thread))
		r = session_set_frequency(session_thread_session(b->thread), b->hz, &error);
	pthread_mutex_unlock(&b->session_lock);
	b->applied_hz = b->hz;
	if (r < 0)
		log_warning("the frequency stays: %s", error.text);
}

void
base_stream_dispatch(struct base_stream *b, uint64_t now_ns)
{
	if (b->thread && session_thread_ended(b->thread))
		reap(b, now_ns);
	else if (b->thread)
		look_at_segment(b, now_ns);
	else if (now_ns >= b->retry_ns)
		try_again(b, now_ns);
	if (b->thread && b->hz != b->applied_hz)
		apply_frequency(b);
}

/* --- the life of it ---------------------------------------------------------------------- */

int
base_stream_open(const struct config *c, struct archive *a, int wake_fd, struct base_stream **ret,
		 struct session_error *error)
{
	struct base_stream *b = calloc(1, sizeof(*b));
	struct session_thread *t;
	int r;

	if (!b)
		return session_fail(error, -ENOMEM, "out of memory");
	b->config = c;
	b->archive = a;
	b->wake_fd = wake_fd;
	b->hz = c->frequency;
	host_boot_id(b->boot_id);
	pthread_mutex_init(&b->session_lock, NULL);
	pthread_mutex_init(&b->chore_lock, NULL);
	pthread_cond_init(&b->chore_new, NULL);
	r = begin(b, c, b->hz, &t, error);
	if (r == 0)
		begun(b, t, b->hz, host_now_ns());
	else if (r == -ENOSPC || r == -EDQUOT)
		retry_later(b, host_now_ns(), error->text);
	else
		goto fail;
	r = -pthread_create(&b->chores, NULL, chores_body, b);
	if (r == 0) {
		(void)pthread_setname_np(b->chores, "spoord-chores");
		*ret = b;
		return 0;
	}
	session_fail(error, r, "cannot start a thread: %s", strerror(-r));
	(void)session_thread_close(b->thread, NULL, NULL, NULL, NULL);
fail:
	free(b);
	return r;
}

/* The session, which no chore uses any more. NULL: there is none, or given up. */
static struct session_thread *
take_thread(struct base_stream *b, bool (*each_second)(void *arg), void *arg)
{
	struct session_thread *t = b->thread;
	struct timespec until;
	int r;

	do {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec++;
		r = pthread_mutex_timedlock(&b->session_lock, &until);
	} while (r == ETIMEDOUT && (!each_second || each_second(arg)));
	if (r != 0)
		return NULL;
	b->thread = NULL;
	pthread_mutex_unlock(&b->session_lock);
	return t;
}

void
base_stream_close(struct base_stream *b, bool (*each_second)(void *arg), void *arg)
{
	struct session_error error = { .saved_errno = 0 };
	int r = 0;

	if (!b)
		return;
	(void)ask_for(b, CHORE_QUIT);
	if (b->thread) {
		struct session_thread *t;

		session_thread_stop(b->thread);
		t = take_thread(b, each_second, arg);
		r = t ? session_thread_close(t, each_second, arg, NULL, &error)
		      : session_fail(&error, -ETIMEDOUT, "the disk does not take it: given up");
	}
	if (r < 0)
		log_error("the last segment: %s", error.text);
	/* Given up: threads are on their own until the process ends. */
	if (r == -ETIMEDOUT)
		return;
	pthread_join(b->chores, NULL);
	pthread_mutex_destroy(&b->session_lock);
	pthread_mutex_destroy(&b->chore_lock);
	pthread_cond_destroy(&b->chore_new);
	free(b);
}

/* What only a new session can have. */
static bool
needs_new_session(const struct config *a, const struct config *b)
{
	return strcmp(a->events, b->events) != 0 || strcmp(a->call_graph, b->call_graph) != 0 ||
		a->ring_pages != b->ring_pages || a->block_age != b->block_age;
}

int
base_stream_reload(struct base_stream *b, const struct config *c, uint64_t hz,
		   struct session_error *error)
{
	struct session_thread *t, *old = b->thread;
	int r;

	if (!old || !needs_new_session(b->config, c)) {
		b->hz = hz;
		b->config = c;
		return 0;
	}
	/* The new one is sampling before the old one ends: nothing is missed in between. */
	r = begin(b, c, hz, &t, error);
	if (r < 0)
		return r;
	count_written(b);
	pthread_mutex_lock(&b->session_lock);
	begun(b, t, hz, host_now_ns());
	b->config = c;
	pthread_mutex_unlock(&b->session_lock);
	r = end(b, old, error);
	if (r < 0)
		log_error("the segment before: %s", error->text);
	return 0;
}

void
base_stream_set_frequency(struct base_stream *b, uint64_t hz)
{
	b->hz = hz;
}

int
base_stream_rotate(struct base_stream *b, struct session_error *error)
{
	int r;

	pthread_mutex_lock(&b->session_lock);
	r = rotate(b, error);
	pthread_mutex_unlock(&b->session_lock);
	if (r >= 0)
		b->segment_ns = b->sync_ns = host_now_ns();
	return r;
}

int
base_stream_sync(struct base_stream *b, struct session_error *error)
{
	int r;

	pthread_mutex_lock(&b->session_lock);
	r = sync_now(b, error);
	pthread_mutex_unlock(&b->session_lock);
	return r;
}

void
base_stream_stats(struct base_stream *b, struct session_stats *ret)
{
	*ret = (struct session_stats){ .suspended = true };
	if (b->thread)
		session_stats(session_thread_session(b->thread), ret);
	add_counts(ret, &b->before);
}

uint64_t
base_stream_written_bytes(struct base_stream *b)
{
	count_written(b);
	return b->written;
}

/* Someone who has something to do and does not get it done. */
static bool
chores_alive(struct base_stream *b, uint64_t now_ns)
{
	bool idle;

	pthread_mutex_lock(&b->chore_lock);
	idle = b->chore == CHORE_NONE;
	pthread_mutex_unlock(&b->chore_lock);
	if (idle)
		b->chores_seen.since_ns = 0;
	return idle || watchdog_moves(&b->chores_seen, atomic_load(&b->chores_done), now_ns);
}

bool
base_stream_alive(struct base_stream *b, uint64_t now_ns)
{
	return chores_alive(b, now_ns) &
		(!b->thread || session_thread_alive(b->thread, true, now_ns));
}

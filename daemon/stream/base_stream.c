/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/stream/base_stream_internal.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/process/log.h"
#include "daemon/stream/memory_share.h"
#include "recorder/host/host.h"

#define BACKOFF_MAX_NS (60 * SECOND_NS)
#define SEGMENT_BYTES_MIN (64u << 10)
#define OPEN_POLL_NS 10000000
#define STATE_BYTES_MAX (32u << 20) /* that maps take of it, before it is packed */
#define LOOK_NS (2 * SECOND_NS)	    /* at what others do to the archive */

/* The loop's idea of now is from before what a client asked for in the same round. */
static uint64_t
since(uint64_t now_ns, uint64_t then_ns)
{
	return now_ns > then_ns ? now_ns - then_ns : 0;
}

/* --- a session of it --------------------------------------------------------------------- */

/* On the session's thread. */
static int
prepare(void *arg, struct session_options *o, struct session_error *error)
{
	struct base_session *s = arg;
	int r;

	if (o->objects.mode != SESSION_OBJECTS_NONE) {
		archive_objects(s->stream->archive, &s->objects);
		o->objects.dir = s->objects.dir;
		o->objects.allowed_bytes = s->objects.allowed_bytes;
		o->objects.user_bytes = s->objects.user_bytes;
	}
	r = base_stream_segment(s->stream, true, &o->sink, error);
	s->sink = o->sink;
	return r;
}

/* Members of the group read the archive: not what ptrace(2) would keep from them. */
static int
show_segment(void *arg, const struct session *session, struct session_error *error)
{
	struct base_session *s = arg;
	int r = session_contents(session) ? 0 : archive_show(s->stream->archive, s->sink);

	return r < 0 ? session_fail(error, r, "the segment's mode: %s", strerror(-r)) : 0;
}

static void
session_free(struct base_session *s)
{
	configured_done(&s->configured);
	free(s);
}

/* Bytes a second that sideband_share is. */
static uint64_t
share_rate(const struct base_stream *b, const struct config *c)
{
	struct archive_usage u;

	archive_usage(b->archive, &u);
	if (!c->sideband_share)
		return 0;
	return (uint64_t)((double)u.max_use * c->sideband_share / CONFIG_PERCENT_ALL / 3600) + 1;
}

/* Bytes a second of side-band. */
static uint64_t
sideband_rate(const struct base_stream *b, uint64_t share)
{
	return share ? (share >> b->sideband_halved) + 1 : 0;
}

static uint64_t
segment_bytes(const struct base_stream *b)
{
	struct archive_usage u;

	archive_usage(b->archive, &u);
	return u.segment_bytes < SEGMENT_BYTES_MIN ? SEGMENT_BYTES_MIN : u.segment_bytes;
}

/* What a segment begins with is not to fill it: the next one would be due at once, and begin with as much. */
static uint64_t
state_bytes(const struct base_stream *b)
{
	uint64_t bytes = segment_bytes(b) / 4;

	return bytes < STATE_BYTES_MAX ? bytes : STATE_BYTES_MAX;
}

/*
 * What the governor has lowered holds for events with a frequency of their own as well. They do not
 * follow the configured one.
 */
static uint64_t
limit_of(const struct config *c, uint64_t hz)
{
	return hz < c->frequency ? hz : 0;
}

static int
set_options(struct base_session *s, const struct config *c, uint64_t hz,
	    struct session_error *error)
{
	struct session_options *o = &s->options;
	int r;

	*o = (struct session_options){
		.frequency_hz = hz,
		.frequency_limit_hz = limit_of(c, hz),
		.target = SESSION_ALL,
		.ring_pages = (uint32_t)c->ring_pages,
		.sideband_pages = SESSION_SIDEBAND_PAGES_RARE,
		.block_age_ns = c->block_age,
		.out_fd = -1,
		.suspend_on_full = true,
		.sideband_bytes_per_s = sideband_rate(s->stream, share_rate(s->stream, c)),
		.state_bytes = state_bytes(s->stream),
		.cmdline = "spoord",
		.writer = "spoord " SPOOR_VERSION,
	};
	memory_share_base(o);
	r = configured_apply(&s->configured, c, o, error);
	if (r == 0)
		r = configured_count(&s->configured, c, o, error);
	/* It was checked when it was read. */
	(void)session_objects_parse(c->store_objects, &o->objects.mode);
	return r;
}

/* One as this configuration wants it, being opened. */
static int
base_stream_begin(struct base_stream *b, const struct config *c, uint64_t hz,
		  struct base_session **ret, struct session_error *error)
{
	static const struct session_thread_hooks hooks = { prepare, show_segment };
	struct base_session *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return session_fail(error, -ENOMEM, "out of memory");
	s->stream = b;
	s->begun_ns = host_now_ns();
	r = set_options(s, c, hz, error);
	/* Until the one before has read them for the last time: no interval is in two files. */
	s->options.counters_wait = b->now != NULL;
	if (r == 0)
		r = session_thread_start(&s->options, &hooks, s, b->wake_fd, &s->thread, error);
	if (r < 0) {
		session_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

/* It is the present one from here on. */
static void
install(struct base_stream *b, struct base_session *s)
{
	b->now = s;
	b->applied_hz = s->options.frequency_hz;
	b->applied_limit_hz = s->options.frequency_limit_hz;
	b->sideband = s->options.sideband_bytes_per_s;
	b->begun_ns = b->segment_ns = b->sync_ns = s->begun_ns;
	b->rotate_after_ns = 0;
	b->file_bytes = 0;
}

/* --- ends -------------------------------------------------------------------------------- */

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

	if (!b->now)
		return;
	session_thread_stats(b->now->thread, &now);
	if (now.file_bytes < b->file_bytes)
		b->file_bytes = 0;
	b->written += now.file_bytes - b->file_bytes;
	b->file_bytes = now.file_bytes;
}

static struct base_session *
ending_session(struct chore *one)
{
	return (struct base_session *)((char *)one - offsetof(struct base_session, ending));
}

static void
run_ending(struct chore *one)
{
	(void)session_thread_wait(ending_session(one)->thread, NULL, NULL);
}

static void
ending_done(struct chore *one)
{
	struct base_session *s = ending_session(one);
	struct session_error error = { .text = "the session ended by itself" };
	struct session_stats last = { .samples = 0 };
	struct base_stream *b = s->stream;
	int r;

	/* The daemon ends: base_stream_close() waits for it. */
	if (one->dropped)
		return;
	r = session_thread_close(s->thread, &last, &error);
	session_stats_add(&b->before, &last);
	LIST_REMOVE(s, link);
	/* A reload's session may have come in its place meanwhile. */
	if (s->failed && !b->now)
		retry_later(b, host_now_ns(), error.text);
	else if (s->failed || r < 0)
		log_error("the segment before: %s", error.text);
	session_free(s);
}

/*
 * Ends one that is no longer the present one. Chores that were asked for before may use it, so
 * it is a chore that waits for it, after them; that which hands over the counters ends it.
 */
static void
retire(struct base_stream *b, struct base_session *s)
{
	s->ending.run = run_ending;
	s->ending.done = ending_done;
	if (!b->counting.asked || b->counted_by != s)
		session_thread_stop(s->thread);
	LIST_INSERT_HEAD(&b->ending, s, link);
	chores_add(b->chores, &s->ending);
}

static void
base_stream_reap(struct base_stream *b)
{
	struct base_session *s = b->now;

	count_written(b);
	b->now = NULL;
	b->retry_ns = UINT64_MAX; /* ending_done() knows better */
	s->failed = true;
	retire(b, s);
}

/* --- the loop's -------------------------------------------------------------------------- */

static void
try_again(struct base_stream *b, uint64_t now_ns)
{
	struct session_error error = { .text = "" };
	struct base_session *s;

	if (base_stream_begin(b, b->config, b->hz, &s, &error) < 0)
		retry_later(b, now_ns, error.text);
	else
		install(b, s);
}

/* Will the file take nothing any more? Not at once again, for a disk that fails with every file. */
static bool
is_refused(struct base_stream *b, uint64_t now_ns)
{
	struct session_stats now;

	session_thread_stats(b->now->thread, &now);
	if (!now.refused || now_ns < b->refused_after_ns || b->look_failed)
		return false;
	b->refused_after_ns = now_ns + ROTATE_AGAIN_NS;
	return true;
}

static void
look_at_segment(struct base_stream *b, uint64_t now_ns)
{
	bool due;

	count_written(b);
	if (b->rotated_ns > b->segment_ns)
		b->segment_ns = b->sync_ns = b->rotated_ns;
	due = b->file_bytes >= segment_bytes(b) ||
		since(now_ns, b->segment_ns) >= b->config->segment_age;
	if (now_ns >= b->rotate_after_ns && (due || is_refused(b, now_ns))) {
		if (!b->rotation.asked) /* else it is in use */
			b->for_refusal = !due;
		if (base_chores_ask(b, &b->rotation)) {
			/* Not twice for the size that is still told of the old file. */
			b->rotate_after_ns = now_ns + 2 * SECOND_NS;
			b->segment_ns = b->sync_ns = now_ns;
		}
	} else if (b->config->sync_interval &&
		   since(now_ns, b->sync_ns) >= b->config->sync_interval) {
		if (base_chores_ask(b, &b->sync))
			b->sync_ns = now_ns;
	}
}

static void
base_stream_tell(struct base_session *s)
{
	s->told = true;
	session_thread_log_notes(s->thread, "");
	if (session_contents(session_thread_session(s->thread)))
		log_notice(
			"samples have contents of processes: the archive's files of them are for root alone");
	if (s->stream->backoff_ns)
		log_notice("recording again");
}

/* Samples are being lost, and somebody has to do something about it: said once an outage. */
static void
tell_outage(struct base_stream *b)
{
	struct session_stats now;
	char why[ARCHIVE_TROUBLE_BYTES];

	session_thread_stats(b->now->thread, &now);
	if (now.suspended == b->suspended)
		return;
	b->suspended = now.suspended;
	if (!now.suspended) {
		log_warning("writing is resumed; the recording tells what is missing");
		return;
	}
	archive_trouble(b->archive, why);
	log_warning("writing is suspended, samples are lost: %s", why);
}

/* What came up while recording: said once, by the session. */
static void
tell_news(const struct base_stream *b)
{
	struct news_line line;

	while (session_thread_opened(b->now->thread) &&
	       session_news(session_thread_session(b->now->thread), &line))
		log_user_warning(line.uid,
				 line.uid == LOG_NO_USER ? LOG_A_MINUTE : LOG_USER_A_MINUTE, "%s",
				 line.text);
}

static void
follow_sideband(struct base_stream *b)
{
	uint64_t rate;

	b->share = share_rate(b, b->config);
	rate = sideband_rate(b, b->share);
	if (rate == b->sideband)
		return;
	b->sideband = rate;
	session_set_sideband(session_thread_session(b->now->thread), rate);
}

/* before: who had them, and is not freed until it was asked; NULL: nobody has. */
static void
hand_over_counters(struct base_stream *b, struct base_session *before)
{
	if (b->counting.asked)
		return;
	b->counted_by = before;
	b->counting_of = b->now;
	(void)base_chores_ask(b, &b->counting);
}

/* A reload's session has come to record, or has not. */
static void
look_at_next(struct base_stream *b)
{
	struct base_session *s = b->next, *old = b->now;

	if (session_thread_opened(s->thread)) {
		count_written(b);
		install(b, s);
		b->hz = s->options.frequency_hz;
		b->config = b->next_config;
		b->next = NULL;
		b->reloaded = 0;
		if (s->options.counter_interval_ns)
			hand_over_counters(b, old);
		/* Only now: nothing is missed in between. */
		if (old)
			retire(b, old);
	} else if (session_thread_ended(s->thread)) {
		b->reloaded = session_thread_close(s->thread, NULL, &b->reload_error);
		b->next = NULL;
		session_free(s);
	}
}

static void
apply_frequency(struct base_stream *b)
{
	if (b->frequency.asked)
		return;
	b->frequency_hz = b->hz;
	b->frequency_limit_hz = limit_of(b->config, b->hz);
	b->frequency_of = b->now;
	(void)base_chores_ask(b, &b->frequency);
}

void
base_stream_dispatch(struct base_stream *b, uint64_t now_ns)
{
	if (b->next)
		look_at_next(b);
	if (since(now_ns, b->look_ns) >= LOOK_NS && base_chores_ask(b, &b->look))
		b->look_ns = now_ns;
	if (b->now && !b->now->told && session_thread_opened(b->now->thread))
		base_stream_tell(b->now);
	if (b->now && session_thread_ended(b->now->thread))
		base_stream_reap(b);
	if (!b->now) {
		if (now_ns >= b->retry_ns)
			try_again(b, now_ns);
		return;
	}
	if (!b->now->told)
		return;
	tell_outage(b);
	tell_news(b);
	follow_sideband(b);
	look_at_segment(b, now_ns);
	if (b->hz != b->applied_hz || limit_of(b->config, b->hz) != b->applied_limit_hz)
		apply_frequency(b);
	if (b->now->options.counter_interval_ns && b->now->options.counters_wait)
		hand_over_counters(b, NULL);
}

/* --- the life of it ---------------------------------------------------------------------- */

/* The first one: whoever starts the daemon is told when it cannot record. */
static int
begin_first(struct base_stream *b, struct session_error *error)
{
	const struct timespec poll = { .tv_nsec = OPEN_POLL_NS };
	struct base_session *s;
	int r = base_stream_begin(b, b->config, b->hz, &s, error);

	if (r < 0)
		return r;
	while (!session_thread_opened(s->thread) && !session_thread_ended(s->thread))
		nanosleep(&poll, NULL);
	if (session_thread_opened(s->thread)) {
		install(b, s);
		base_stream_tell(s);
		return 0;
	}
	r = session_thread_close(s->thread, NULL, error);
	session_free(s);
	return r;
}

int
base_stream_open(const struct config *c, struct archive *a, struct chores *chores, int wake_fd,
		 struct base_stream **ret, struct session_error *error)
{
	struct base_stream *b = calloc(1, sizeof(*b));
	int r;

	if (!b)
		return session_fail(error, -ENOMEM, "out of memory");
	b->config = c;
	b->archive = a;
	b->chores = chores;
	b->wake_fd = wake_fd;
	b->hz = c->frequency;
	b->share = share_rate(b, c);
	base_chores_init(b);
	LIST_INIT(&b->ending);
	host_boot_id(b->boot_id);
	r = begin_first(b, error);
	if (r == -ENOSPC || r == -EDQUOT) {
		retry_later(b, host_now_ns(), error->text);
	} else if (r < 0) {
		free(b);
		return r;
	}
	*ret = b;
	return 0;
}

/* False: given up. */
static bool
close_session(struct base_session *s, bool (*each_second)(void *arg), void *arg)
{
	struct session_error error = { .text = "" };

	session_thread_stop(s->thread);
	/* Given up: its thread is on its own until the process ends. */
	if (!session_thread_wait(s->thread, each_second, arg)) {
		log_error("the last segment: its file does not take the rest: given up");
		return false;
	}
	if (session_thread_close(s->thread, NULL, &error) < 0)
		log_error("the last segment: %s", error.text);
	session_free(s);
	return true;
}

void
base_stream_close(struct base_stream *b, bool (*each_second)(void *arg), void *arg)
{
	struct base_session *s;
	bool all = true;

	if (!b)
		return;
	if (b->now)
		LIST_INSERT_HEAD(&b->ending, b->now, link);
	if (b->next)
		LIST_INSERT_HEAD(&b->ending, b->next, link);
	LIST_FOREACH(s, &b->ending, link)
		session_thread_stop(s->thread);
	while ((s = LIST_FIRST(&b->ending))) {
		LIST_REMOVE(s, link);
		all &= close_session(s, each_second, arg);
	}
	if (all)
		free(b);
}

void
base_stream_stop(struct base_stream *b)
{
	if (b && b->now)
		session_thread_stop(b->now->thread);
}

int
base_stream_reload(struct base_stream *b, const struct config *c, uint64_t hz,
		   struct session_error *error)
{
	int r;

	b->reloaded = 0;
	if (!b->now || !config_needs_session(b->config, c)) {
		b->hz = hz;
		b->config = c;
		return 0;
	}
	r = base_stream_begin(b, c, hz, &b->next, error);
	if (r < 0)
		return r;
	b->next_config = c;
	b->reloaded = -EINPROGRESS;
	return b->reloaded;
}

int
base_stream_reloaded(const struct base_stream *b, struct session_error *error)
{
	if (b->reloaded < 0 && b->reloaded != -EINPROGRESS)
		*error = b->reload_error;
	return b->reloaded;
}

void
base_stream_set_frequency(struct base_stream *b, uint64_t hz)
{
	b->hz = hz;
}

void
base_stream_set_sideband(struct base_stream *b, unsigned int halved)
{
	b->sideband_halved = halved;
}

void
base_stream_stats(struct base_stream *b, struct session_stats *ret)
{
	const struct base_session *s;
	struct session_stats last;

	*ret = (struct session_stats){ .suspended = true };
	if (b->now)
		session_thread_stats(b->now->thread, ret);
	session_stats_add(ret, &b->before);
	LIST_FOREACH(s, &b->ending, link) {
		session_thread_stats(s->thread, &last);
		session_stats_add(ret, &last);
	}
}

uint64_t
base_stream_written_bytes(struct base_stream *b)
{
	count_written(b);
	return b->written;
}

bool
base_stream_alive(struct base_stream *b, uint64_t now_ns)
{
	/* Both are asked: each remembers what it saw. */
	bool now = !b->now || session_thread_alive(b->now->thread, true, now_ns);
	bool next = !b->next || session_thread_alive(b->next->thread, true, now_ns);

	return now && next;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/stream/session_thread.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "daemon/process/joinable.h"
#include "daemon/process/log.h"
#include "daemon/process/watchdog.h"
#include "recorder/ground/session_error.h"
#include "recorder/host/host.h"

#define SESSION_THREAD_MAGIC 0x73746872u

enum state { OPENING, RUNNING, FINISHING, CLOSING, ENDED };

struct session_thread {
	uint32_t magic;
	struct session_options options;
	const struct session_thread_hooks *hooks;
	void *arg;
	struct session *_Atomic session; /* by the thread, once */
	struct joinable thread;
	int wake_fd;
	_Atomic bool stopped;
	_Atomic int state;	     /* by the thread: release; pairs with the questions after it */
	_Atomic uint64_t opening_ns; /* by the thread, once it records or cannot */
	int result;		     /* these two: once ENDED is seen */
	struct session_error error;
	struct watchdog_counter drain, writer, phase;
};

static void
reach(struct session_thread *t, enum state state)
{
	atomic_store_explicit(&t->state, state, memory_order_release);
	(void)eventfd_write(t->wake_fd, 1);
}

static int
open_session(struct session_thread *t)
{
	struct session *s;
	int r = t->hooks->prepare ? t->hooks->prepare(t->arg, &t->options, &t->error) : 0;

	if (r < 0)
		return r;
	r = session_open(&t->options, &s, &t->error);
	if (r < 0)
		return r;
	r = t->hooks->opened ? t->hooks->opened(t->arg, s, &t->error) : 0;
	if (r < 0) {
		(void)session_close(s, NULL);
		return r;
	}
	t->session = s;
	/* Whoever asks for the end sees the session, or is seen here. */
	if (t->stopped)
		session_stop(s);
	return 0;
}

static void *
session_thread_body(void *arg)
{
	struct session_thread *t = arg;
	struct session_error error = { .text = "" };
	int r;

	t->result = open_session(t);
	atomic_store_explicit(&t->opening_ns, host_thread_cpu_ns(), memory_order_relaxed);
	if (t->result == 0) {
		reach(t, RUNNING);
		t->result = session_run(t->session, &t->error);
		atomic_store_explicit(&t->state, FINISHING, memory_order_release);
		r = session_finish(t->session, &error);
		if (t->result == 0 && r < 0) {
			t->result = r;
			t->error = error;
		}
		/* The file is whole. The caller of session_thread_close() is not to wait for the kernel. */
		atomic_store_explicit(&t->state, CLOSING, memory_order_release);
		session_close_events(t->session);
	}
	reach(t, ENDED);
	joinable_end(&t->thread);
	return NULL;
}

int
session_thread_start(const struct session_options *options,
		     const struct session_thread_hooks *hooks, void *arg, int wake_fd,
		     struct session_thread **ret, struct session_error *error)
{
	struct session_thread *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return session_fail(error, -ENOMEM, "out of memory");
	t->magic = SESSION_THREAD_MAGIC;
	t->options = *options;
	t->hooks = hooks;
	t->arg = arg;
	t->wake_fd = wake_fd;
	r = joinable_start(&t->thread, "spoord-drain", session_thread_body, t);
	if (r < 0) {
		free(t);
		return session_fail(error, r, "cannot start a thread: %s", strerror(-r));
	}
	*ret = t;
	return 0;
}

/* --- what it is doing -------------------------------------------------------------------- */

static enum state
state_of(const struct session_thread *t)
{
	assert(t->magic == SESSION_THREAD_MAGIC);
	return (enum state)atomic_load_explicit(&t->state, memory_order_acquire);
}

bool
session_thread_opened(const struct session_thread *t)
{
	return state_of(t) != OPENING && t->session;
}

bool
session_thread_running(const struct session_thread *t)
{
	return !t->stopped && state_of(t) == RUNNING;
}

bool
session_thread_ended(const struct session_thread *t)
{
	return state_of(t) == ENDED;
}

const char *
session_thread_failure(const struct session_thread *t)
{
	assert(session_thread_ended(t));
	return t->result < 0 ? t->error.text : NULL;
}

struct session *
session_thread_session(const struct session_thread *t)
{
	assert(session_thread_opened(t));
	return t->session;
}

void
session_thread_stats(const struct session_thread *t, struct session_stats *ret)
{
	*ret = (struct session_stats){ .suspended = true };
	if (session_thread_opened(t))
		session_stats(t->session, ret);
}

uint64_t
session_thread_opening_ns(const struct session_thread *t)
{
	return atomic_load_explicit(&t->opening_ns, memory_order_relaxed);
}

void
session_thread_log_notes(const struct session_thread *t, const char *prefix)
{
	const char *notes = session_notes(session_thread_session(t));

	while (*notes) {
		int n = (int)strcspn(notes, "\n");

		log_notice("%s%.*s", prefix, n, notes);
		notes += n + (notes[n] == '\n');
	}
}

bool
session_thread_alive(struct session_thread *t, bool writer, uint64_t now_ns)
{
	struct session_progress p;
	enum state state = state_of(t);
	bool drain, writes;

	switch (state) {
	/* These have no counters; each may take as long as a thread may stand still. */
	case OPENING:
	case FINISHING:
		return !writer || watchdog_moves(&t->phase, state, now_ns);
	case RUNNING:
		session_progress(t->session, &p);
		/* Both are looked at each time: a look is what the next one compares with. */
		drain = watchdog_moves(&t->drain, p.drain, now_ns);
		writes = watchdog_moves(&t->writer, p.writer, now_ns);
		return drain && (!writer || writes);
	/* As long as the kernel takes. */
	case CLOSING:
	default:
		return true;
	}
}

/* --- its end ----------------------------------------------------------------------------- */

void
session_thread_stop(struct session_thread *t)
{
	struct session *s;

	t->stopped = true;
	s = t->session;
	if (s)
		session_stop(s);
}

bool
session_thread_wait(struct session_thread *t, bool (*each_second)(void *arg), void *arg)
{
	assert(t->magic == SESSION_THREAD_MAGIC);
	return joinable_join(&t->thread, each_second, arg);
}

int
session_thread_close(struct session_thread *t, struct session_stats *last,
		     struct session_error *error)
{
	int r;

	if (!t)
		return 0;
	assert(t->magic == SESSION_THREAD_MAGIC);
	if (!session_thread_ended(t))
		session_thread_stop(t);
	(void)session_thread_wait(t, NULL, NULL);
	r = t->result;
	if (r < 0 && error)
		*error = t->error;
	if (last)
		session_thread_stats(t, last);
	if (t->session)
		session_close(t->session, NULL);
	t->magic = 0;
	free(t);
	return r;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/session_thread.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/watchdog.h"
#include "recorder/session_error.h"

#define SESSION_THREAD_MAGIC 0x73746872u

enum state { RUNNING, FINISHING, ENDED };

struct session_thread {
	uint32_t magic;
	struct session *session;
	pthread_t thread;
	int wake_fd;
	_Atomic bool stopped; /* asked of by the chores too */
	_Atomic int state;    /* by the thread: release; pairs with session_thread_ended() */
	int result;	      /* these two: once ENDED is seen */
	struct session_error error;
	struct watchdog_counter drain, writer, finish;
};

static void *
body(void *arg)
{
	struct session_thread *t = arg;
	struct session_error error = { .saved_errno = 0 };
	uint64_t one = 1;
	int r;

	t->result = session_run(t->session, &t->error);
	atomic_store_explicit(&t->state, FINISHING, memory_order_release);
	r = session_finish(t->session, &error);
	if (t->result == 0 && r < 0) {
		t->result = r;
		t->error = error;
	}
	atomic_store_explicit(&t->state, ENDED, memory_order_release);
	/* A full eventfd has been written to: the owner will look. */
	if (write(t->wake_fd, &one, sizeof(one)) < 0)
		return NULL;
	return NULL;
}

int
session_thread_start(struct session *s, int wake_fd, struct session_thread **ret,
		     struct session_error *error)
{
	struct session_thread *t = calloc(1, sizeof(*t));
	int r;

	if (!t) {
		session_close(s, NULL);
		return session_fail(error, -ENOMEM, "out of memory");
	}
	t->magic = SESSION_THREAD_MAGIC;
	t->session = s;
	t->wake_fd = wake_fd;
	r = -pthread_create(&t->thread, NULL, body, t);
	if (r < 0) {
		session_close(s, NULL);
		free(t);
		return session_fail(error, r, "cannot start a thread: %s", strerror(-r));
	}
	(void)pthread_setname_np(t->thread, "spoord-drain");
	*ret = t;
	return 0;
}

struct session *
session_thread_session(const struct session_thread *t)
{
	assert(t->magic == SESSION_THREAD_MAGIC);
	return t->session;
}

bool
session_thread_running(const struct session_thread *t)
{
	return !t->stopped && atomic_load_explicit(&t->state, memory_order_acquire) == RUNNING;
}

bool
session_thread_ended(const struct session_thread *t)
{
	return atomic_load_explicit(&t->state, memory_order_acquire) == ENDED;
}

void
session_thread_stop(struct session_thread *t)
{
	t->stopped = true;
	session_stop(t->session);
}

static int
join(struct session_thread *t, bool (*each_second)(void *arg), void *arg)
{
	struct timespec until;
	int r = ETIMEDOUT;

	while (r == ETIMEDOUT) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec++;
		r = pthread_timedjoin_np(t->thread, NULL, &until);
		if (r == ETIMEDOUT && each_second && !each_second(arg))
			break;
	}
	return -r;
}

int
session_thread_close(struct session_thread *t, bool (*each_second)(void *arg), void *arg,
		     struct session_stats *last, struct session_error *error)
{
	int r;

	if (!t)
		return 0;
	assert(t->magic == SESSION_THREAD_MAGIC);
	if (!session_thread_ended(t))
		session_thread_stop(t);
	r = join(t, each_second, arg);
	if (r < 0)
		return session_fail(error, r, "the file does not take the rest: given up");
	r = t->result;
	if (r < 0 && error)
		*error = t->error;
	if (last)
		session_stats(t->session, last);
	session_close(t->session, NULL);
	t->magic = 0;
	free(t);
	return r;
}

bool
session_thread_alive(struct session_thread *t, bool writer, uint64_t now_ns)
{
	struct session_progress p;

	/* The end has no counters of its own; it may take as long as a thread may stand still. */
	switch (atomic_load_explicit(&t->state, memory_order_acquire)) {
	case RUNNING:
		session_progress(t->session, &p);
		return watchdog_moves(&t->drain, p.drain, now_ns) &
			(!writer | watchdog_moves(&t->writer, p.writer, now_ns));
	case FINISHING:
		return !writer || watchdog_moves(&t->finish, 1, now_ns);
	default:
		return true;
	}
}

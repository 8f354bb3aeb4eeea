/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_thread: one recording on a thread of its own, from session_open() to the closed file:
 * whatever its file is on, nobody else waits for it. That it has begun, and that it has ended,
 * shows on an eventfd of the owner. Everything here is called from the owner's thread, but for
 * what says otherwise.
 */
#ifndef DAEMON_STREAM_SESSION_THREAD_H
#define DAEMON_STREAM_SESSION_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/session/session.h"

struct session_thread;

/*
 * What the thread does first: fills in what may wait for a disk, such as options->sink. What it
 * gives is taken over by session_open(), also when that fails. 0, or -errno with *error.
 */
typedef int session_thread_prepare_fn(void *arg, struct session_options *options,
				      struct session_error *error);

/*
 * What it does before it records: nothing has been written yet but the beginning of the file. 0, or -errno with
 * *error: it is closed again.
 */
typedef int session_thread_opened_fn(void *arg, const struct session *session,
				     struct session_error *error);

struct session_thread_hooks {
	session_thread_prepare_fn *prepare; /* NULL: nothing */
	session_thread_opened_fn *opened;   /* NULL: nothing */
};

/*
 * options are copied, but not what they point to: that, hooks, and arg, live until
 * session_thread_close(). wake_fd: an eventfd that gets a 1 when it records,
 * and when it has ended. 0, or -errno with *error: then nothing has been taken over.
 */
int session_thread_start(const struct session_options *options,
			 const struct session_thread_hooks *hooks, void *arg, int wake_fd,
			 struct session_thread **ret, struct session_error *error);

/* Has it come to record? Stays so. From any thread. */
bool session_thread_opened(const struct session_thread *t);
/* It records, and was not asked to end. From any thread. */
bool session_thread_running(const struct session_thread *t);
bool session_thread_ended(const struct session_thread *t);

/* Once session_thread_ended(): why, until session_thread_close(); NULL: it was asked to, or nothing went wrong. */
const char *session_thread_failure(const struct session_thread *t);

/* For the calls of session.h that are safe from any thread. Once session_thread_opened(). */
struct session *session_thread_session(const struct session_thread *t);
/* Zeroes, and suspended, before it was opened. */
void session_thread_stats(const struct session_thread *t, struct session_stats *ret);
/* The CPU time that it took to begin, or to find that it cannot; 0: neither is over. */
uint64_t session_thread_opening_ns(const struct session_thread *t);

/* Asks it to end; session_thread_close() waits. From any thread. */
void session_thread_stop(struct session_thread *t);
/*
 * Waits for the closed file; session_thread_close() then does not. each_second(arg) is called
 * meanwhile (may be NULL): false gives up. False: given up; the thread goes on. From any one thread,
 * before which the owner must not close it.
 */
bool session_thread_wait(struct session_thread *t, bool (*each_second)(void *arg), void *arg);

/*
 * Stops it, waits for the closed file and frees all. 0, or what went wrong from prepare() to
 * session_finish(), with *error. last (may be NULL): the final counts.
 */
int session_thread_close(struct session_thread *t, struct session_stats *last,
			 struct session_error *error);

/* What was asked for and is not to be had, a line of the log each. From the owner's thread, once it has opened. */
void session_thread_log_notes(const struct session_thread *t, const char *prefix);

/*
 * Does it make progress? writer: the thread that writes as well; false where a client's
 * file may keep it as long as it likes. Call it about once a second.
 */
bool session_thread_alive(struct session_thread *t, bool writer, uint64_t now_ns);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_thread: one recording on a thread of its own, from session_run() to the closed file.
 *
 * Nobody waits for it: its end shows on an eventfd of the owner. Everything here is called
 * from the owner's thread.
 */
#ifndef DAEMON_SESSION_THREAD_H
#define DAEMON_SESSION_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/session.h"

struct session_thread;

/*
 * Runs s, which it takes over also on failure. wake_fd: an eventfd that gets a 1 when the
 * thread has ended. 0, or -errno with *error.
 */
int session_thread_start(struct session *s, int wake_fd, struct session_thread **ret,
			 struct session_error *error);

/* For session_stats() and the other calls that are safe from any thread. */
struct session *session_thread_session(const struct session_thread *t);

/* The session is being drained, and was not asked to end. */
bool session_thread_running(const struct session_thread *t);
bool session_thread_ended(const struct session_thread *t);
/* Asks it to end; session_thread_close() waits. */
void session_thread_stop(struct session_thread *t);

/*
 * Stops it, waits for the closed file and frees all. each_second(arg) is called while it
 * waits (may be NULL): false gives up, and thread and session are left to the end of the
 * process. 0, -ETIMEDOUT when given up, or what session_run() or session_finish() said, with
 * *error. last (may be NULL): the final counts, when not given up.
 */
int session_thread_close(struct session_thread *t, bool (*each_second)(void *arg), void *arg,
			 struct session_stats *last, struct session_error *error);

/*
 * Does it make progress? writer: the thread that writes as well; false where a client's
 * file may keep it as long as it likes. Call it about once a second.
 */
bool session_thread_alive(struct session_thread *t, bool writer, uint64_t now_ns);

#endif

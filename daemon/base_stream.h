/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * base_stream: the always-on session into the archive's segments.
 *
 * Keeps it running: a session that ends with an error is begun anew, later and later. Rotates
 * by size and age and syncs by time, on a thread of its own, because a disk may take its time
 * and the main loop may not. All calls are from the main thread.
 */
#ifndef DAEMON_BASE_STREAM_H
#define DAEMON_BASE_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/archive.h"
#include "daemon/config.h"
#include "recorder/session.h"

struct base_stream;

/*
 * Starts it. config and archive are borrowed until base_stream_close(), or for config the
 * next base_stream_reload(). An archive without room is no error: it is tried again.
 */
int base_stream_open(const struct config *c, struct archive *a, int wake_fd,
		     struct base_stream **ret, struct session_error *error);
/* Ends it in order; each_second as of session_thread_close(). */
void base_stream_close(struct base_stream *b, bool (*each_second)(void *arg), void *arg);

/* A dead session's restart, rotation and sync when it is time. */
void base_stream_dispatch(struct base_stream *b, uint64_t now_ns);
/* hz: as the governor has it for the new configuration. On an error nothing has changed. */
int base_stream_reload(struct base_stream *b, const struct config *c, uint64_t hz,
		       struct session_error *error);
/* From the next base_stream_dispatch() that does not find the session busy. */
void base_stream_set_frequency(struct base_stream *b, uint64_t hz);
/* Now, and done when they return. -EAGAIN while nothing is being recorded. */
int base_stream_rotate(struct base_stream *b, struct session_error *error);
int base_stream_sync(struct base_stream *b, struct session_error *error);

/* Of all sessions since base_stream_open(); file_bytes and what follows of the present one. */
void base_stream_stats(struct base_stream *b, struct session_stats *ret);
uint64_t base_stream_written_bytes(struct base_stream *b);
bool base_stream_alive(struct base_stream *b, uint64_t now_ns);

#endif

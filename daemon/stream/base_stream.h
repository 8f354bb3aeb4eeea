/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * base_stream: the always-on session into the archive's segments.
 *
 * Keeps it running: a session that ends with an error is begun anew, later and later. Rotates
 * by size and age and syncs by time, as chores, because a disk may take its time and the main
 * loop may not. All calls are from the main thread, but for what says otherwise.
 */
#ifndef DAEMON_STREAM_BASE_STREAM_H
#define DAEMON_STREAM_BASE_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/archive/archive.h"
#include "daemon/config/config.h"
#include "daemon/process/chores.h"
#include "recorder/session/session.h"

struct base_stream;

/*
 * Starts it, and waits until it records. config, archive and chores are borrowed until
 * base_stream_close(), or for config the next base_stream_reload(). An archive without room is no
 * error: it is tried again.
 */
int base_stream_open(const struct config *c, struct archive *a, struct chores *chores, int wake_fd,
		     struct base_stream **ret, struct session_error *error);
/* Asks it to end, and does not wait. */
void base_stream_stop(struct base_stream *b);
/* Ends it in order, after chores_close(); each_second as of session_thread_wait(). */
void base_stream_close(struct base_stream *b, bool (*each_second)(void *arg), void *arg);

/* A dead session's restart, a new one's begin, rotation and sync when it is time. */
void base_stream_dispatch(struct base_stream *b, uint64_t now_ns);
/*
 * hz: as the governor has it for the new configuration. 0: it is in force. -EINPROGRESS: it needs
 * a session that is being opened, and c is borrowed as well from here on: base_stream_reloaded()
 * tells. On an error nothing has changed.
 */
int base_stream_reload(struct base_stream *b, const struct config *c, uint64_t hz,
		       struct session_error *error);
/* What became of the last one: as base_stream_reload(). */
int base_stream_reloaded(const struct base_stream *b, struct session_error *error);
/* By a chore, from one of the next calls of base_stream_dispatch(). */
void base_stream_set_frequency(struct base_stream *b, uint64_t hz);
/* Halves sideband_share so often, from the next call of base_stream_dispatch() on. */
void base_stream_set_sideband(struct base_stream *b, unsigned int halved);

/*
 * In a chore only. Now, and done when they return. -EAGAIN while nothing is being recorded.
 * asked_ns (CLOCK_MONOTONIC): a sync that began after that is as good.
 * *ret_state_ns: how long sideband_share takes to have room for the bytes that the segment begins
 * with; 0 without a limit, and when there is no new segment.
 */
int base_stream_rotate(struct base_stream *b, uint64_t *ret_state_ns, struct session_error *error);
/* A second after the last one began; 0: that one is an answer to what was asked then. */
uint64_t base_stream_sync_due(const struct base_stream *b, uint64_t asked_ns);
int base_stream_sync(struct base_stream *b, uint64_t asked_ns, struct session_error *error);

/* Of all sessions since base_stream_open(); file_bytes and what follows of the present one. */
void base_stream_stats(struct base_stream *b, struct session_stats *ret);
uint64_t base_stream_written_bytes(struct base_stream *b);
bool base_stream_alive(struct base_stream *b, uint64_t now_ns);

#endif

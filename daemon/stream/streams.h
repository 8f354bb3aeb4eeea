/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * streams: the sessions that the daemon runs: the base stream into the archive, and captures
 * beside it, each with its own events, frequency, target, file and threads.
 *
 * Starts, rotates, syncs, ends them; lowers the base stream's frequency when a budget is
 * exceeded (governor) and raises it again. Used from the main thread, but for what says
 * otherwise; the work is done on the sessions' threads, and by chores.
 */
#ifndef DAEMON_STREAM_STREAMS_H
#define DAEMON_STREAM_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/archive/archive.h"
#include "daemon/config/config.h"
#include "daemon/stream/cpu_use.h"
#include "recorder/session/session.h"

struct streams;
struct capture_set;
struct flight_dump;
struct chores;

/*
 * Starts the threads and waits until the base stream records, or the archive has no room. c and
 * a are borrowed until streams_close(), c only until another one is in force: streams_reload().
 * 0, or -errno with *error.
 */
int streams_open(const struct config *c, struct archive *a, struct streams **ret,
		 struct session_error *error);
/*
 * Ends chores, the base stream and captures in order, and tells who waits for one; waits a minute
 * at most for disks, while the service manager is told so. NULL: nothing.
 */
void streams_close(struct streams *s);

/* A descriptor that polls readable when streams_dispatch() has something to do. */
int streams_fd(const struct streams *s);
/* Chores and captures that have ended, rotation, sync, governor. On the fd and each second. */
void streams_dispatch(struct streams *s, uint64_t now_ns);

struct capture_set *streams_captures(struct streams *s);

/* Where what waits for a disk is done, until streams_close(). */
struct chores *streams_chores(struct streams *s);

/*
 * New configuration: what can change in place does; events restart the base stream. 0: it is in
 * force. -EINPROGRESS: streams_reloaded() of the same c says what became of it; it is borrowed until
 * then.
 */
int streams_reload(struct streams *s, const struct config *c, struct session_error *error);
int streams_reloaded(struct streams *s, const struct config *c, struct session_error *error);

/* In a chore only; as of base_stream.h. */
int streams_rotate(struct streams *s, uint64_t *ret_state_ns, struct session_error *error);
uint64_t streams_sync_due(const struct streams *s, uint64_t asked_ns);
int streams_sync(struct streams *s, uint64_t asked_ns, struct session_error *error);

/* In a chore only: of the flight recorder, as flight_dump(). */
int streams_dump(struct streams *s, struct flight_dump *ret, struct session_error *error);

struct streams_status {
	struct session_stats base;
	uint64_t frequency_hz; /* configured */
	const char *governor;  /* "" or why it is lowered: "cpu_budget" */
	double cpu_percent;    /* of one CPU, over the last minute */
	uint64_t rss_bytes, written_bytes_per_s, uptime_s;
	uint32_t captures;
	const char *flight_recorder; /* as configured, such as "none" */
	uint64_t flight_bytes;	     /* of memory; 0: it does not record */
	double cpu_budget_percent;   /* 0: none */
	struct cpu_use cpu;
	uint64_t cpu_over_s; /* for how long it has exceeded the budget, if it does */
	/* What was given up for budgets: to this frequency (governor says why), and side-band to one of so many parts. */
	uint64_t lowered_hz;
	const char *sideband_governor;
	unsigned int sideband_parts; /* 1: all of it */
};
void streams_status(struct streams *s, struct streams_status *ret);

/* Do all threads of all sessions make progress? For the watchdog. */
bool streams_alive(struct streams *s, uint64_t now_ns);

#endif

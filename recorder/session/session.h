/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session: one recording from first event to closed file.
 *
 * Ties together events, rings, the drain, the writer thread, the state of /proc and the
 * loss ledger. No policy: the caller says what, how fast, where to and for how long.
 * Threads: the caller's runs the drain; one more, owned by the session, parses, compresses
 * and writes behind a bounded queue. Nothing is printed: notes and errors come back as text.
 */
#ifndef RECORDER_SESSION_SESSION_H
#define RECORDER_SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/ground/news.h"
#include "recorder/ground/session_error.h"
#include "recorder/ground/session_options.h"
#include "recorder/ground/session_stats.h"

struct io_sink;
struct perf_event_attr;
struct session;

/*
 * Probes, opens events and rings, takes the state, starts the writer and (stopped) the
 * command. 0, or -errno with *error filled. After success everything is recording but for
 * a command, which session_go() lets go.
 */
int session_open(const struct session_options *options, struct session **ret,
		 struct session_error *error);

struct session_attr {
	const char *name;
	const char *pmu; /* of a machine whose cores are of several kinds: that of one of them; "" */
	bool sideband;
	bool member; /* of the group of the last one that is none */
	const struct perf_event_attr *attr;
};

/*
 * What session_open() would open: see() gets each event, those of every kind of core by themselves, and at last the
 * side-band event, until it returns false. Nothing is started or recorded; a command is not executed.
 * *ret_notes: as session_notes(), to be freed. 0, or -errno with *error.
 */
typedef bool session_see_attr_fn(void *arg, const struct session_attr *a);
int session_dry_run(const struct session_options *options, session_see_attr_fn *see, void *arg,
		    char **ret_notes, struct session_error *error);

/* Likewise what session_open() has opened, before session_run(). */
void session_attrs(const struct session *s, session_see_attr_fn *see, void *arg);

/*
 * Lets the command go, if there is one; session_run() does it otherwise. 0, or -errno with
 * *error when it cannot be executed: then nothing was recorded of it.
 */
int session_go(struct session *s, struct session_error *error);

/*
 * Drains until the duration is over, the command has ended, all targets are gone, or
 * session_stop(). 0, or -errno with *error (a full disk, for one): then what is in the file
 * so far is readable.
 */
int session_run(struct session *s, struct session_error *error);

/* Makes session_run() return soon. Async-signal-safe. */
void session_stop(struct session *s);

/*
 * What a running session says of itself. Safe from any thread, as are all calls from here to
 * session_progress(); they talk to the threads of the session by messages.
 */
void session_stats(const struct session *s, struct session_stats *ret);

/*
 * Ends the current file in order and goes on in sink (taken over), which begins with a
 * snapshot of the live model: no sample is lost and none is in both. Waits until it is done.
 * -errno with *error: the old file goes on (or stays ended, then the session is suspended).
 * 1 with *error: it goes on in sink, but the old file could not be ended in order or synced.
 * While session_run() runs; after it, -ESHUTDOWN. The same holds for all down to session_count().
 */
int session_rotate(struct session *s, struct io_sink *sink, struct session_error *error);

/*
 * Of a flight recorder (options.overwrite): writes what the rings have, and all that names it, into the current
 * file, ends that in order, and goes on with sink, which stays empty but for its beginning until the next
 * one. Sampling stands still while a ring is copied: what is missed is counted. Results as above; the
 * end does the same, and session_rotate() alone leaves the rings as they are.
 */
int session_dump(struct session *s, struct io_sink *sink, struct session_error *error);

/*
 * With options.aux_snapshot: records what tracers have left in their AUX areas now. They are off
 * while it is read. Waits until it has been handed to the writer.
 */
int session_snapshot(struct session *s, struct session_error *error);

/* Returns when everything sampled before the call is on stable storage. */
int session_sync(struct session *s, struct session_error *error);

/*
 * Changes the frequency of all sampling events that have one, up to what the kernel allows now
 * (session_stats() says which it is). Those that have one of their own, by a term, keep it, but have
 * no more than limit_hz (0: no limit) until it is raised. A RATE block tells from when; samples carry their
 * period, so that shares stay right. -EOPNOTSUPP with events of tasks, -EINVAL with a period.
 */
int session_set_frequency(struct session *s, uint64_t hz, uint64_t limit_hz,
			  struct session_error *error);

/*
 * Turns all sampling events on or off; maps and names are recorded meanwhile. Waits until it is done.
 * Not together with options.cpu_share, which turns them on and off as well.
 * event: those of this name alone, a group by its leader's; -ENOENT: there is none, or -errno, with *error. A note of
 * the file tells of an event that is off while others are on, and READ records what it had counted.
 */
int session_enable(struct session *s, const char *event, bool on, struct session_error *error);

/* session_attrs(), as they are now: see() runs on the session's thread, and must not wait. */
int session_attrs_now(struct session *s, session_see_attr_fn *see, void *arg,
		      struct session_error *error);

/*
 * Of counters (options.counter_interval_ns): reads them a last time, and none of this session is in a file after that;
 * or begins to read them, with options.counters_wait. So a session takes over from another one, and no interval is in
 * both. Waits until it is done.
 */
int session_count(struct session *s, bool on, struct session_error *error);

/* Another rate, as in session_options; at once, from any thread. */
void session_set_sideband(struct session *s, uint64_t bytes_per_s);
/* The bytes of objects that may be stored in all since session_open(), as objects_bytes of session_stats counts them; likewise. */
void session_allow_objects(struct session *s, uint64_t bytes);

/*
 * Counters that each thread of the session moves whenever it comes round: a thread whose
 * counter stands still for many seconds is stuck. They move at least once a second.
 */
struct session_progress {
	uint64_t drain, writer;
};
void session_progress(const struct session *s, struct session_progress *ret);

/*
 * After session_finish(), on its thread: closes the events, which session_close() does as well. Linux 6.18 takes 0.1 s for
 * each place of a probe on each CPU, one after another.
 */
void session_close_events(struct session *s);

/* See event_plan_contents(). Safe from any thread. */
bool session_contents(const struct session *s);

/* Lines on what was asked for and not got ("frequency lowered from ..."); "" when none. */
const char *session_notes(const struct session *s);

/*
 * A line that came up while recording, of what was refused to whom, once each; call it about once
 * a second. Safe from any thread. False: there is none.
 */
bool session_news(struct session *s, struct news_line *ret);

/* Wait status of the command, as waitpid(2) gives it; -1: none or not ended. */
int session_command_status(const struct session *s);

/*
 * Stops the events, ends the command if it still runs, drains the rest, closes the file in
 * order. After it session_stats() and session_command_status() are final. Once; later calls
 * do nothing. 0, or -errno with *error: what was written before the failure is readable.
 */
int session_finish(struct session *s, struct session_error *error);

/* session_finish() if it has not been called, and frees. */
int session_close(struct session *s, struct session_error *error);

#endif

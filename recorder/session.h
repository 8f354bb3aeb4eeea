/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session: one recording from first event to closed file.
 *
 * Ties together events, rings, the drain, the writer thread, the state of /proc and the
 * loss ledger. No policy: the caller says what, how fast, where to and for how long.
 * Threads: the caller's runs the drain; one more, owned by the session, parses, compresses
 * and writes behind a bounded queue. Nothing is printed: notes and errors come back as text.
 */
#ifndef RECORDER_SESSION_H
#define RECORDER_SESSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "format/loss.h"

struct io_sink;

enum session_target {
	SESSION_ALL,	 /* every process on the CPUs */
	SESSION_PID,	 /* processes, all their threads, children from now on */
	SESSION_TID,	 /* threads, children from now on */
	SESSION_CGROUP,	 /* what runs in a cgroup, on the CPUs */
	SESSION_COMMAND, /* a command that the session starts */
};

enum session_call_graph {
	SESSION_CALL_GRAPH_NONE,
	SESSION_CALL_GRAPH_FP,
	SESSION_CALL_GRAPH_DWARF, /* registers and a piece of the stack with each sample */
};

/* Who is asked for the build-ids of mapped files. What the kernel cannot tell is always read. */
enum session_build_ids {
	SESSION_BUILD_IDS_AUTO, /* the kernel where that harms no other recorder, else the files */
	SESSION_BUILD_IDS_KERNEL, /* with each mapping */
	SESSION_BUILD_IDS_FILE,
};

#define SESSION_FREQUENCY_HZ 999
#define SESSION_RING_PAGES 128
#define SESSION_SIDEBAND_PAGES 16
#define SESSION_SIDEBAND_PAGES_RARE 64 /* so many that it is seldom woken by them */
#define SESSION_QUEUE_BYTES (16u << 20)

#define SESSION_STACK_BYTES 8192 /* of user stack with a sample, as perf has it */

struct session_options {
	const char *const *events; /* "-e" strings, e.g. "cycles:u"; NULL: the default event */
	size_t nr_events;
	uint64_t frequency_hz; /* 0 with period 0: SESSION_FREQUENCY_HZ */
	uint64_t period;       /* -c; 0: frequency mode */
	enum session_target target;
	const pid_t *pids; /* PID, TID; borrowed for the session's life, as is command */
	size_t nr_pids;
	const char *cgroup;   /* as cgroup_open() takes it */
	const char *cpus;     /* "0-3,7"; NULL: all online */
	char *const *command; /* argv, NULL-terminated; also with ALL: runs meanwhile */
	enum session_call_graph call_graph;
	uint32_t stack_bytes; /* DWARF: 0 is SESSION_STACK_BYTES */
	enum session_build_ids build_ids;
	uint32_t ring_pages;	 /* power of two; 0: SESSION_RING_PAGES */
	uint32_t sideband_pages; /* 0: SESSION_SIDEBAND_PAGES */
	uint64_t queue_bytes;	 /* 0: SESSION_QUEUE_BYTES */
	uint64_t duration_ns;	 /* 0: until stopped, or the command ends */
	uint64_t block_age_ns;	 /* longest life of an open block; 0: 5 s */
	int out_fd;		 /* taken over; -1 when sink is given */
	struct io_sink *sink;	 /* taken over; NULL: out_fd */
	/*
	 * A file that refuses bytes: false, session_run() ends with the error; true, the
	 * session goes on: state is followed, samples are counted as lost (LOSS_DISK_FULL, a
	 * GAP block tells when), and it is tried again every second. A file that is no more
	 * (-ESTALE, see io.h) takes its samples with it: LOSS_REMOVED, and a GAP in the next one.
	 */
	bool suspend_on_full;
	/*
	 * What sampling may take of each CPU, in millionths: see sample_bound.h. May change while
	 * the session lives; borrowed. NULL: no bound.
	 */
	const _Atomic uint32_t *cpu_share;
	/*
	 * For a user without privileges. Contents of processes go into the file only as
	 * perf_event_open(2) would let that user have them: stacks and registers of tasks that may
	 * be looked into (tracee.h), fields of tracepoints with kernel.perf_event_paranoid = -1.
	 */
	bool for_user;
	uid_t uid;
	gid_t gid;
	uint64_t descriptors_max; /* that events may take; more is refused. 0: no bound */
	/*
	 * What side-band (maps, names) may take in the file, and be held of it, by a rate; users other
	 * than root may take half of that each. What is over is left out: LOSS_SIDEBAND_BUDGET.
	 * 0: no limit.
	 */
	uint64_t sideband_bytes_per_s;
	const char *cmdline; /* for the file's meta */
	const char *writer;  /* "spoor 0.1" */
};

/* Why a session could not start or go on. text is a whole message for a person. */
struct session_error {
	int saved_errno;
	int exit_status; /* what a program should exit with: 1; 2 usage; 127, 126 the command */
	char text[512];
};

struct session;

/* "auto", "kernel" or "file". 0, -EINVAL. */
int session_build_ids_parse(const char *text, enum session_build_ids *ret);

/*
 * Probes, opens events and rings, takes the state, starts the writer and (stopped) the
 * command. 0, or -errno with *error filled. After success everything is recording but for
 * a command, which session_go() lets go.
 */
int session_open(const struct session_options *options, struct session **ret,
		 struct session_error *error);

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

/* A user whose side-band was left out. */
struct session_over {
	uint32_t uid; /* UINT32_MAX: of processes that ended too soon to be asked */
	uint64_t records;
};
#define SESSION_OVER_MAX 16

/*
 * What a running session says of itself. Safe from any thread, as are all calls from here to
 * session_progress(); they talk to the threads of the session by messages.
 */
struct session_stats {
	/* samples: also those that LOSS_REMOVED has; file_bytes: of the current file */
	uint64_t samples, records, lost, file_bytes;
	uint64_t frequency_hz; /* effective, now */
	uint32_t cpus;	       /* that are being sampled now */
	uint64_t throttled;
	bool suspended;		    /* the file takes no bytes */
	bool refused;		    /* nor will it: session_rotate() ends that */
	uint64_t loss[LOSS_CAUSES]; /* totals since session_open(), by cause */
	uint64_t sideband_bytes;    /* of file_bytes of all files: of anything but samples */
	uint64_t sideband_ns;	    /* CPU time of both threads with it */
	struct session_over over[SESSION_OVER_MAX]; /* since session_open(), the first ones */
	size_t nr_over;
};
void session_stats(const struct session *s, struct session_stats *ret);

/*
 * Ends the current file in order and goes on in sink (taken over), which begins with a
 * snapshot of the live model: no sample is lost and none is in both. Waits until it is done.
 * -errno with *error: the old file goes on (or stays ended, then the session is suspended).
 * 1 with *error: it goes on in sink, but the old file could not be ended in order or synced.
 * While session_run() runs; after it, -ESHUTDOWN. The same holds for the next two.
 */
int session_rotate(struct session *s, struct io_sink *sink, struct session_error *error);

/* Returns when everything sampled before the call is on stable storage. */
int session_sync(struct session *s, struct session_error *error);

/*
 * Changes the frequency of all sampling events that have one, up to what the kernel allows now
 * (session_stats() says which it is). A RATE block tells from when; samples carry their
 * period, so that shares stay right. -EOPNOTSUPP with events of tasks, -EINVAL with a period.
 */
int session_set_frequency(struct session *s, uint64_t hz, struct session_error *error);

/* Another rate, as in session_options; at once, from any thread. */
void session_set_sideband(struct session *s, uint64_t bytes_per_s);

/*
 * Counters that each thread of the session moves whenever it comes round: a thread whose
 * counter stands still for many seconds is stuck. They move at least once a second.
 */
struct session_progress {
	uint64_t drain, writer;
};
void session_progress(const struct session *s, struct session_progress *ret);

/* Lines on what was asked for and not got ("frequency lowered from ..."); "" when none. */
const char *session_notes(const struct session *s);

/*
 * A line that came up while recording, of what was refused to whom, once each; call it about once
 * a second. Safe from any thread. False: there is none.
 */
bool session_news(struct session *s, char *line, size_t cap);

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

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ring_set: the rings of all CPUs of one session, and the pass that empties them.
 *
 * A pass never allocates and never waits: what the queue has no room for stays in the ring,
 * where the kernel counts what then does not fit.
 */
#ifndef RECORDER_RING_RING_SET_H
#define RECORDER_RING_RING_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/record/event_set.h"
#include "recorder/ground/queue.h"
#include "recorder/ring/cpu_rings.h"

struct buf;

struct ring_set {
	struct cpu_rings_options each; /* with the pages that were got */
	/* Of CPUs that were online at some time, or of threads; nr 0: gone. */
	struct cpu_rings *cpus;
	struct ring_set_account *accounts; /* per CPU */
	size_t nr;
	/* Of CPUs that went: what is overwritten no more. Each CPU has one at most, without descriptors. */
	struct cpu_rings *left;
	size_t nr_left;
	size_t tasks;			/* that have rings of their own */
	uint64_t complete_ns;		/* every older record has been handed over */
	uint64_t last_pass_ns;		/* when a pass was last told to the writer */
	uint64_t fullest;		/* of the last pass: most bytes from a ring of samples */
	uint64_t moved, moved_sideband; /* bytes, since the session began */
	uint64_t stall_ns, stall_sent;
	uint64_t counted_ns; /* when ring_set_bound() last read the events */
	bool ended;	     /* nothing is on any more, and what is taken is the last */
	/* Sampling events, those of CPUs that come as well, wait for ring_set_enable(); 0: they do not. */
	uint64_t off_since_ns;
};

/*
 * A record gets its time before it gets into its ring; a virtual CPU may be away in between.
 * What is older than a pass by this is certain to have been seen by it.
 */
#define RING_SET_SETTLE_NS UINT64_C(20000000)

/* Events of a CPU: the ids of one that comes or goes are in one message, which makes one META block. */
#define RING_SET_EVENTS_MAX 8000u

/* Descriptors that ring_set_open() takes, at most. */
uint64_t ring_set_descriptors(const struct event_plan *plan, const struct target *target);

/*
 * Opens the rings of every CPU that is online, or of every thread, smaller ones when the mlock quota is used
 * up (a note says so). Sets the watermarks of the plan. Nothing is enabled. 0, or -errno with
 * *error filled.
 */
int ring_set_open(struct ring_set *s, const struct cpu_rings_options *options, struct buf *notes,
		  struct session_error *error);
void ring_set_close(struct ring_set *s);

/* Gives the events of a recording the ids of all descriptors. 0, -FMT_E_*. */
int ring_set_ids(const struct ring_set *s, struct event_set *events);

/* The events of a task are never to be enabled. */
void ring_set_retire_task(struct ring_set *s, pid_t task);

/* As of cpu_rings_control(), on each CPU. */
void ring_set_control(const struct ring_set *s, bool sideband, unsigned long request);

/*
 * Turns the sampling events on or off, also those that are opened later. The time in between is told as a
 * gap, when it begins and when it is over. False: no room in the queue; try again.
 */
bool ring_set_enable(struct ring_set *s, struct queue *q, bool on, const struct event_set *shapes,
		     uint64_t now_ns);
/*
 * Likewise those of a name; a group by its leader's. The time when none is on is such a gap. While others are on, READ
 * records tell what it has counted as it is turned off and on, and a note that it was off. What only counts has no name
 * here, and is on while another one is. 0; -EAGAIN: no room, try again; -ENOENT: none has that name, or -errno,
 * with *error filled.
 */
int ring_set_enable_event(struct ring_set *s, struct queue *q, const char *name, bool on,
			  const struct event_set *shapes, uint64_t now_ns,
			  struct session_error *error);

/*
 * Empties the rings into the queue. now_ns was read before the call. False: something was
 * left, for want of room. The writer is told of the pass when there was something, at times
 * when there was nothing, and with tell_it.
 */
bool ring_set_pass(struct ring_set *s, struct queue *q, uint64_t now_ns, bool tell_it);

/*
 * After a pass: what sampling took of each CPU since the last one is held against a share of it, as
 * sample_bound.h has it, and sampling events are turned off or on. Time off is told as
 * LOSS_PAUSED, and as a gap when it is long.
 */
void ring_set_bound(struct ring_set *s, struct queue *q, uint32_t share, uint64_t now_ns);

/* Likewise at the end, when all are off. For how long what was taken is still above the share. */
uint64_t ring_set_owed_ns(struct ring_set *s, uint32_t share, uint64_t now_ns);

/* Remembers what is in the rings; ring_set_passed(): all of that has been handed over. */
void ring_set_mark(struct ring_set *s);
bool ring_set_passed(const struct ring_set *s);

/*
 * Of AUX areas that are written over: begins, tracers are off, and passes take what these left; else they go on, as far
 * as they were on. ring_set_snapshot_passed(): all of it has been taken. Of other areas nothing is to be asked.
 */
void ring_set_snapshot(const struct ring_set *s, bool begins);
bool ring_set_snapshot_passed(const struct ring_set *s);

/*
 * Asks the events what was lost and tells the ledger what is new. Sets *ret_resync when
 * side-band was among it. False: no room; ask again.
 */
bool ring_set_losses(struct ring_set *s, struct queue *q, uint64_t now_ns, bool *ret_resync);

/* --- CPUs that come and go: only with events of CPUs, see target_of_cpus() --- */

/* Has it rings now, that are not dead? */
bool ring_set_has(const struct ring_set *s, uint32_t cpu);

/* CPUs that are being sampled. */
uint32_t ring_set_sampled(const struct ring_set *s);

/*
 * Takes the last out of the rings of cpus[i], tells the writer its counts, that its ids are
 * gone and when the gap began, and closes it. False: no room in the queue; try again. A ring of samples that
 * are overwritten, which nobody has taken yet, is left, with its ids, until ring_set_forget().
 */
bool ring_set_cpu_gone(struct ring_set *s, size_t i, struct queue *q,
		       const struct event_set *shapes);

/* Closes left[i], and tells the writer that its ids are gone. False: no room in the queue. */
bool ring_set_forget(struct ring_set *s, size_t i, struct queue *q);

/*
 * Opens and enables the rings of a CPU; the writer knows their ids before the first record
 * has one. Where they are over the mlock quota, a ring that was left is forgotten. *ret: the rings, for whoever
 * watches them. 0; -EAGAIN: no room in the queue; -errno.
 */
int ring_set_cpu_came(struct ring_set *s, uint32_t cpu, struct queue *q,
		      const struct event_set *shapes, const struct cpu_rings **ret,
		      struct session_error *error);

/*
 * Opens a sampling event anew on each CPU, as the plan has it now, and ends the old ones. Where
 * ring_set_bound() has turned sampling off, the new one is off.
 * 0; -EAGAIN: no room in the queue, try again; -errno: on some CPU the old one goes on.
 */
int ring_set_renew(struct ring_set *s, uint32_t index, struct queue *q,
		   const struct event_set *shapes, uint64_t now_ns);

/*
 * Has the clocks of each CPU whose time has come begin a period anew, at a moment of its own about
 * once a minute, or once in a thousand periods: what goes on at their very frequency is not met at the same moment
 * for ever. For events of CPUs. Returns when to call it again. ring_set_phase_soon(): all within a second; call it anew.
 */
uint64_t ring_set_phase(struct ring_set *s, uint64_t now_ns);
void ring_set_phase_soon(struct ring_set *s, uint64_t now_ns);

/*
 * Tells the writer, which begins another file, of the gaps that have not ended, and of events that are off. False: not
 * all, for want of room; ask again. What is told twice the file has once.
 */
bool ring_set_gaps(const struct ring_set *s, struct queue *q);

enum ring_set_read {
	RING_SET_LAST,	   /* all, a group by its leader */
	RING_SET_COUNTING, /* likewise, but those without samples alone */
	RING_SET_SAMPLING, /* those with samples alone */
	RING_SET_DETACHED, /* each by itself: the kernel takes groups apart when their CPU goes */
};

/* Appends a PERF_RECORD_READ with the count of each event so far, or of each group. 0, -FMT_E_NOMEM. */
int ring_set_reads(const struct ring_set *s, const struct event_set *events, uint64_t now_ns,
		   enum ring_set_read what, struct buf *out);

#endif

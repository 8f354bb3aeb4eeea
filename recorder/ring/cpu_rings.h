/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpu_rings: the events of one CPU and the two rings that they write to.
 *
 * Samples have a ring of their own, so that a flood of them never costs the record of who
 * was who. The first event of a kind maps the ring, all others are redirected to it. One
 * of these is opened for each CPU, and can be opened and closed as CPUs come and go. The kernel
 * shares no ring between threads that it follows over all CPUs: each of those has its own.
 */
#ifndef RECORDER_RING_CPU_RINGS_H
#define RECORDER_RING_CPU_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "recorder/event/event.h"
#include "recorder/event/event_group_spec.h"
#include "recorder/event/target.h"
#include "recorder/ring/aux_ring.h"
#include "recorder/ring/back_ring.h"
#include "recorder/ring/ring.h"

struct buf;
struct event_attr;

/* What is opened on each CPU. */
struct cpu_rings_options {
	struct event_plan *plan; /* borrowed, as the target is */
	const struct target *target;
	uint32_t pages, sideband_pages;
	uint32_t pages_enough; /* for the quota to be told where it leaves fewer; at most pages */
	bool skip_missing;     /* a sampling event that is refused somewhere is left out there */
	struct buf *notes;     /* where that is told; NULL: it is not */
	bool overwrite;	       /* the ring of samples: the events are written backward */
	uint32_t aux_pages;    /* of the AUX area, where an event of the plan has one */
	bool aux_snapshot;
	uint64_t aux_snapshot_bytes; /* see session_options */
	/* Events whose stacks are unwound, by the plan's indexes: their samples are trimmed. Borrowed; NULL: none. */
	const struct event_attr *opened;
};

struct open_event {
	int fd;
	uint32_t def; /* index in the plan, and in the recording's events */
	pid_t task;   /* -1: all */
	bool retired; /* disabled for ever; open only because a ring may be mapped on it */
	bool failed; /* pinned, and there was no counter for it: it counts nothing, until it is enabled again */
	uint64_t id;
};

/* In the place of a CPU: the rings of one thread, wherever it runs (target.per_thread). */
#define CPU_RINGS_ANY UINT32_MAX

struct cpu_rings {
	uint32_t cpu;
	pid_t task;		       /* with CPU_RINGS_ANY */
	struct ring samples, sideband; /* size 0: not mapped */
	struct back_ring back;	       /* the reader of samples that are overwritten */
	struct aux_ring aux;	       /* in the page of samples; page NULL: none */
	struct open_event *events;
	size_t nr;
	size_t told;	/* of events, of a CPU that has gone: whose counts have been handed over */
	bool stopped;	/* likewise: what is left in its AUX area is known */
	int samples_fd; /* that the ring of samples is mapped on */
	/* Bytes of samples that are to be unwound, without those that are left out; and as of session_stacks' last look. */
	uint64_t copied, copied_seen;
	uint64_t lost_closed;		      /* by events that were renewed */
	uint64_t corrupt;		      /* bytes that were no records */
	uint64_t queue_full;		      /* times that a drain was put off */
	uint64_t lost_samples, lost_sideband; /* as of the last cpu_rings_count() */
	uint64_t enabled_ns;		      /* likewise, of the side-band event */
	uint64_t phase_due_ns; /* when its clocks next begin a period anew (ring_set_phase()); 0: not known yet */
	uint64_t gone_ns; /* when its CPU went, of rings that were left (ring_set.h) */
	bool dead;	  /* the event did not live on between the last two: the CPU was away */
};

/*
 * Opens, disabled, all events of the plan: the sampling ones only when the target samples
 * this CPU. task: the one that they are of with CPU_RINGS_ANY. Tasks that are gone are left out;
 * -ESRCH when all are. -EPERM with *ret_mlock set: the rings are over the mlock quota. On failure
 * *error is filled and nothing is left.
 */
int cpu_rings_open(struct cpu_rings *c, uint32_t cpu, pid_t task,
		   const struct cpu_rings_options *options, bool *ret_mlock,
		   struct session_error *error);
void cpu_rings_close(struct cpu_rings *c);
/* Where they sample, for a message: "on CPU 3", "in thread 4711". */
#define CPU_RINGS_PLACE_BYTES 32
void cpu_rings_place(const struct cpu_rings *c, char ret[CPU_RINGS_PLACE_BYTES]);
/* Closes the descriptors alone: what is mapped can be read, and events have their ids. */
void cpu_rings_detach(struct cpu_rings *c);

/* Stops the kernel from writing samples, or lets it again; it counts what it would have written as lost. */
void cpu_rings_pause(const struct cpu_rings *c, bool pause);

/*
 * PERF_EVENT_IOC_* without an argument on the side-band events or on the sampling ones; members of a
 * group are on and off with their leader, which alone is asked. Those that are off by their name stay so.
 */
void cpu_rings_control(const struct cpu_rings *c, const struct event_plan *plan, bool sideband,
		       unsigned long request);
/* Likewise on that of the plan at index, whatever it is. */
void cpu_rings_control_event(const struct cpu_rings *c, uint32_t index, unsigned long request);

/* Sets the filters that were due (filter_due), as the plan has them now. 0, -errno with *error filled. */
int cpu_rings_filter(const struct cpu_rings *c, const struct event_plan *plan,
		     struct session_error *error);

/*
 * Opens an event of all tasks, no probe, once more, as the plan has it now, disabled and with the same
 * ring; *ret is its place in events. The old one stands at *ret_old and still runs. Of a group the
 * leader is opened anew before its members are. -errno.
 */
int cpu_rings_renew(struct cpu_rings *c, uint32_t index, const struct cpu_rings_options *options,
		    size_t *ret_old, size_t *ret);

/* The one of an event that was opened first and is not retired, a place in events. */
bool cpu_rings_oldest(const struct cpu_rings *c, uint32_t index, size_t *ret);

/* Ends the old one; true: it is retired and keeps its place, else it is closed and gone. */
bool cpu_rings_retire(struct cpu_rings *c, const struct event_plan *plan, size_t old);

/* What an event's own counter says: read(2). -ENODATA: nothing, a pinned event is in error. */
struct event_count {
	uint64_t value, time_enabled, time_running, lost;
};
int event_count_read(const struct open_event *e, const struct event_def *def,
		     struct event_count *ret);

/* The struct read_format itself, with all of the group where attr.read_format says so. */
#define EVENT_READ_BYTES ((3 + 3 * EVENT_GROUP_MAX) * 8)
/* Its bytes; -ENODATA as above, -errno. */
ssize_t event_read(const struct open_event *e, uint8_t words[static EVENT_READ_BYTES]);

/*
 * What its sampling events took so far, by the prices of sample_bound.h and beside the samples that
 * came: counts that made none, and samples that were lost.
 */
uint64_t cpu_rings_taken_ns(const struct cpu_rings *c, const struct event_plan *plan);

/* How often its triggers were hit, at each period of theirs, as far as they are open. */
uint64_t cpu_rings_hits(const struct cpu_rings *c, const struct event_plan *plan);

/* 1 when fd is one of the sampling events, else 0. */
size_t cpu_rings_samples_to(const struct cpu_rings *c, const struct event_plan *plan, int fd);

/* Did an event of the plan at index fail here, as of the last cpu_rings_count()? */
bool cpu_rings_failed(const struct cpu_rings *c, uint32_t index);

/* Adds up what the events say they lost, and looks whether they live, and which failed. */
void cpu_rings_count(struct cpu_rings *c, const struct event_plan *plan);

#endif

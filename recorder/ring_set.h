/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ring_set: the rings of all CPUs of one session, and the pass that empties them.
 *
 * A pass never allocates and never waits: what the queue has no room for stays in the ring,
 * where the kernel counts what then does not fit.
 */
#ifndef RECORDER_RING_SET_H
#define RECORDER_RING_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/event_set.h"
#include "recorder/cpu_rings.h"
#include "recorder/queue.h"

struct buf;

struct ring_set {
	const struct event_plan *plan;
	struct cpu_rings *cpus;
	struct ring_set_sent *sent; /* per CPU: what the ledger has been told */
	size_t nr;
	uint64_t complete_ns;  /* every older record has been handed over */
	uint64_t last_pass_ns; /* when a pass was last told to the writer */
	uint64_t stall_ns, stall_sent;
};

struct ring_set_options {
	struct event_plan *plan; /* borrowed; its watermarks are set here */
	const struct target *target;
	uint32_t pages, sideband_pages;
};

/*
 * Opens the rings of every CPU that is online, smaller ones when the mlock quota is used
 * up (a note says so). Nothing is enabled. 0, or -errno with *error filled.
 */
int ring_set_open(struct ring_set *s, const struct ring_set_options *options, struct buf *notes,
		  struct session_error *error);
void ring_set_close(struct ring_set *s);

/* Gives the events of a recording the ids of all descriptors. 0, -FMT_E_*. */
int ring_set_ids(const struct ring_set *s, struct event_set *events);

void ring_set_control(const struct ring_set *s, bool sideband, unsigned long request);

/*
 * Empties the rings into the queue. now_ns was read before the call. False: something was
 * left, for want of room. The writer is told of the pass when there was something, at times
 * when there was nothing, and with tell_it.
 */
bool ring_set_pass(struct ring_set *s, struct queue *q, uint64_t now_ns, bool tell_it);

/*
 * Asks the events what was lost and tells the ledger what is new. Sets *ret_resync when
 * side-band was among it. False: no room; ask again.
 */
bool ring_set_losses(struct ring_set *s, struct queue *q, bool *ret_resync);

/* The last words: a PERF_RECORD_READ with the count of each sampling event. */
int ring_set_reads(const struct ring_set *s, const struct event_set *events, uint64_t now_ns,
		   struct buf *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ring_set_internal: what the parts of ring_set share: counts and losses (ring_set_counts.c), AUX areas
 * (ring_set_aux.c), the pass and all else (ring_set.c), CPUs that come and go (ring_set_hotplug.c), events that
 * are turned on and off (ring_set_enable.c), clocks that begin a period anew (ring_set_phase.c).
 */
#ifndef RECORDER_RING_RING_SET_INTERNAL_H
#define RECORDER_RING_RING_SET_INTERNAL_H

#include "recorder/event/sample_bound.h"
#include "recorder/ground/queue.h"
#include "recorder/ring/ring_set.h"

/* Contiguous room for all that is said of a CPU that comes or goes, its ids included, or of an event opened anew. */
#define RING_SET_CHANGE_BYTES QUEUE_MESSAGE_MAX

struct ring_set_counts {
	uint64_t lost_samples, lost_sideband, corrupt, queue_full, offline_ns, paused_ns;
};

/* A CPU outlives its rings. */
struct ring_set_account {
	struct ring_set_counts before; /* of rings that are closed */
	struct ring_set_counts sent;   /* what the ledger has been told */
	uint64_t offline_since_ns;     /* 0: it is not, or was never sampled */
	struct sample_account sampling;
	/* What it has paid for: records, bytes of copies, and the price of all else. */
	uint64_t paid_records, paid_copied, paid_ns;
};

/* Since the session began. */
struct ring_set_counts ring_set_counts(const struct cpu_rings *c, const struct ring_set_account *a,
				       uint64_t now_ns);
bool ring_set_tell_cpu(const struct cpu_rings *c, struct ring_set_account *a, struct queue *q,
		       uint64_t now_ns);
int ring_set_add_read(const struct cpu_rings *c, const struct open_event *e,
		      const struct event *event, uint64_t now_ns, struct buf *out);
/* The rings that a CPU left when it went; NULL: it has none. */
struct cpu_rings *ring_set_left_of(const struct ring_set *s, uint32_t cpu);
/* What one of its events says. */
bool ring_set_send_read(const struct cpu_rings *c, size_t k, struct queue *q,
			const struct event_set *shapes, uint64_t now_ns);
/* What its events say, a message each. False: no room; ask again, for those that are left. */
bool ring_set_send_reads(const struct ring_set *s, struct cpu_rings *c, struct queue *q,
			 const struct event_set *events, uint64_t now_ns, enum ring_set_read what);

/*
 * One ring, no more than once round: a writer that is as fast as we are must not keep us. Adds what
 * was moved, all or not; false: the queue has no room.
 */
bool ring_set_drain(const struct ring_set *s, struct cpu_rings *c, struct ring *ring,
		    struct queue *q, uint64_t *moved);

/*
 * What is in the AUX area of cpus[i], if it has one; of a snapshot, what ring_set_snapshot() found. at_end: the tracer
 * is off, and all of it is taken; else whole words. False: no room in the queue.
 */
bool ring_set_drain_aux(const struct ring_set *s, size_t i, struct queue *q, bool at_end);

#endif

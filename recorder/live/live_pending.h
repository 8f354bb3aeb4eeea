/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_pending: side-band records that wait for the time up to which order is certain.
 */
#ifndef RECORDER_LIVE_LIVE_PENDING_H
#define RECORDER_LIVE_LIVE_PENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bytes/buf.h"
#include "format/record/perf_record.h"

struct live_pending {
	struct buf bytes; /* of the records */
	struct live_pending_record *v;
	size_t nr, cap;
	uint64_t seq;
};

/* All zero: none. */
void live_pending_done(struct live_pending *p);

/* What they take, with what taking them away needs. */
size_t live_pending_bytes(const struct live_pending *p);

/* False: out of memory, and this one is lost. */
bool live_pending_add(struct live_pending *p, const struct perf_record *r);
/* A time that half of them are older than, or as old; 0: there are none. */
uint64_t live_pending_middle_ns(struct live_pending *p);
/* Takes those that are older, by time; ties in the order in which they came. Needs no more memory. */
void live_pending_run(struct live_pending *p, uint64_t until_ns,
		      void (*fn)(void *arg, struct span record), void *arg);

#endif

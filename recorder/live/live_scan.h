/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_scan: a scan of /proc that a helper does, as it comes in.
 *
 * A process that keeps the helper waiting is left out, and the scan goes on behind it with
 * another helper. Belongs to one thread.
 */
#ifndef RECORDER_LIVE_LIVE_SCAN_H
#define RECORDER_LIVE_LIVE_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "format/bytes/buf.h"
#include "recorder/host/state.h"

struct helper_pool;
struct live_scan;

struct live_scan *live_scan_new(struct helper_pool *pool); /* borrowed. NULL: out of memory */
void live_scan_free(struct live_scan *s);

/*
 * Asks for the tasks and maps of options (attr, id, pids, data_maps). One that goes on is begun
 * anew. 0, -ENOMEM. That there is no helper shows later: it is tried again.
 */
int live_scan_begin(struct live_scan *s, const struct state_options *options);

/* Is there more to come? */
bool live_scan_on(const struct live_scan *s);

/* CLOCK_MONOTONIC: the time of what is still to come, when it began. UINT64_MAX: nothing is. */
uint64_t live_scan_safe_ns(const struct live_scan *s);

/* Appends the records that have come, up to about a megabyte. Never waits. 0, -ENOMEM. */
int live_scan_take(struct live_scan *s, struct buf *out);

/* A descriptor that polls readable when there is something to take; -1: none now. */
int live_scan_fd(const struct live_scan *s);

/* Was every process that is there told of, so far? If not, one that was not may be there. */
bool live_scan_complete(const struct live_scan *s);

/* Of the last scan, so far. */
const struct state_stats *live_scan_stats(const struct live_scan *s);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buildid_probe: may the kernel be asked for build-ids without harm to other recorders?
 *
 * Linux (6.18 and before) tells of one mapping to one event after another, and does not take
 * PERF_RECORD_MISC_MMAP_BUILD_ID back after one that asked (perf_event_mmap_output()). The events
 * visited after it get the bit over an inode: perf 6.1 takes the inode for a build-id and aborts.
 */
#ifndef RECORDER_RING_BUILDID_PROBE_H
#define RECORDER_RING_BUILDID_PROBE_H

#include <stdbool.h>

#include "format/bytes/span.h"

/*
 * True only where it was seen: of a mapping of this process, an event that asks has the
 * build-id, and others have an unmarked inode. Takes three events and a mapping, for a moment.
 */
bool buildid_probe_harmless(void);

/* What is seen: the records of the event that asks, and of two that do not. */
bool buildid_probe_judge(struct span asks, struct span before, struct span after);

#endif

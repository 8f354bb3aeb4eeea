/* SPDX-License-Identifier: GPL-2.0-or-later */
/* event_extra: what perf's options add to the attr of each sampling event. */
#ifndef RECORDER_EVENT_EVENT_EXTRA_H
#define RECORDER_EVENT_EVENT_EXTRA_H

#include <linux/perf_event.h>
#include <stdint.h>

#include "recorder/ground/session_options.h"

struct buf;

/*
 * Of the sample types that are asked for, those that this kernel gives: tried on scratch, an attr that opens. A
 * line in notes for each other one.
 */
uint64_t event_extra_probe(const struct session_extra *extra, const struct perf_event_attr *scratch,
			   struct buf *notes);

/* types: what event_extra_probe() returned. */
void event_extra_apply(const struct session_extra *extra, uint64_t types,
		       struct perf_event_attr *attr);

#endif

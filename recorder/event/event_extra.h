/* SPDX-License-Identifier: GPL-2.0-or-later */
/* event_extra: what perf's options add to the attr of each sampling event. */
#ifndef RECORDER_EVENT_EVENT_EXTRA_H
#define RECORDER_EVENT_EVENT_EXTRA_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "recorder/ground/session_options.h"

struct buf;

/* Of what is asked for, what this kernel gives. */
struct event_extra_found {
	uint64_t types; /* of samples */
	bool deferred;	/* call chains */
};

/* Tried on scratch, an attr that opens. A line in notes for each thing that is not given. */
struct event_extra_found event_extra_probe(const struct session_extra *extra,
					   const struct perf_event_attr *scratch,
					   struct buf *notes);

void event_extra_apply(const struct session_extra *extra, struct event_extra_found found,
		       struct perf_event_attr *attr);

/* Likewise to the attr of the side-band event. */
void event_extra_sideband(const struct session_extra *extra, struct event_extra_found found,
			  struct perf_event_attr *attr);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * throttle_times: how long events took no samples because they had taken too many for their tick
 * (THROTTLE), from then until the kernel let them go on (UNTHROTTLE).
 */
#ifndef SYMBOLIZER_DUMP_THROTTLE_TIMES_H
#define SYMBOLIZER_DUMP_THROTTLE_TIMES_H

#include <stddef.h>
#include <stdint.h>

#include "format/bytes/slots.h"
#include "format/record/perf_record.h"

struct throttle_times {
	struct throttled {
		uint64_t stream_id; /* of one event on one CPU, of one task */
		uint64_t since_ns;  /* 0: it is not throttled */
	} * v;
	size_t nr, cap;
	struct slots slots;
	uint64_t total_ns; /* of all events; of those that were let go on */
};

void throttle_times_done(struct throttle_times *t); /* all zero is an empty one */

/* Those of an event in their order; other records are nothing to it. 0, -FMT_E_NOMEM. */
int throttle_times_see(struct throttle_times *t, const struct perf_record *r);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event: the attrs that are opened on each CPU, from what was asked and what the kernel has.
 *
 * Nothing is concluded from a kernel version: each optional bit is tried on a scratch event
 * and left out when it is refused. What was asked for and not got is said in notes.
 */
#ifndef RECORDER_EVENT_EVENT_H
#define RECORDER_EVENT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/event/event_aux.h"
#include "recorder/event/event_def.h"
#include "recorder/event/target.h"
#include "recorder/ground/session_error.h"
#include "recorder/ground/session_options.h"

struct buf;

/* The sampling events in the order given, then the side-band event. */
struct event_plan {
	struct event_def *defs;
	size_t nr;
	size_t sideband;       /* index of the last */
	uint64_t frequency_hz; /* asked for; 0: a fixed period */
	uint64_t frequency_hz_effective;
	struct event_aux *aux;	   /* of the one event that has an AUX area; NULL: none has */
	uint64_t interrupt_ns;	   /* what a clock's takes, as measured; 0: not known */
	uint64_t trace_ns;	   /* what a page fault's sample takes (trace_cost); 0: not known */
	uint64_t frequency_hz_max; /* that is ever to be set; 0: the kernel's limit alone */
	/* Until somebody says otherwise no event has more: see session_set_frequency(). 0: no limit. */
	uint64_t frequency_hz_limit;
};

/*
 * Makes the plan, for events of this target. notes: a buf of text that gets a line for each thing
 * not got. 0, or -errno with *error filled.
 */
int event_plan_make(const struct session_options *options, const struct target *target,
		    struct event_plan *ret, struct buf *notes, struct session_error *error);
/* A CPU came: looks again at which counters it has. 0, -ENOMEM. */
int event_plan_look(struct event_plan *plan);
void event_plan_done(struct event_plan *plan);
/* The frequency of an event that has one: its own, or else the plan's. */
static inline uint64_t
event_plan_hz(const struct event_plan *plan, const struct event_def *def)
{
	return def->own_hz ? def->own_hz : plan->frequency_hz_effective;
}
/* How many descriptors a CPU has of it for each task. */
size_t event_plan_opened(const struct event_plan *plan);
/* Is off-cpu among its events? */
bool event_plan_waits(const struct event_plan *plan);

/*
 * Do samples have contents of processes (stacks, registers, data addresses, fields of tracepoints, traces of
 * instructions), and not only where these were? The fields of wake-ups that off-cpu adds do not count: they tell who
 * woke whom.
 */
bool event_plan_contents(const struct event_plan *plan);

/*
 * When the kernel wakes the reader, of rings of so many bytes: at three eighths of them for
 * samples, at a quarter or, of a large ring, a half for side-band; of an AUX area a quarter, 0: never.
 */
void event_plan_rings(struct event_plan *plan, uint64_t sample_bytes, uint64_t sideband_bytes,
		      uint64_t aux_bytes);

#endif

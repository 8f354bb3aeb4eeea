/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_settle: takes away from an event what this kernel, machine and user do not have, by
 * trying it where it will be opened.
 */
#ifndef RECORDER_EVENT_EVENT_SETTLE_H
#define RECORDER_EVENT_EVENT_SETTLE_H

#include <stdbool.h>

#include "recorder/event/event_def.h"
#include "recorder/event/target.h"
#include "recorder/ground/session_error.h"

struct buf;

struct event_settle_options {
	const struct target *target;
	bool precise_max; /* the highest precision that opens */
	bool counts;	  /* for what it counts: no other event is as good */
	bool by_default;  /* nobody asked for this very event: nothing is said of another instead */
};

/*
 * On whole CPUs or on tasks, whichever the target is, and once for each kind of CPU. Where one
 * kind of CPU cannot count cycles, cpu-clock takes their place on all. notes: as in
 * event_plan_make(). 0, or -errno with *error filled.
 */
int event_settle(struct event_def *def, const struct event_settle_options *options,
		 struct buf *notes, struct session_error *error);

#endif

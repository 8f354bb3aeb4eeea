/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_frequency: the frequency of a plan: what is asked for, and what it may be.
 */
#ifndef RECORDER_EVENT_EVENT_FREQUENCY_H
#define RECORDER_EVENT_EVENT_FREQUENCY_H

#include "recorder/event/event.h"

/* Before the events are planned: what is asked for, no more than the kernel's limit. */
void event_frequency_ask(const struct session_options *options, struct event_plan *plan);

/*
 * When they are planned: lowers frequencies, and raises the periods of clocks, to what the session's
 * share of a CPU and the cost of interrupts allow. notes gets the strongest of the reasons, a line.
 * 0, or -errno with *error filled: a period does not fit, or --strict-freq was given.
 */
int event_frequency_bound(const struct session_options *options, struct event_plan *plan,
			  struct buf *notes, struct session_error *error);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_wakeups: the event that off-cpu brings along, OFF_CPU_WAKEUPS of format/record/off_cpu.h: who is woken when.
 */
#ifndef RECORDER_EVENT_EVENT_WAKEUPS_H
#define RECORDER_EVENT_EVENT_WAKEUPS_H

#include <stdbool.h>

#include "recorder/event/event_def.h"
#include "recorder/event/event_spec.h"
#include "recorder/ground/session_options.h"

struct buf;
struct session_error;

/*
 * Appends it to a list in which off-cpu is, unless its terms say otherwise. denied: whom the session is for may not
 * have the fields of tracepoints. Why it is not there is a note, or, where off-cpu asks for wakers, *error. 0, -errno.
 */
int event_wakeups_add(const struct session_options *o, bool denied, struct event_spec_list *list,
		      struct buf *notes, struct session_error *error);

/* What differs from other events of samples. */
void event_wakeups_def(const struct session_options *o, struct event_def *def);

#endif

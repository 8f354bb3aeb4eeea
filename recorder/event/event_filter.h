/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_filter: which hits of a tracepoint the kernel makes samples of (PERF_EVENT_IOC_SET_FILTER),
 * and what its samples mean (its format, which goes into the recording).
 *
 * A filter is the kernel's own language ("prev_pid == 0 && next_comm ~ \"sh*\""), described in
 * Documentation/trace/events.rst; nothing here reads it.
 */
#ifndef RECORDER_EVENT_EVENT_FILTER_H
#define RECORDER_EVENT_EVENT_FILTER_H

#include <sys/types.h>

#include "recorder/event/event.h"
#include "recorder/event/target.h"
#include "recorder/ground/session_error.h"
#include "recorder/ground/session_options.h"

/*
 * Of what an argument of -e gave, the events [from, list->nr): that filter is theirs. NULL: none. It
 * is borrowed. 0; -EINVAL, and *error says that one is no tracepoint.
 */
int event_filter_specs(const struct session_filter *filter, struct event_spec_list *list,
		       size_t from, struct session_error *error);

/* Gives a tracepoint that is going to be opened its filter and its format. 0, -ENOMEM. */
int event_filter_def(const struct event_spec *spec, struct event_def *def);

/*
 * Of a plan that is not going to be opened: does the kernel take its filters? Those events are opened for it,
 * and closed. 0, -errno with *error filled.
 */
int event_filter_try(const struct event_plan *plan, const struct target *target,
		     struct session_error *error);

/* On a descriptor of the event. 0, -errno with *error filled: in the kernel's words where it can be asked. */
int event_filter_set(const struct event_def *def, int fd, struct session_error *error);

/*
 * The filters of events that leave out the recorder itself get the numbers of its threads and of the
 * processes that it has started so far, but for command (0: none). Events that are open already have
 * yet to be told. 0; 1: no event does; -errno.
 */
int event_filter_exclude(struct event_plan *plan, pid_t command);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_missing: events that are left out, and told, since they cannot be opened: --skip-missing.
 */
#ifndef RECORDER_EVENT_EVENT_MISSING_H
#define RECORDER_EVENT_EVENT_MISSING_H

#include <stddef.h>

#include "recorder/event/event.h"
#include "recorder/event/event_spec.h"
#include "recorder/ground/session_error.h"

struct buf;

/*
 * Takes an event out of a plan and its specs, which stand in the same order; specs that the plan has
 * no event of yet follow it. Who leads its group then is pinned and exclusive as it was. err, and
 * *error, are what it failed by. 0: notes say so. err: it is the last one, or the failure is of no
 * event (memory, descriptors).
 */
int event_missing_leave_out(struct event_plan *plan, struct event_spec_list *specs, size_t index,
			    int err, const struct session_error *error, struct buf *notes);

/*
 * The event was refused on one CPU or task: told of the first, counted of others (event_missing_sum()). False: the
 * failure is of no event.
 */
bool event_missing_here(struct event_def *def, int err, const struct session_error *error,
			struct buf *notes);

/* A note (notes NULL: none) for each event that was left out in more than one place. Begins to count anew. */
void event_missing_sum(struct event_plan *plan, struct buf *notes);

#endif

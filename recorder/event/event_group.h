/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_group: events that the kernel counts together or not at all, and what that changes in
 * their attrs. The leader is turned on and off, the members are with it.
 */
#ifndef RECORDER_EVENT_EVENT_GROUP_H
#define RECORDER_EVENT_EVENT_GROUP_H

#include <stdbool.h>
#include <stddef.h>

#include "recorder/event/event_def.h"
#include "recorder/event/target.h"
#include "recorder/ground/session_error.h"

struct buf;

/*
 * Makes groups of the defs as their specs ask for, one spec each, after each def has been settled
 * by itself. A group is tried where it will be opened; one that is weak and refused is none, and
 * notes get a line. 0, or -errno with *error filled and *ret_refused the place of the event that it is about: with
 * that one taken out, the call may be made anew.
 */
int event_groups_settle(struct event_def *defs, const struct event_spec_list *specs,
			const struct target *target, struct buf *notes, size_t *ret_refused,
			struct session_error *error);

/* Are a group's counts read by its leader, those of this member among them? */
bool event_group_reads(const struct event_def *member);

/*
 * Says in *error why a member was refused beside its leader, where event_open_error() says why an
 * event was by itself. err is negative and is returned.
 */
int event_group_error(const struct event_def *member, const struct event_def *leader, pid_t pid,
		      int cpu, int err, struct session_error *error);

#endif

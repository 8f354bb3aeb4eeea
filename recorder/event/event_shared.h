/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_shared: software events whose samples the kernel makes for all of them at once, whosever they are, and takes
 * for those of one: see event_set_of_sample().
 */
#ifndef RECORDER_EVENT_EVENT_SHARED_H
#define RECORDER_EVENT_EVENT_SHARED_H

#include <stdbool.h>

struct buf;
struct event_spec_list;
struct session_error;

/*
 * Two of a list that count the same: a note, as perf takes them; with off-cpu, which needs each of its samples,
 * -EINVAL with *error.
 * spare: this session is beside another one with the same events. With more than one that is shared, neither could
 * tell whose its samples are: they are left out, which is noted; -EINVAL with *error when nothing is left, or one
 * of them is in a group.
 */
int event_shared_check(struct event_spec_list *list, bool spare, struct buf *notes,
		       struct session_error *error);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_group_spec: what "-e" says with groups in it.
 *
 *   EVENT[,EVENT...]                    of event_spec.h, none of them in a group
 *   [NAME]{EVENT[,EVENT...]}[:MODS]     a group: counted together, or not at all
 *
 * with modifiers of the group: S (samples have the counts of all), W (weak: opened alone where
 * the group is refused), and those of event_spec.h, which each of its events has beside its own;
 * D and e the leader alone. As perf reads them, with blanks around events and groups; the name is perf's, and of no
 * effect.
 */
#ifndef RECORDER_EVENT_EVENT_GROUP_SPEC_H
#define RECORDER_EVENT_EVENT_GROUP_SPEC_H

#include "recorder/event/event_spec.h"

/* Of one group: its counts are in each sample, and read by one read(2). */
#define EVENT_GROUP_MAX 64

/* Appends the events of one "-e" argument. As event_spec_parse(). */
int event_group_spec_parse(const char *text, const struct event_spec_roots *roots,
			   struct event_spec_list *list, char *err, size_t err_bytes);

/* Puts all into one group, unless there are groups (perf's --group). As above. */
int event_group_spec_all(struct event_spec_list *list, char *err, size_t err_bytes);

#endif

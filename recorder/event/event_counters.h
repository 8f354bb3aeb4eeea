/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_counters: events that take no samples and are read at intervals, beside those that do:
 * what perf stat -I prints. They are on and off together with the sampling events.
 */
#ifndef RECORDER_EVENT_EVENT_COUNTERS_H
#define RECORDER_EVENT_EVENT_COUNTERS_H

#include "recorder/event/event_spec.h"
#include "recorder/event/target.h"
#include "recorder/ground/session_error.h"
#include "recorder/ground/session_options.h"

/*
 * Appends the events of options.counters to the list, marked as such (spec.counts). Without a name
 * those of perf stat: a group of software events and a weak one of those hardware events that this
 * machine has, or, where all events are without samples, none but these. Nothing when
 * options.counter_interval_ns is 0. 0, or -errno with *error filled.
 */
int event_counters_parse(const struct session_options *options, const struct target *target,
			 struct event_spec_list *list, struct session_error *error);

/* Takes from a spec that counts, before its attr is made, what only samples have. */
void event_counters_spec(struct event_spec *spec);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * skid_text: how near the address of a sample is to what was counted, by the events of the recordings.
 */
#ifndef SYMBOLIZER_VIEW_SKID_TEXT_H
#define SYMBOLIZER_VIEW_SKID_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "format/record/event_set.h"

struct skid_event {
	char *name;
	uint32_t type; /* enum perf_type_id */
	uint64_t config;
	unsigned int precise_ip; /* 0 to 3: what the event was opened with */
};

struct skid_events {
	struct skid_event *v;
	size_t nr, cap;
};

/* Adds those that are new. 0, -FMT_E_NOMEM. */
int skid_events_add(struct skid_events *all, const struct event_set *events);
void skid_events_done(struct skid_events *all);

/*
 * The i-th of that name, from 0: recordings may differ. NULL: there are no more.
 */
const struct skid_event *skid_events_find(const struct skid_events *all, const char *name,
					  size_t i);
/* What its addresses mean: a sentence without a full stop. */
const char *skid_text(const struct skid_event *e);

#endif

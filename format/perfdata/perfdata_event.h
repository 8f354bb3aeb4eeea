/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata_event: the events of a perf.data, from wherever it tells of them: the attrs
 * section and EVENT_DESC of a file, ATTR and EVENT_UPDATE records of a pipe.
 *
 * All of it goes into an event_set. An id that is there twice is passed over: an event that
 * comes first keeps it, as with perf.
 */
#ifndef FORMAT_PERFDATA_PERFDATA_EVENT_H
#define FORMAT_PERFDATA_PERFDATA_EVENT_H

#include "format/bytes/fmt_error.h"
#include "format/record/event_set.h"

/* Adds an attr with its ids (u64 words), without a name. -FMT_E_CORRUPT, -FMT_E_NOMEM. */
int perfdata_event_add(struct event_set *set, struct span attr, struct span ids);

/* An ATTR record: adds its event. -FMT_E_CORRUPT, -FMT_E_NOMEM. */
int perfdata_event_attr(struct event_set *set, struct span record);

/*
 * An EVENT_UPDATE record: takes the name, the unit or the scale, if that is what it tells. 1: an event
 * has another one now; 0; -FMT_E_CORRUPT, -FMT_E_NOMEM.
 */
int perfdata_event_update(struct event_set *set, struct span record);

/* Takes the names from an EVENT_DESC section. -FMT_E_CORRUPT (some may have their names), ... */
int perfdata_event_desc(struct event_set *set, struct span section);

/* Names events that still have none, as perf would: "cycles:ppp", "raw 0x1c2". -FMT_E_NOMEM. */
int perfdata_event_default_names(struct event_set *set);

#endif

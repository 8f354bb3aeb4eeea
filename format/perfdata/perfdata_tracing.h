/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata_tracing: a TRACING_DATA section for a recording that has none.
 *
 * perf opens no file with a tracepoint of which this section does not tell a format. A
 * recording of spoor has the names and numbers of its tracepoints and the bytes of their
 * samples, but not what these mean: the formats here have the fields that all tracepoints
 * begin with, and no more. Source: tools/perf/util/trace-event-read.c.
 */
#ifndef FORMAT_PERFDATA_PERFDATA_TRACING_H
#define FORMAT_PERFDATA_PERFDATA_TRACING_H

#include <stdint.h>

#include "format/bytes/buf.h"
#include "format/record/event_set.h"

/* Tracepoints among the events. */
uint32_t perfdata_tracing_count(const struct event_set *events);
/* Appends the section: a format for each tracepoint. */
void perfdata_tracing_section(struct buf *out, const struct event_set *events);

#endif

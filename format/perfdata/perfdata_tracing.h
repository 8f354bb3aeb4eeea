/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata_tracing: the TRACING_DATA section, which tells the formats of tracepoints.
 *
 *	"\x17\x08\x44" "tracing" VERSION NUL, u8 big-endian, u8 size of a long, u32 size of a page
 *	"header_page" NUL FILE, "header_event" NUL FILE       FILE: u64 length, bytes
 *	u32 n, n FILEs                                        formats of ftrace itself
 *	u32 n, n times {SYSTEM NUL, u32 m, m FILEs}           formats of tracepoints
 *	...                                                   what perf needs no more
 *
 * perf opens no file with a tracepoint of which this section does not tell a format. One of which
 * the recording has none (made before there were any, or without fields) gets one with the fields
 * that all tracepoints begin with, and no more. Source: tools/perf/util/trace-event-read.c.
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

/*
 * Gives the formats that a section tells to the events of their ids that have none. 0,
 * -FMT_E_CORRUPT (what was before the fault has been given), -FMT_E_NOMEM.
 */
int perfdata_tracing_read(struct span section, struct event_set *events);

#endif

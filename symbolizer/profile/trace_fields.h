/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_fields: fields of tracepoints by name, as --sort takes them: "sched_switch.prev_comm".
 *
 * EVENT is the tracepoint's name, SYSTEM:NAME, or * for any; FIELD a name in its format, those that
 * all have (common_pid) among them. perf's --sort has the same form.
 */
#ifndef SYMBOLIZER_PROFILE_TRACE_FIELDS_H
#define SYMBOLIZER_PROFILE_TRACE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "format/bytes/buf.h"
#include "format/record/tracepoint.h"

/* Has it this form? Of a word of len bytes. */
bool trace_fields_is_one(const char *word, size_t len);

/*
 * Appends those of the tracepoint that the list (with commas) names: the value alone of a list of one,
 * else "prev_comm=sh next_comm=ls"; unescaped, without a NUL.
 */
void trace_fields_text(const char *list, const struct tracepoint *t, struct span raw,
		       struct buf *out);

/* What the word names of a tracepoint; NULL: that has no such field. */
const struct tracepoint_field *trace_fields_find(const char *word, size_t len,
						 const struct tracepoint *t);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_filter: samples of tracepoints by what is in their fields: "sched_switch.prev_comm=sh,ba*".
 *
 * The field is named as in trace_fields.h; values are compared as text, as they are shown.
 */
#ifndef SYMBOLIZER_PROFILE_TRACE_FILTER_H
#define SYMBOLIZER_PROFILE_TRACE_FILTER_H

#include "format/record/tracepoint.h"
#include "symbolizer/profile/value_list.h"

/* All zero is an empty one. */
struct trace_filter {
	struct trace_wanted {
		char *field;
		struct name_list values;
	} * v;
	size_t n;
};

/* Takes one. Given again for a field it adds to its values. 0, or -1 with a message in *reterr (static). */
int trace_filter_add(struct trace_filter *f, const char *arg, const char **reterr);
void trace_filter_done(struct trace_filter *f);

/*
 * Has the sample each field that is asked for, with one of its values? An empty one has every sample.
 * t: what raw means; NULL: it is of no tracepoint, or that is not known.
 */
bool trace_filter_has(const struct trace_filter *f, const struct tracepoint *t, struct span raw);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tracefs: what the kernel tells of a tracepoint there: its format, and what is wrong with a filter. */
#ifndef RECORDER_EVENT_TRACEFS_H
#define RECORDER_EVENT_TRACEFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACEFS_ROOT "/sys/kernel/tracing"

/*
 * The format of the tracepoint of this id, as tracepoint.h of format/ has it, which the caller
 * frees. name: "sched:sched_switch", where it is looked for first, or anything. NULL: it cannot be
 * read, or there is no memory.
 */
char *tracefs_format(const char *root, const char *name, uint64_t id);

/*
 * Was this tracepoint ("probes:open") made at run time: of a probe, a function's entry or return, or another tracepoint? Its
 * trap is there from the first event that is opened of it to the last one that is closed, whether they are on or off. When
 * that cannot be known, it was.
 */
bool tracefs_made_at_run_time(const char *root, const char *name);

/* Why a filter is refused, in the kernel's words, and where. */
struct tracefs_fault {
	char text[128]; /* "Field not found" */
	size_t at;	/* byte of the filter, from 0 */
};

/*
 * Asks the kernel, which tells perf_event_open(2)'s users no more than EINVAL: by setting the filter
 * in an instance of tracefs that is made for it and removed. 0; -ENOENT: it has nothing against the
 * filter; -errno: it could not be asked.
 */
int tracefs_filter_fault(const char *root, const char *system, const char *name, const char *filter,
			 struct tracefs_fault *ret);

#endif

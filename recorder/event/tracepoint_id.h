/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracepoint_id: the tracepoints of tracefs, and the numbers that the kernel opens them by.
 */
#ifndef RECORDER_EVENT_TRACEPOINT_ID_H
#define RECORDER_EVENT_TRACEPOINT_ID_H

#include <stddef.h>
#include <stdint.h>

/* Where it is mounted when nobody says otherwise. */
#define TRACEPOINT_TRACEFS "/sys/kernel/tracing"

struct tracepoint {
	char *subsystem, *name;
	uint64_t id;
};

struct tracepoint_ids {
	struct tracepoint *points;
	size_t nr;
};

/*
 * Those whose subsystem and name match two patterns of fnmatch(3), sorted by both. -ENOENT: none does; -ENODEV:
 * tracefs is not mounted there; -EACCES; -EIO: an id is no number; -ENOMEM.
 */
int tracepoint_ids_find(const char *tracefs, const char *subsystem, const char *name,
			struct tracepoint_ids *ret);
void tracepoint_ids_done(struct tracepoint_ids *t);

#endif

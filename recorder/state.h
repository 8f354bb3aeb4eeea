/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state: what was there before the rings began to tell: the payload of a STATE block.
 *
 * Reads /proc, the cgroup tree and the kernel's maps and says it in the words of the
 * kernel, as synthesized PERF_RECORDs. The side-band events are to be recording already:
 * what changes during the scan is then told twice, and nothing is missed. All records
 * bear the time at which the scan began, so that what the rings tell of later wins.
 */
#ifndef RECORDER_STATE_H
#define RECORDER_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "format/buf.h"
#include "format/event_attr.h"

struct buildid_cache;
struct kallsyms;

struct state_options {
	const struct event_attr *attr; /* of the side-band event: the shape of the trailer */
	uint64_t id;		       /* that the records carry: one id of that event */
	uint64_t time_ns;	       /* of the records; 0: CLOCK_MONOTONIC at the call */
	/* Only these processes (a thread's id stands for its process); NULL: all of them. */
	const pid_t *pids;
	size_t nr_pids;
	bool data_maps;			/* also the maps that can be read but not executed */
	struct buildid_cache *buildids; /* NULL: no build-ids are read */
	const struct kallsyms *kernel;	/* NULL: no map of the kernel is made */
};

struct state_stats {
	uint64_t tasks, maps, build_ids, cgroups;
	uint64_t truncated; /* processes whose maps took too long to read */
	uint64_t denied;    /* processes whose maps may not be read */
};

/*
 * Appends the records: the kernel and its modules (MMAP, pid -1), CGROUP per group, and per
 * task FORK, NAMESPACES, COMM, MMAP2s. Tasks that exit meanwhile are left out. ret may be NULL.
 * 0, -ENOMEM; -errno when /proc cannot be read at all.
 */
int state_scan(const struct state_options *options, struct buf *out, struct state_stats *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state: what was there before the rings began to tell: the payload of a STATE block.
 *
 * Reads /proc, the cgroup tree and the kernel's maps and says it in the words of the
 * kernel, as synthesized PERF_RECORDs. The side-band events are to be recording already:
 * what changes during the scan is then told twice, and nothing is missed. All records
 * bear the time at which the scan began, so that what the rings tell of later wins.
 *
 * Processes of others can make it wait for ever: it is done in a helper.
 */
#ifndef RECORDER_HOST_STATE_H
#define RECORDER_HOST_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "format/bytes/buf.h"
#include "format/record/event_attr.h"

struct buildid_cache;
struct host_modules;
struct kallsyms;
struct kallsyms_module;
struct shunned;
struct state_stats;

/* How far a scan has come. */
struct state_part {
	pid_t pid;    /* that is looked at next, or whose maps go on; 0: there are no more */
	uint32_t uid; /* its user, as of proc_look_owner(); TASK_USER_UNKNOWN */
	const struct state_stats *stats;
};

/* Takes what is in out, and empties it. Not 0: ends the scan, which returns it. */
typedef int state_take_fn(void *arg, const struct state_part *part, struct buf *out);

struct state_options {
	const struct event_attr *attr; /* of the side-band event: the shape of the trailer */
	uint64_t id;		       /* that the records carry: one id of that event */
	uint64_t time_ns;	       /* of the records; 0: CLOCK_MONOTONIC at the call */
	/* Only these processes (a thread's id stands for its process); NULL: all of them. */
	const pid_t *pids;
	size_t nr_pids;
	bool data_maps;			/* also the maps that can be read but not executed */
	bool no_maps;			/* tasks alone */
	struct buildid_cache *buildids; /* NULL: no build-ids are read */
	const struct kallsyms *kernel;	/* NULL: no map of the kernel is made */
	const struct shunned *shunned;	/* are told of by name alone; NULL: none */
	pid_t after; /* not 0: only processes above it, and nothing else: the scan goes on */
	/* Called before each process, and as often as there is much; NULL: all stays in out. */
	state_take_fn *take;
	void *arg;
};

struct state_stats {
	uint64_t tasks, maps, build_ids;
	uint64_t truncated; /* processes of whose maps only a part was read: time, or too many */
	uint64_t shunned;   /* processes whose maps were not read, as somebody is left alone */
	uint64_t missed;    /* processes that are there, and could not be asked */
};

/*
 * Appends the maps of the kernel and its modules (MMAP, pid -1), which nobody can delay. 0, -ENOMEM.
 */
int state_scan_kernel(const struct state_options *options, const struct host_modules *modules,
		      struct buf *out);

/*
 * Appends what says that a module came (MMAP), or is gone: KSYMBOL with its range, "[name]" and the flag of what is
 * removed. 0, -ENOMEM.
 */
int state_module(const struct state_options *options, const struct kallsyms_module *module,
		 bool gone, struct buf *out);

/*
 * Appends all other records: CGROUP per group, and per task FORK, NAMESPACES, COMM, MMAP2s. Tasks
 * that exit meanwhile are left out. Counts in stats. 0, -ENOMEM; -errno when /proc cannot be read at
 * all.
 */
int state_scan(const struct state_options *options, struct buf *out, struct state_stats *stats);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target: what is sampled, in the terms of perf_event_open(2): tasks or a control group,
 * and CPUs.
 */
#ifndef RECORDER_EVENT_TARGET_H
#define RECORDER_EVENT_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "recorder/ground/cpu_list.h"
#include "recorder/ground/session_error.h"
#include "recorder/ground/session_options.h"

struct target {
	pid_t *tasks; /* threads to open events on; {-1}: all on the CPU */
	size_t nr_tasks;
	int *cgroup_fds; /* that sampling events are restricted to: see target_cgroup() */
	size_t nr_cgroups;
	struct cpu_list online; /* side-band is from all of these: a task migrates */
	struct cpu_list sampled;
	bool every_cpu;	   /* sampled, also those that come */
	bool per_thread;   /* each task has rings of its own, wherever it runs */
	bool single_tasks; /* tasks come and go: their end is the recording's end */
};

/*
 * options.cgroups is a list with commas, as perf's -G has it: an empty name is of an event of no control group.
 * command_pid: the child of a command target, else 0. 0, or -errno with *error filled.
 */
int target_resolve(const struct session_options *options, pid_t command_pid, struct target *ret,
		   struct session_error *error);

/* Are the events those of a CPU, which end when it goes? Else they are those of tasks. */
bool target_of_cpus(const struct target *t);
/*
 * The control group that a sampling event is restricted to, by its place in the plan: the only one there is, or the one
 * at that place. -1: none, as for events behind the last one.
 */
int target_cgroup(const struct target *t, size_t event);
/* Are two of them of the same one? */
bool target_same_cgroup(const struct target *t, size_t event, size_t other);
bool target_samples(const struct target *t, uint32_t cpu);

void target_done(struct target *t);

#endif

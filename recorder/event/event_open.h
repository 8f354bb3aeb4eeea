/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_open: perf_event_open(2), and the sysctls about it.
 */
#ifndef RECORDER_EVENT_EVENT_OPEN_H
#define RECORDER_EVENT_EVENT_OPEN_H

#include <linux/perf_event.h>
#include <sys/types.h>

/* perf_event_open(2), close-on-exec. */
int event_open(const struct perf_event_attr *attr, pid_t pid, int cpu, unsigned long flags);
/* The same, in the group of an event; leader_fd -1: in none. */
int event_open_member(const struct perf_event_attr *attr, pid_t pid, int cpu, int leader_fd,
		      unsigned long flags);

/* Opens and closes: 0 or -errno. */
int event_open_try(const struct perf_event_attr *attr, pid_t pid, int cpu);

/* The kernel's limit of the frequency, now: a sysctl that it lowers by itself. 0, -errno. */
int event_max_frequency(long long *ret);
/* kernel.perf_cpu_time_max_percent: what the interrupts of events may take of a CPU. 0, -errno. */
int event_cpu_percent(long long *ret);
/* kernel.perf_event_paranoid: what others than root may do with events. 0, -errno. */
int event_paranoid(long long *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/event_open.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/ground/session_error.h"

#define MAX_SAMPLE_RATE "/proc/sys/kernel/perf_event_max_sample_rate"
#define CPU_PERCENT "/proc/sys/kernel/perf_cpu_time_max_percent"
#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

int
event_open_member(const struct perf_event_attr *attr, pid_t pid, int cpu, int leader_fd,
		  unsigned long flags)
{
	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, leader_fd,
			  flags | PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

int
event_open(const struct perf_event_attr *attr, pid_t pid, int cpu, unsigned long flags)
{
	return event_open_member(attr, pid, cpu, -1, flags);
}

int
event_max_frequency(long long *ret)
{
	return session_sysctl(MAX_SAMPLE_RATE, ret);
}

int
event_cpu_percent(long long *ret)
{
	return session_sysctl(CPU_PERCENT, ret);
}

int
event_paranoid(long long *ret)
{
	return session_sysctl(PARANOID, ret);
}

int
event_open_try(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = event_open(attr, pid, cpu, 0);

	if (fd < 0)
		return fd;
	(void)close(fd);
	return 0;
}

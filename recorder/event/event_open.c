/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/event_open.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/ground/session_error.h"

#define MAX_SAMPLE_RATE "/proc/sys/kernel/perf_event_max_sample_rate"
#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

static int
open_once(const struct perf_event_attr *attr, pid_t pid, int cpu, unsigned long flags)
{
	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, flags | PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static bool
raise_descriptor_limit(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0 || l.rlim_cur >= l.rlim_max)
		return false;
	l.rlim_cur = l.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &l) == 0;
}

int
event_open(const struct perf_event_attr *attr, pid_t pid, int cpu, unsigned long flags)
{
	int fd = open_once(attr, pid, cpu, flags);

	if (fd == -EMFILE && raise_descriptor_limit())
		fd = open_once(attr, pid, cpu, flags);
	return fd;
}

int
event_max_frequency(long long *ret)
{
	return session_sysctl(MAX_SAMPLE_RATE, ret);
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

static int
event_open_denied(const struct event_def *def, pid_t pid, int err, struct session_error *error)
{
	long long paranoid;
	bool all = pid == -1, known = event_paranoid(&paranoid) == 0;
	char now[64] = "";

	if (known)
		snprintf(now, sizeof(now), " (it is %lld)", paranoid);
	if (!all && pid != 0 && known && paranoid < 2)
		return session_fail(error, err,
				    "perf_event_open: %s: process %d is another user's, or not "
				    "to be looked into: needs CAP_PERFMON and CAP_SYS_PTRACE",
				    err == -EPERM ? "EPERM" : "EACCES", (int)pid);
	if (def->attr.type == PERF_TYPE_TRACEPOINT)
		return session_fail(error, err,
				    "perf_event_open: %s: %s: needs CAP_PERFMON or "
				    "kernel.perf_event_paranoid < 0%s",
				    err == -EPERM ? "EPERM" : "EACCES", def->name, now);
	return session_fail(error, err,
			    "perf_event_open: %s: %s needs CAP_PERFMON%s or "
			    "kernel.perf_event_paranoid < %d%s",
			    err == -EPERM ? "EPERM" : "EACCES",
			    all ? "sampling all processes" : "sampling this process",
			    all ? "" : " (and CAP_SYS_PTRACE if it is another user's)", all ? 1 : 2,
			    now);
}

/* errno, what it means for an event; %s is its name. */
static const struct open_failure {
	int err;
	const char *text;
} open_failures[] = {
	{ ENOENT,
	  "%s: this machine cannot count it (no such hardware counter, or a virtual machine)" },
	{ EOPNOTSUPP, "%s: this machine cannot sample it" },
	{ EINVAL, "%s: the kernel refuses this event or one of its modifiers" },
	{ EBUSY, "%s: the counters are in use by somebody else" },
	{ ENOSPC, "%s: no hardware slot is free" },
	{ EMFILE, "%s: too many open files: raise the limit (ulimit -n)" },
	{ ENFILE, "%s: the system is out of open files" },
	{ ENOSYS, "%s: this kernel has no perf events" },
	{ ENOMEM, "%s: the kernel is out of memory" },
};

int
event_open_error(const struct event_def *def, pid_t pid, int cpu, int err,
		 struct session_error *error)
{
	char text[256];

	if (err == -EACCES || err == -EPERM)
		return event_open_denied(def, pid, err, error);
	if (err == -ENODEV || err == -ENXIO)
		return session_fail(error, err, "%s: CPU %d is offline or cannot count it",
				    def->name, cpu);
	if (err == -ESRCH)
		return session_fail(error, err, "no such process: %d", (int)pid);
	for (size_t i = 0; i < sizeof(open_failures) / sizeof(open_failures[0]); i++) {
		if (open_failures[i].err != -err)
			continue;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(text, sizeof(text), open_failures[i].text, def->name);
#pragma GCC diagnostic pop
		return session_fail(error, err, "perf_event_open: %s", text);
	}
	return session_fail(error, err, "perf_event_open: %s: %s", def->name, strerror(-err));
}

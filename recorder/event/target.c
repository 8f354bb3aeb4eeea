/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/target.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bsd/stdlib.h>

#include "format/bytes/slots.h"
#include "recorder/event/event_def.h"
#include "recorder/event/event_open.h"
#include "recorder/ground/session_error.h"
#include "recorder/host/cgroup.h"
#include "recorder/host/cgroup_unit.h"

/* The tasks of a target while they are collected. */
struct tasks {
	struct target *t;
	struct slots known; /* of t->tasks */
	size_t cap;
	uint64_t max; /* 0: no bound */
};

static bool
is_task(const void *owner, uint32_t index, const void *tid)
{
	return ((const struct target *)owner)->tasks[index] == *(const pid_t *)tid;
}

static uint32_t
hash_of(pid_t tid)
{
	return (uint32_t)slots_mix(0, (uint32_t)tid);
}

static bool
has_task(const struct tasks *l, pid_t tid)
{
	return slots_find(&l->known, hash_of(tid), is_task, l->t, &tid) != SLOTS_NONE;
}

/* Once: what is named twice, or by a process and by a thread of it, would count twice. */
static int
add_task(struct tasks *l, pid_t tid)
{
	struct target *t = l->t;
	uint32_t at;

	/* A process may have any number of threads. */
	if (l->max && t->nr_tasks >= l->max && !has_task(l, tid))
		return -EMFILE;
	return slots_keep(&l->known, hash_of(tid), is_task, t, &tid, t->tasks, t->nr_tasks, l->cap,
			  &at) < 0
		? -ENOMEM
		: 0;
}

static int
add_threads(struct tasks *l, pid_t pid)
{
	struct dirent *d;
	char path[64];
	int r = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while (r == 0 && (d = readdir(dir))) {
		const char *problem;
		pid_t tid = (pid_t)strtonum(d->d_name, 1, INT32_MAX, &problem);

		if (!problem)
			r = add_task(l, tid);
	}
	closedir(dir);
	return r;
}

static int
add_named(const struct session_options *o, struct tasks *l, struct session_error *error)
{
	for (size_t i = 0; i < o->nr_pids; i++) {
		pid_t pid = o->pids[i];
		char path[64];
		int r;

		/* With all threads of its process, if that is what was asked for. */
		if (has_task(l, pid))
			continue;
		snprintf(path, sizeof(path), "/proc/%d", (int)pid);
		if (access(path, F_OK) < 0)
			r = -ESRCH;
		else
			r = o->target == SESSION_PID ? add_threads(l, pid) : add_task(l, pid);
		if (r == -ESRCH && o->pids_may_end)
			continue;
		if (r == -ESRCH)
			return session_fail(error, r, "no such %s: %d",
					    o->target == SESSION_PID ? "process" : "thread",
					    (int)pid);
		if (r == -EMFILE && l->max)
			return session_fail(
				error, r,
				"process %d: these are more than %llu threads, of which "
				"each needs a file descriptor at least; the limit is %llu: "
				"name fewer threads, or a control group",
				(int)pid, (unsigned long long)l->max, (unsigned long long)l->max);
		if (r < 0)
			return session_fail(error, r, "process %d: %s", (int)pid, strerror(-r));
	}
	return l->t->nr_tasks ? 0 : session_usage(error, "no process to record");
}

static int
add_tasks(const struct session_options *o, struct target *t, struct session_error *error)
{
	struct tasks l = { .t = t, .max = o->descriptors_max };
	int r = add_named(o, &l, error);

	slots_done(&l.known);
	return r;
}

static int
add_one(struct target *t, pid_t tid)
{
	t->tasks = malloc(sizeof(*t->tasks));
	if (!t->tasks)
		return -ENOMEM;
	t->tasks[t->nr_tasks++] = tid;
	return 0;
}

static int
resolve_cpus(const struct session_options *o, struct target *t, struct session_error *error)
{
	int r = cpu_list_read("online", &t->online);

	if (r < 0)
		return session_fail(error, r,
				    "cannot tell which CPUs are online: " CPU_LIST_SYSFS
				    "/online: %s%s",
				    strerror(-r),
				    r == -ENOENT ? ": mount -t sysfs sysfs /sys" : "");
	t->every_cpu = !o->cpus;
	if (!o->cpus)
		return cpu_list_read("online", &t->sampled);
	r = cpu_list_parse(o->cpus, &t->sampled);
	if (r < 0)
		return session_usage(error, "'%s' is not a list of CPUs such as 0-3,7", o->cpus);
	for (size_t i = 0; i < t->sampled.nr; i++)
		if (!cpu_list_has(&t->online, t->sampled.cpus[i]))
			return session_fail(error, -ENODEV, "CPU %u is offline or does not exist",
					    t->sampled.cpus[i]);
	return 0;
}

/* By an event that counts nothing: does the kernel's perf know this group? What else it refuses the events tell. */
static int
try_cgroup(const struct target *t, int fd)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_DUMMY,
					.disabled = 1 };
	int event;

	attr.size = event_attr_size(&attr);
	event = t->online.nr ? event_open(&attr, fd, (int)t->online.cpus[0], PERF_FLAG_PID_CGROUP)
			     : -ENODEV;
	if (event >= 0)
		(void)close(event);
	return event == -ENOENT || event == -EINVAL ? event : 0;
}

static int
cgroup_refused(const char *name, int fd, int err, struct session_error *error)
{
	struct stat group, top;
	char root[4096];

	if (err == -EINVAL)
		return session_fail(error, err,
				    "control group %s: this kernel's perf knows no control groups "
				    "(CONFIG_CGROUP_PERF)",
				    name);
	if (cgroup_root(NULL, root, sizeof(root)) < 0)
		return session_fail(
			error, err,
			"control group %s: its hierarchy has no perf_event controller, "
			"and none that has is mounted: mount -t cgroup2 none DIRECTORY, "
			"or mount -t cgroup -o perf_event none DIRECTORY",
			name);
	if (fstat(fd, &group) == 0 && stat(root, &top) == 0 && group.st_dev != top.st_dev)
		return session_fail(error, err,
				    "control group %s: its hierarchy has no perf_event controller: "
				    "name a group below %s",
				    name, root);
	return session_fail(
		error, err,
		"control group %s: there is no perf_event controller: the kernel was "
		"booted with cgroup_disable=perf_event, or it is of a hierarchy that is "
		"not mounted",
		name);
}

static int
add_cgroup(struct target *t, const char *name, struct session_error *error)
{
	int fd = *name ? cgroup_open(name) : -1, *fds;
	char hint[CGROUP_UNIT_WORDS] = "";
	int r;

	if (fd < 0 && *name)
		cgroup_unit_hint(NULL, fd, name, hint);
	if (fd == -EINVAL)
		return session_fail(error, fd, "%s is not a control group", name);
	if (fd == -ENOTUNIQ)
		return session_fail(error, fd,
				    "several control groups are called %s: give more of the "
				    "path%s",
				    name, hint);
	if (fd < 0 && *name)
		return session_fail(error, fd, "control group %s: %s%s", name, strerror(-fd), hint);
	r = fd < 0 ? 0 : try_cgroup(t, fd);
	if (r < 0) {
		(void)cgroup_refused(name, fd, r, error);
		close(fd);
		return r;
	}
	fds = reallocarray(t->cgroup_fds, t->nr_cgroups + 1, sizeof(*fds));
	if (!fds) {
		if (fd >= 0)
			close(fd);
		return session_fail(error, -ENOMEM, "out of memory");
	}
	t->cgroup_fds = fds;
	fds[t->nr_cgroups++] = fd;
	return 0;
}

static int
resolve_cgroups(const struct session_options *o, struct target *t, struct session_error *error)
{
	char *names, *rest, *one;
	int r = 0;

	if (!o->cgroups)
		return *o->cgroup ? add_cgroup(t, o->cgroup, error)
				  : session_usage(error, "a control group has a name");
	if (o->extra.skip_missing)
		return session_usage(error,
				     "several control groups and --skip-missing exclude each "
				     "other: which of them an event is of depends on its place");
	names = rest = strdup(o->cgroups);
	if (!names)
		return session_fail(error, -ENOMEM, "out of memory");
	while (r == 0 && (one = strsep(&rest, ",")))
		r = add_cgroup(t, one, error);
	free(names);
	return r;
}

int
target_resolve(const struct session_options *o, pid_t command_pid, struct target *ret,
	       struct session_error *error)
{
	struct target t = { 0 };
	int r = resolve_cpus(o, &t, error);

	if (r < 0)
		goto out;
	t.single_tasks = o->target == SESSION_PID || o->target == SESSION_TID;
	t.per_thread = o->extra.per_thread;
	if (t.single_tasks) {
		r = add_tasks(o, &t, error);
	} else {
		r = add_one(&t, o->target == SESSION_COMMAND ? command_pid : -1);
		if (r < 0)
			session_fail(error, r, "out of memory");
	}
	if (r == 0 && o->target == SESSION_CGROUP)
		r = resolve_cgroups(o, &t, error);
out:
	if (r < 0)
		target_done(&t);
	else
		*ret = t;
	return r;
}

bool
target_of_cpus(const struct target *t)
{
	return t->nr_tasks == 1 && t->tasks[0] == -1;
}

int
target_cgroup(const struct target *t, size_t event)
{
	if (t->nr_cgroups == 1)
		event = 0;
	return event < t->nr_cgroups ? t->cgroup_fds[event] : -1;
}

bool
target_same_cgroup(const struct target *t, size_t event, size_t other)
{
	int a = target_cgroup(t, event), b = target_cgroup(t, other);
	struct stat of_a, of_b;

	if (a < 0 || b < 0)
		return a < 0 && b < 0;
	return fstat(a, &of_a) == 0 && fstat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
		of_a.st_ino == of_b.st_ino;
}

bool
target_samples(const struct target *t, uint32_t cpu)
{
	return t->every_cpu || cpu_list_has(&t->sampled, cpu);
}

void
target_done(struct target *t)
{
	free(t->tasks);
	for (size_t i = 0; i < t->nr_cgroups; i++)
		if (t->cgroup_fds[i] >= 0)
			close(t->cgroup_fds[i]);
	free(t->cgroup_fds);
	cpu_list_done(&t->online);
	cpu_list_done(&t->sampled);
	*t = (struct target){ 0 };
}

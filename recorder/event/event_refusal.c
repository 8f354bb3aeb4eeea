/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/event_refusal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/hw_breakpoint.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/event/event_open.h"
#include "recorder/ground/small_file.h"

#define PERFMON 38 /* CAP_PERFMON: Linux 5.8 */

struct refusal {
	const struct event_def *def;
	pid_t pid;
	int cpu;
	int err;
	const struct event_rights *rights;
	struct session_error *error;
	char what[EVENT_SPEC_NAME_BYTES + 32]; /* the event, and where it was refused */
};

/* On whole CPUs the place is the CPU; of tasks it is the task, which runs anywhere. */
static void
name_it(struct refusal *r)
{
	if (r->pid > 0)
		(void)snprintf(r->what, sizeof(r->what), "%s of task %d", r->def->name,
			       (int)r->pid);
	else if (r->pid < 0 && r->cpu >= 0)
		(void)snprintf(r->what, sizeof(r->what), "%s on CPU %d", r->def->name, r->cpu);
	else
		(void)snprintf(r->what, sizeof(r->what), "%s", r->def->name);
}

static const char *
error_name(int err)
{
	return err == -EPERM ? "EPERM" : "EACCES";
}

/* --- EPERM, EACCES --------------------------------------------------------------------- */

struct event_rights
event_rights_now(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };
	struct event_rights rights = { 0 };
	char map[64];
	unsigned long long inside, outside, nr;

	if (syscall(SYS_capget, &header, data) == 0) {
		rights.admin = data[0].effective & UINT32_C(1) << CAP_SYS_ADMIN;
		rights.capable = rights.admin || data[1].effective & UINT32_C(1) << (PERFMON - 32);
	}
	rights.user_namespace = small_file_read(AT_FDCWD, "/proc/self/uid_map", map, sizeof(map)) >
			0 &&
		(sscanf(map, "%llu %llu %llu", &inside, &outside, &nr) != 3 || inside || outside ||
		 nr != UINT32_MAX);
	rights.paranoid_known = event_paranoid(&rights.paranoid) == 0;
	return rights;
}

/*
 * Debian's kernels ask for CAP_SYS_ADMIN from 3 on, which takes CAP_PERFMON's place for all events.
 * Ubuntu's take CAP_PERFMON at 4, and kernels without such a patch treat 3 and more as 2.
 */
static bool
refuses_all(const struct event_rights *rights)
{
	return rights->paranoid_known && rights->paranoid >= EVENT_PARANOID_ANY;
}

/* Capabilities and the sysctl are as they should be. */
static void
tell_forbidden(const struct event_rights *rights, char ret[EVENT_NEED_BYTES])
{
	char has[80];

	if (rights->capable)
		(void)snprintf(has, sizeof(has), "spoor has CAP_PERFMON");
	else
		(void)snprintf(has, sizeof(has),
			       "kernel.perf_event_paranoid is %lld, which allows it",
			       rights->paranoid);
	(void)snprintf(ret, EVENT_NEED_BYTES,
		       "%s; a seccomp filter (of a container, of systemd), a security module or "
		       "lockdown forbids it",
		       has);
}

bool
event_rights_need(const struct event_rights *rights, enum event_paranoid_limit limit,
		  char ret[EVENT_NEED_BYTES])
{
	char now[32] = "";

	if (rights->capable && rights->user_namespace) {
		(void)snprintf(ret, EVENT_NEED_BYTES,
			       "capabilities of a user namespace (a container's root) do not "
			       "count: needs CAP_PERFMON of the host");
		return false;
	}
	if (rights->admin || (rights->capable && !refuses_all(rights)) ||
	    (!rights->capable && rights->paranoid_known && rights->paranoid < (int)limit)) {
		tell_forbidden(rights, ret);
		return false;
	}
	if (rights->paranoid_known)
		(void)snprintf(now, sizeof(now), " (it is %lld)", rights->paranoid);
	if (rights->capable)
		(void)snprintf(ret, EVENT_NEED_BYTES,
			       "CAP_SYS_ADMIN or kernel.perf_event_paranoid < %d%s: Debian's "
			       "kernels do not take CAP_PERFMON there",
			       EVENT_PARANOID_ANY, now);
	else
		(void)snprintf(
			ret, EVENT_NEED_BYTES, "%s or kernel.perf_event_paranoid < %d%s",
			refuses_all(rights)
				? "CAP_SYS_ADMIN (CAP_PERFMON, unless the kernel is Debian's)"
				: "CAP_PERFMON",
			(int)limit, now);
	return true;
}

/*
 * For which the kernel asks perf_allow_kernel(). Its part of call chains is none of it here: where it
 * is refused, event_settle leaves it out.
 */
static bool
has_kernel(const struct perf_event_attr *attr)
{
	return !attr->exclude_kernel || attr->sample_type & PERF_SAMPLE_PHYS_ADDR ||
		(attr->sample_type & PERF_SAMPLE_BRANCH_STACK &&
		 attr->branch_sample_type & (PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV));
}

/* While the sysctl is less, something else refused the event (perf_event_open(), perf_allow_*()). */
static enum event_paranoid_limit
limit_of(const struct refusal *r)
{
	if (r->def->attr.type == PERF_TYPE_TRACEPOINT)
		return EVENT_PARANOID_FIELDS;
	if (r->pid == -1)
		return EVENT_PARANOID_CPUS;
	return has_kernel(&r->def->attr) ? EVENT_PARANOID_KERNEL : EVENT_PARANOID_ANY;
}

/* The sysctl gives none of these. */
static const char *
needs_capability(const struct refusal *r)
{
	const struct perf_event_attr *attr = &r->def->attr;

	if (event_attr_breaks_in_kernel(attr))
		return r->rights->admin ? NULL : "a breakpoint in the kernel needs CAP_SYS_ADMIN";
	if (r->def->probe)
		return r->rights->capable ? NULL : "a probe needs CAP_PERFMON";
	return NULL;
}

static int
denied(const struct refusal *r)
{
	const struct event_rights *rights = r->rights;
	const struct perf_event_attr *attr = &r->def->attr;
	const char *capability = needs_capability(r);
	char need[EVENT_NEED_BYTES];
	bool needs;

	if (capability)
		return session_fail(r->error, r->err, "perf_event_open: %s: %s: %s",
				    error_name(r->err), r->what, capability);
	needs = event_rights_need(rights, limit_of(r), need);
	/* The same event was opened for ourselves before (event_settle): the sysctl allows it. */
	if (!rights->capable && r->pid > 0 && (!needs || !has_kernel(attr)))
		return session_fail(r->error, r->err,
				    "perf_event_open: %s: process %d is another user's, or not to "
				    "be looked into: needs CAP_PERFMON or CAP_SYS_PTRACE",
				    error_name(r->err), (int)r->pid);
	if (!needs && !rights->user_namespace && r->err == -EPERM &&
	    (attr->exclude_user || attr->exclude_kernel || attr->exclude_idle))
		return session_fail(r->error, r->err,
				    "perf_event_open: EPERM: %s: this machine does not tell its "
				    "modifiers (u, k, h, I) apart, or a seccomp filter, a security "
				    "module or lockdown forbids it",
				    r->what);
	if (!needs)
		return session_fail(r->error, r->err, "perf_event_open: %s: %s: %s",
				    error_name(r->err), r->what, need);
	if (attr->type == PERF_TYPE_TRACEPOINT)
		return session_fail(r->error, r->err, "perf_event_open: %s: %s: needs %s",
				    error_name(r->err), r->what, need);
	return session_fail(r->error, r->err, "perf_event_open: %s: sampling %s needs %s",
			    error_name(r->err), r->pid == -1 ? "all processes" : "this process",
			    need);
}

/* --- the others ------------------------------------------------------------------------ */

static bool
is_precise(const struct refusal *r)
{
	return r->def->attr.precise_ip > 0;
}

static bool
is_breakpoint(const struct refusal *r)
{
	return r->def->attr.type == PERF_TYPE_BREAKPOINT;
}

static bool
watches_reads_alone(const struct refusal *r)
{
	return is_breakpoint(r) && r->def->attr.bp_type == HW_BREAKPOINT_R;
}

static bool
watches_misaligned(const struct refusal *r)
{
	const struct perf_event_attr *a = &r->def->attr;

	return is_breakpoint(r) && a->bp_type != HW_BREAKPOINT_X && a->bp_len > 0 &&
		a->bp_addr % a->bp_len != 0;
}

static bool
is_probe(const struct refusal *r)
{
	return r->def->probe;
}

static bool
copies_stack(const struct refusal *r)
{
	return r->def->attr.sample_type & PERF_SAMPLE_STACK_USER;
}

static bool
of_branches(const struct refusal *r)
{
	return r->def->attr.sample_type & PERF_SAMPLE_BRANCH_STACK;
}

static bool
has_registers(const struct refusal *r)
{
	return r->def->attr.sample_type & PERF_SAMPLE_REGS_INTR ||
		(r->def->attr.sample_type & PERF_SAMPLE_REGS_USER && !copies_stack(r));
}

static bool
has_vectors(const struct refusal *r)
{
	return (r->def->attr.sample_regs_intr & SESSION_VECTORS) != 0;
}

static bool
of_any_cpu(const struct refusal *r)
{
	return r->cpu < 0;
}

/* errno, when the words hold (NULL: always), what it means; %s is the event, with the CPU or
 * task. The first
 * that holds is told. From perf_event_open(2), and the kernel's kernel/events/core.c. */
#define E(err) err, #err
static const struct refusal_words {
	int err;
	const char *name;
	bool (*when)(const struct refusal *r);
	const char *text;
} refusal_words[] = {
	{ E(ENOENT), is_probe, "%s: there is no such file, or no such function of the kernel" },
	{ E(ENOENT), NULL,
	  "%s: this machine cannot count it (no such hardware counter, or a virtual machine)" },
	{ E(EOPNOTSUPP), is_precise, "%s: this machine samples it with no such precision (p)" },
	{ E(EOPNOTSUPP), is_breakpoint, "%s: this machine has no such hardware breakpoint" },
	{ E(EOPNOTSUPP), of_branches,
	  "%s: this machine records no branches with it, or not these (-b, -j, "
	  "--call-graph lbr)" },
	{ E(EOPNOTSUPP), has_vectors,
	  "%s: this machine samples no vector registers with it (-I); PEBS of newer Intel CPUs does" },
	{ E(EOPNOTSUPP), NULL,
	  "%s: this machine cannot sample it: its counter gives no interrupt" },
	{ E(EINVAL), watches_misaligned,
	  "%s: the kernel refuses this breakpoint: the address is no multiple of the length" },
	{ E(EINVAL), watches_reads_alone,
	  "%s: the kernel refuses this breakpoint: x86 has none for reads alone: try rw" },
	{ E(EINVAL), is_breakpoint,
	  "%s: the kernel refuses the address, its alignment, the length or the access of this "
	  "breakpoint" },
	{ E(EINVAL), is_probe,
	  "%s: the kernel refuses this file or this place in it: there is no instruction that it can "
	  "probe" },
	{ E(EINVAL), of_branches, "%s: the kernel refuses these branches (-b, -j), or this event" },
	{ E(EINVAL), has_registers,
	  "%s: the kernel refuses these registers (--user-regs, -I), or this event" },
	{ E(EINVAL), NULL, "%s: the kernel refuses this event or one of its modifiers" },
	{ E(EBUSY), NULL, "%s: another event has the counters to itself" },
	{ E(ENOSPC), is_breakpoint,
	  "%s: no hardware breakpoint is free: a debugger, or another recording, has them" },
	{ E(ENOSPC), NULL, "%s: no hardware slot is free" },
	{ E(EMFILE), NULL, "%s: too many open files: raise the limit (ulimit -n)" },
	{ E(ENFILE), NULL, "%s: the system is out of open files" },
	{ E(ENOSYS), copies_stack,
	  "%s: this kernel cannot copy stacks of user space: give --call-graph fp" },
	{ E(ENOSYS), has_registers, "%s: this kernel gives no registers (--user-regs, -I)" },
	{ E(ENOSYS), NULL, "%s: this kernel has no perf events" },
	{ E(ENOMEM), NULL, "%s: the kernel is out of memory" },
	{ E(ENODEV), of_any_cpu, "%s: this CPU does not have the feature that it needs" },
	{ E(E2BIG), NULL, "%s: this kernel is older than a feature that was asked for" },
	{ E(EOVERFLOW), NULL,
	  "%s: call chains are to be longer than kernel.perf_event_max_stack allows (--max-stack)" },
	{ E(EINTR), NULL,
	  "%s: interrupted: another tracer (ftrace, kprobes) held the event; try again" },
};
#undef E

int
event_refusal_tell(const struct event_def *def, pid_t pid, int cpu, int err,
		   const struct event_rights *rights, struct session_error *error)
{
	struct refusal r = {
		.def = def, .pid = pid, .cpu = cpu, .err = err, .rights = rights, .error = error
	};
	char text[384];

	name_it(&r);
	if (err == -EACCES || err == -EPERM)
		return denied(&r);
	if (err == -ESRCH)
		return session_fail(error, err, "no such process: %d", (int)pid);
	if ((err == -ENODEV || err == -ENXIO) && cpu >= 0)
		return session_fail(error, err, "%s: CPU %d is offline or cannot count it",
				    def->name, cpu);
	for (size_t i = 0; i < sizeof(refusal_words) / sizeof(refusal_words[0]); i++) {
		const struct refusal_words *w = &refusal_words[i];

		if (w->err != -err || (w->when && !w->when(&r)))
			continue;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		(void)snprintf(text, sizeof(text), w->text, r.what);
#pragma GCC diagnostic pop
		return session_fail(error, err, "perf_event_open: %s: %s", w->name, text);
	}
	return session_fail(error, err, "perf_event_open: %s: %s", r.what, strerror(-err));
}

int
event_open_error(const struct event_def *def, pid_t pid, int cpu, int err,
		 struct session_error *error)
{
	const struct event_rights rights = event_rights_now();

	return event_refusal_tell(def, pid, cpu, err, &rights, error);
}

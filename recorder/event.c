/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bsd/string.h>

#include "format/buf.h"
#include "format/event_attr.h"
#include "recorder/session_error.h"

#define MAX_SAMPLE_RATE "/proc/sys/kernel/perf_event_max_sample_rate"
#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define SIDEBAND_ROOM (64u << 10)
#define STACK_BYTES 8192
#define STACK_BYTES_MAX 65528

/* Registers that DWARF unwinding begins with: all of the user's that perf knows. */
#if defined(__x86_64__)
#define USER_REGS UINT64_C(0xff0fff)
#elif defined(__aarch64__)
#define USER_REGS UINT64_C(0x1ffffffff)
#else
#define USER_REGS UINT64_C(0)
#endif

#define BIT(flag) (UINT64_C(1) << EVENT_ATTR_##flag)
#define SIDEBAND_BASE (BIT(mmap) | BIT(comm) | BIT(task))

/* Side-band that a kernel may not have, or not for everybody; what needs another, after it. */
static const struct sideband_feature {
	uint64_t bit;
	const char *missing;
} sideband_features[] = {
	{ BIT(mmap2), "no MMAP2 records: mapped files are known by name only" },
	{ BIT(comm_exec), "exec is not told from a change of name" },
	{ BIT(namespaces), "no namespaces of tasks" },
	{ BIT(ksymbol), "no names of kernel code that comes later (BPF)" },
	{ BIT(bpf_event), "no BPF programs" },
	{ BIT(cgroup), "no names of control groups that come later" },
	{ BIT(build_id), "no build-ids from the kernel" },
	{ BIT(text_poke), NULL },
};

uint64_t
event_attr_bits(const struct perf_event_attr *attr)
{
	uint64_t bits;

	memcpy(&bits, (const uint8_t *)&attr->read_format + 8, sizeof(bits));
	return bits;
}

void
event_attr_set_bits(struct perf_event_attr *attr, uint64_t bits)
{
	memcpy((uint8_t *)&attr->read_format + 8, &bits, sizeof(bits));
}

/* --- opening --------------------------------------------------------------------------- */

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

/* Opens and closes: 0 or -errno. On ourselves, which needs the least permission. */
static int
try_open(const struct perf_event_attr *attr)
{
	int fd = event_open(attr, 0, -1, 0);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int
denied(const struct event_def *def, pid_t pid, int err, struct session_error *error)
{
	long long paranoid;
	bool all = pid == -1, known = session_sysctl(PARANOID, &paranoid) == 0;
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
		return denied(def, pid, err, error);
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

/* --- probing --------------------------------------------------------------------------- */

struct features {
	uint64_t read_format;
	uint64_t sample_type;
	uint64_t sideband;
};

/* skip: bits that are not wanted, and of which nothing is said. */
static void
probe_sideband(const struct perf_event_attr *scratch, uint64_t skip, struct features *f,
	       struct buf *notes)
{
	struct perf_event_attr attr = *scratch;
	uint64_t base = event_attr_bits(scratch);

	f->sideband = SIDEBAND_BASE;
	for (size_t i = 0; i < sizeof(sideband_features) / sizeof(sideband_features[0]); i++) {
		const struct sideband_feature *s = &sideband_features[i];

		if (s->bit & skip)
			continue;
		event_attr_set_bits(&attr, base | f->sideband | s->bit);
		if (try_open(&attr) == 0)
			f->sideband |= s->bit;
		else if (s->missing)
			session_note(notes, "this kernel, or this user, gives %s", s->missing);
	}
}

static int
probe(const struct session_options *o, struct features *f, struct buf *notes,
      struct session_error *error)
{
	struct event_def scratch = { .name = "dummy" };
	struct perf_event_attr *attr = &scratch.attr;
	int r;

	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_DUMMY;
	attr->size = sizeof(*attr);
	attr->disabled = 1;
	attr->exclude_kernel = 1;
	attr->sample_id_all = 1;
	attr->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		PERF_SAMPLE_CPU;
	r = try_open(attr);
	if (r < 0)
		return event_open_error(&scratch, 0, -1, r, error);
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	if (try_open(attr) < 0)
		return session_fail(error, -EOPNOTSUPP,
				    "this kernel cannot stamp events with CLOCK_MONOTONIC");
	f->read_format = PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |
		PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr->read_format = f->read_format | PERF_FORMAT_LOST;
	if (try_open(attr) == 0)
		f->read_format |= PERF_FORMAT_LOST;
	attr->read_format = f->read_format;
	attr->sample_type |= PERF_SAMPLE_CGROUP;
	f->sample_type = attr->sample_type & PERF_SAMPLE_CGROUP;
	if (try_open(attr) < 0) {
		f->sample_type = 0;
		session_note(notes, "samples do not tell their control group: not in this kernel");
	}
	attr->sample_type &= ~(uint64_t)PERF_SAMPLE_CGROUP;
	probe_sideband(attr, o->build_ids == SESSION_BUILD_IDS_KERNEL ? 0 : BIT(build_id), f,
		       notes);
	return 0;
}

/* --- attrs ------------------------------------------------------------------------------ */

static void
common_attr(const struct session_options *o, const struct features *f, struct perf_event_attr *attr)
{
	bool tasks = o->target == SESSION_PID || o->target == SESSION_TID ||
		o->target == SESSION_COMMAND;

	attr->size = sizeof(*attr);
	attr->disabled = 1;
	attr->inherit = tasks;
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->watermark = 1;
	attr->read_format = f->read_format;
	attr->sample_type |= PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		PERF_SAMPLE_CPU;
}

static void
sideband_def(const struct session_options *o, const struct features *f, struct event_def *def)
{
	*def = (struct event_def){ .sideband = true };
	strlcpy(def->name, "dummy:u", sizeof(def->name));
	def->attr.type = PERF_TYPE_SOFTWARE;
	def->attr.config = PERF_COUNT_SW_DUMMY;
	def->attr.exclude_kernel = 1;
	common_attr(o, f, &def->attr);
	event_attr_set_bits(&def->attr, event_attr_bits(&def->attr) | f->sideband);
	def->lost = f->read_format & PERF_FORMAT_LOST;
}

static void
call_graph(const struct session_options *o, struct perf_event_attr *attr)
{
	if (o->call_graph == SESSION_CALL_GRAPH_NONE)
		return;
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (o->call_graph != SESSION_CALL_GRAPH_DWARF)
		return;
	/* The kernel's part by frame pointers, the user's by registers and stack. */
	attr->exclude_callchain_user = 1;
	attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->sample_regs_user = USER_REGS;
	attr->sample_stack_user = o->stack_bytes ? o->stack_bytes : STACK_BYTES;
}

static void
sampling_def(const struct session_options *o, const struct features *f,
	     const struct event_plan *plan, const struct event_spec *spec, struct event_def *def)
{
	struct perf_event_attr *attr = &def->attr;

	*def = (struct event_def){ .attr = spec->attr };
	strlcpy(def->name, spec->name, sizeof(def->name));
	common_attr(o, f, attr);
	attr->sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD | f->sample_type;
	attr->enable_on_exec = o->target == SESSION_COMMAND;
	call_graph(o, attr);
	def->lost = f->read_format & PERF_FORMAT_LOST;
	if (!spec->has_rate && (o->period || (spec->each && !o->frequency_hz))) {
		attr->sample_period = o->period ? o->period : 1;
	} else if (!spec->has_rate) {
		attr->freq = 1;
		attr->sample_freq = plan->frequency_hz_effective;
	}
	/*
	 * A software event with a fixed period that is asked to tell the period gives a sample
	 * at every count (perf_swevent_event()). The attr tells it as well.
	 */
	if (!attr->freq && attr->sample_period > 1)
		attr->sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
}

/* An event without hardware behind it, as the clock that every machine has. */
static void
fall_back_to_clock(struct event_def *def)
{
	def->attr.type = PERF_TYPE_SOFTWARE;
	def->attr.config = PERF_COUNT_SW_CPU_CLOCK;
	def->attr.precise_ip = 0;
	def->attr.exclude_idle = 1; /* cycles do not count when idle either */
	strlcpy(def->name, def->attr.exclude_kernel ? "cpu-clock:uI" : "cpu-clock:I",
		sizeof(def->name));
}

static bool
no_hardware(int err)
{
	return err == -ENOENT || err == -EOPNOTSUPP || err == -ENODEV || err == -ENXIO;
}

/* One try at what may be wrong with the attr as it stands; false: nothing left to try. */
static bool
settle_step(struct event_def *def, bool precise_max, bool by_default, int err, struct buf *notes)
{
	struct perf_event_attr *attr = &def->attr;
	long long max;

	if (precise_max && attr->precise_ip && err != -EACCES && err != -EPERM) {
		attr->precise_ip--;
		return true;
	}
	if ((err == -EACCES || err == -EPERM) && !attr->exclude_kernel && !attr->exclude_user) {
		attr->exclude_kernel = 1;
		strlcat(def->name, strchr(def->name, ':') ? "u" : ":u", sizeof(def->name));
		session_note(notes,
			     "%s: no samples of the kernel: that needs CAP_PERFMON or "
			     "kernel.perf_event_paranoid < 2",
			     def->name);
		return true;
	}
	if (no_hardware(err) && attr->type == PERF_TYPE_HARDWARE &&
	    attr->config == PERF_COUNT_HW_CPU_CYCLES) {
		if (!by_default)
			session_note(notes, "%s: no such counter here: cpu-clock:I instead",
				     def->name);
		fall_back_to_clock(def);
		return true;
	}
	if (err != -EINVAL)
		return false;
	/* The kernel may have lowered its maximum since it was asked. */
	if (attr->freq && event_max_frequency(&max) == 0 && max > 0 &&
	    attr->sample_freq > (uint64_t)max) {
		session_note(notes,
			     "%s: frequency lowered from %llu to %lld Hz: "
			     "kernel.perf_event_max_sample_rate",
			     def->name, (unsigned long long)attr->sample_freq, max);
		attr->sample_freq = (uint64_t)max;
		return true;
	}
	if (attr->exclude_guest && !attr->exclude_host) {
		attr->exclude_guest = 0;
		return true;
	}
	return false;
}

/* Takes away from the attr what this kernel, machine and user do not have. */
static int
settle(struct event_def *def, bool precise_max, bool by_default, struct buf *notes,
       struct session_error *error)
{
	struct perf_event_attr scratch;
	int r;

	if (precise_max)
		def->attr.precise_ip = 3;
	do {
		scratch = def->attr;
		scratch.inherit = scratch.enable_on_exec = 0;
		r = try_open(&scratch);
		if (r == 0)
			return 0;
	} while (settle_step(def, precise_max, by_default, r, notes));
	return event_open_error(def, 0, -1, r, error);
}

/* --- the plan --------------------------------------------------------------------------- */

static int
parse_specs(const struct session_options *o, struct event_spec_list *list,
	    struct session_error *error)
{
	char text[320];
	int r = 0;

	if (!o->nr_events) {
		r = event_spec_parse("cycles:P", NULL, list, text, sizeof(text));
		if (r < 0)
			return session_fail(error, r, "out of memory");
	}
	for (size_t i = 0; r == 0 && i < o->nr_events; i++) {
		r = event_spec_parse(o->events[i], NULL, list, text, sizeof(text));
		if (r == -EINVAL)
			return session_usage(error, "%s", text);
		if (r < 0)
			return session_fail(error, r, "out of memory");
	}
	return 0;
}

static void
set_frequency(const struct session_options *o, struct event_plan *plan, struct buf *notes)
{
	long long max;

	if (o->period)
		return;
	plan->frequency_hz = o->frequency_hz ? o->frequency_hz : SESSION_FREQUENCY_HZ;
	plan->frequency_hz_effective = plan->frequency_hz;
	if (event_max_frequency(&max) == 0 && max > 0 && plan->frequency_hz > (uint64_t)max) {
		plan->frequency_hz_effective = (uint64_t)max;
		session_note(notes,
			     "frequency lowered from %llu to %lld Hz: "
			     "kernel.perf_event_max_sample_rate",
			     (unsigned long long)plan->frequency_hz, max);
	}
}

/* The records are the kernel's bytes, and readers take them for little-endian. */
static int
check_byte_order(struct session_error *error)
{
	if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		return 0;
	return session_fail(error, -EOPNOTSUPP,
			    "a big-endian machine cannot be recorded, only little-endian ones");
}

static int
check_call_graph(const struct session_options *o, struct session_error *error)
{
	if (o->call_graph != SESSION_CALL_GRAPH_DWARF)
		return 0;
	if (!USER_REGS)
		return session_fail(error, -EOPNOTSUPP,
				    "--call-graph dwarf is not supported on this architecture");
	if (o->stack_bytes % 8 || o->stack_bytes > STACK_BYTES_MAX)
		return session_usage(
			error,
			"the stack copied with a sample is a multiple of 8, and at most "
			"%d bytes",
			STACK_BYTES_MAX);
	return 0;
}

int
event_plan_make(const struct session_options *o, struct event_plan *ret, struct buf *notes,
		struct session_error *error)
{
	struct event_plan plan = { 0 };
	struct event_spec_list list = { 0 };
	struct features f = { 0 };
	int r = check_byte_order(error);

	if (r == 0)
		r = check_call_graph(o, error);
	if (r == 0)
		r = parse_specs(o, &list, error);
	if (r == 0)
		r = probe(o, &f, notes, error);
	if (r < 0)
		goto out;
	set_frequency(o, &plan, notes);
	plan.defs = calloc(list.nr + 1, sizeof(*plan.defs));
	if (!plan.defs) {
		r = session_fail(error, -ENOMEM, "out of memory");
		goto out;
	}
	for (size_t i = 0; r == 0 && i < list.nr; i++) {
		const struct event_spec *spec = &list.specs[i];

		sampling_def(o, &f, &plan, spec, &plan.defs[i]);
		r = settle(&plan.defs[i], spec->precise_max, !o->nr_events, notes, error);
		if (r == 0 && plan.defs[i].attr.freq &&
		    plan.defs[i].attr.sample_freq < plan.frequency_hz_effective && !spec->has_rate)
			plan.frequency_hz_effective = plan.defs[i].attr.sample_freq;
	}
	plan.sideband = list.nr;
	plan.nr = list.nr + 1;
	sideband_def(o, &f, &plan.defs[plan.sideband]);
out:
	event_spec_list_done(&list);
	if (r < 0)
		event_plan_done(&plan);
	else
		*ret = plan;
	return r;
}

void
event_plan_done(struct event_plan *plan)
{
	free(plan->defs);
	*plan = (struct event_plan){ 0 };
}

void
event_plan_rings(struct event_plan *plan, uint64_t sample_bytes, uint64_t sideband_bytes)
{
	for (size_t i = 0; i < plan->nr; i++) {
		bool sideband = plan->defs[i].sideband;
		uint64_t bytes = sideband ? sideband_bytes : sample_bytes;

		/*
		 * The kernel wakes whenever so many bytes have come, whether there was a wake-up for
		 * another ring meanwhile or not. Each costs: a large ring can wait, for it has room
		 * left for bursts.
		 */
		if (sideband)
			bytes = bytes >= 2 * SIDEBAND_ROOM ? bytes / 2 : bytes / 4;
		else
			bytes = bytes / 8 * 3;
		plan->defs[i].attr.wakeup_watermark = (uint32_t)bytes;
	}
}

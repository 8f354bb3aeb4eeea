/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bsd/string.h>

#include "format/bytes/buf.h"
#include "format/record/event_attr.h"
#include "recorder/event/event_aux.h"
#include "recorder/event/event_counters.h"
#include "recorder/event/event_features.h"
#include "recorder/event/event_filter.h"
#include "recorder/event/event_frequency.h"
#include "recorder/event/event_group.h"
#include "recorder/event/event_group_spec.h"
#include "recorder/event/event_missing.h"
#include "recorder/event/event_open.h"
#include "recorder/event/event_refusal.h"
#include "recorder/event/event_settle.h"
#include "recorder/event/event_shared.h"
#include "recorder/event/event_wakeups.h"
#include "recorder/event/sample_bound.h"
#include "recorder/event/tracefs.h"
#include "recorder/ground/session_error.h"

/* What of a sample is out of a process's memory or registers. */
#define CONTENTS                                                                                   \
	(PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR |                  \
	 PERF_SAMPLE_RAW | PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_AUX)
#define SIDEBAND_ROOM (64u << 10)
#define USER_EVENTS_MAX 64

/* --- attrs ------------------------------------------------------------------------------ */

static bool
of_tasks(const struct session_options *o)
{
	return o->target == SESSION_PID || o->target == SESSION_TID || o->target == SESSION_COMMAND;
}

static void
common_attr(const struct session_options *o, const struct event_features *f,
	    struct perf_event_attr *attr)
{
	attr->size = event_attr_size(attr);
	attr->disabled = 1;
	attr->inherit = of_tasks(o) && !o->extra.no_inherit && !o->extra.per_thread;
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->watermark = 1;
	attr->read_format = f->read_format;
	attr->sample_type |= PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		PERF_SAMPLE_CPU;
}

/* What the plan's events sample. */
struct samples {
	bool stacks;  /* copies of user stacks, which are recorded */
	bool unwound; /* copies of user stacks, which are unwound while it records */
	bool traces;
};

static struct samples
samples_of(const struct event_plan *plan)
{
	struct samples all = { 0 };

	for (size_t i = 0; i < plan->nr; i++) {
		all.stacks |= plan->defs[i].attr.sample_stack_user != 0;
		all.unwound |= plan->defs[i].unwind_bytes != 0;
		all.traces |= plan->defs[i].aux != 0;
	}
	return all;
}

static void
sideband_def(const struct session_options *o, const struct event_features *f,
	     const struct samples *all, struct event_def *def)
{
	*def = (struct event_def){ .sideband = true };
	strlcpy(def->name, "dummy:u", sizeof(def->name));
	def->attr.type = PERF_TYPE_SOFTWARE;
	def->attr.config = PERF_COUNT_SW_DUMMY;
	def->attr.exclude_kernel = 1;
	common_attr(o, f, &def->attr);
	event_attr_set_bits(&def->attr, event_attr_bits(&def->attr) | f->sideband);
	/* Unwinding needs .eh_frame, which lies in maps that are not executable. */
	def->attr.mmap_data = o->extra.data || all->stacks;
	/* The kernel tells a build-id or an inode. Where stacks are unwound, the inode says which file is whose. */
	if (all->unwound && o->build_ids == SESSION_BUILD_IDS_AUTO)
		event_attr_set_bits(&def->attr,
				    event_attr_bits(&def->attr) &
					    ~(UINT64_C(1) << EVENT_ATTR_build_id));
	event_extra_sideband(&o->extra, f->extra, &def->attr);
	/* A decoder has to know whose trace it is. */
	def->attr.context_switch |= all->traces;
	def->lost = f->read_format & PERF_FORMAT_LOST;
}

/* A limit of frames is no method, and so the session's counts. DEFAULT: nothing was said. */
static enum session_call_graph
asked_call_graph(const struct session_options *o, const struct event_spec *spec)
{
	if (!spec->has_call_graph)
		return o->call_graph;
	return spec->call_graph == SESSION_CALL_GRAPH_DEFAULT &&
			o->call_graph != SESSION_CALL_GRAPH_NONE
		? o->call_graph
		: spec->call_graph;
}

static enum session_call_graph
call_graph_of(const struct session_options *o, const struct event_spec *spec)
{
	const enum session_call_graph how = asked_call_graph(o, spec);

	if (how != SESSION_CALL_GRAPH_DEFAULT)
		return how;
	return o->overwrite || o->extra.user_regs || SESSION_REGISTERS == 0
		? SESSION_CALL_GRAPH_FP
		: SESSION_CALL_GRAPH_AUTO;
}

/* As perf has it; of the kernel the CPU keeps no such stack. */
static bool
stacks_by_lbr(const struct session_options *o, const struct event_spec *spec)
{
	return call_graph_of(o, spec) == SESSION_CALL_GRAPH_LBR && !spec->counts &&
		!spec->attr.exclude_user && !o->extra.all_kernel;
}

static void
call_graph(const struct session_options *o, const struct event_spec *spec, struct event_def *def)
{
	struct perf_event_attr *attr = &def->attr;
	enum session_call_graph how = call_graph_of(o, spec);
	uint32_t bytes = spec->stack_bytes ? spec->stack_bytes
		: o->stack_bytes	   ? o->stack_bytes
					   : SESSION_STACK_BYTES;

	if (how == SESSION_CALL_GRAPH_NONE)
		return;
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (stacks_by_lbr(o, spec)) {
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
			PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES;
	}
	if (how == SESSION_CALL_GRAPH_AUTO) {
		def->unwind_bytes = bytes;
		def->unwind_open = !spec->stack_bytes && !o->stack_bytes;
	}
	if (how != SESSION_CALL_GRAPH_DWARF)
		return;
	/* The kernel's part by frame pointers, the user's by registers and stack. */
	attr->exclude_callchain_user = 1;
	event_attr_copy_stack(attr, bytes);
}

/*
 * "Raw tracepoint data can be a severe data leak" (perf_trace_event_perm()): the kernel gives them
 * to our capabilities, and so asks nobody for whom we record.
 */
static bool
fields_denied(const struct session_options *o, const struct event_spec *spec)
{
	long long paranoid;

	return o->for_user && (spec->attr.sample_type & PERF_SAMPLE_RAW) &&
		(event_paranoid(&paranoid) < 0 || paranoid > -1);
}

/* Its terms are an address in the kernel, or a pointer into the memory of whoever opens it. */
static bool
is_probe(const struct event_spec *spec)
{
	return strcmp(spec->pmu, "kprobe") == 0 || strcmp(spec->pmu, "uprobe") == 0;
}

/* What costs others something by being open, whether it is on or off, so that no pause of samples bounds it. */
static int
check_traps(const struct event_spec *spec, struct session_error *error)
{
	if (strncmp(spec->tracepoint, "ftrace:", 7) == 0)
		return session_fail(
			error, -EPERM,
			"%s makes each function of the kernel slower, also while sampling is "
			"paused: it is for root, or for all with capture_cpu = 0",
			spec->name);
	if (tracefs_made_at_run_time(TRACEFS_ROOT, spec->tracepoint))
		return session_fail(
			error, -EPERM,
			"%s is a probe, whose trap slows whoever runs into it, also while "
			"sampling is paused: it is for root, or for all with capture_cpu = 0",
			spec->name);
	if (!spec->syscalls)
		return 0;
	return session_fail(error, -EPERM,
			    "%s makes each system call of the host slower, also while sampling is "
			    "paused: it is for root, or for all with capture_cpu = 0",
			    spec->name);
}

/*
 * The kernel gives events to our capabilities. Some take more of the host than a bound on samples
 * holds: a pinned or exclusive one has the counters to itself, and while a system call's tracepoint
 * is open, each system call of every process goes the slow way (syscall_regfunc()), whether it is
 * sampled or not. A tracepoint's number says nothing of that, so its name has to be given.
 */
static int
check_spec(const struct session_options *o, const struct event_spec *spec,
	   struct session_error *error)
{
	uint32_t type = spec->attr.type;

	if (SESSION_REGISTERS == 0 && call_graph_of(o, spec) == SESSION_CALL_GRAPH_DWARF)
		return session_fail(error, -EOPNOTSUPP,
				    "%s: call graph dwarf is not supported on this architecture",
				    spec->name);
	if (stacks_by_lbr(o, spec) && (spec->attr.branch_sample_type || o->extra.branches))
		return session_usage(error,
				     "%s: call graphs by lbr and branches (-b, -j, branch_type=) "
				     "exclude each other: a sample has one list of branches",
				     spec->name);
	if (!o->for_user)
		return 0;
	/* The session has looked at whose stacks and branches those are, of options alone. */
	if (spec->has_call_graph && spec->call_graph == SESSION_CALL_GRAPH_DWARF &&
	    o->call_graph != SESSION_CALL_GRAPH_DWARF)
		return session_fail(
			error, -EPERM,
			"%s: call-graph=dwarf of one event is for root: give it for all",
			spec->name);
	if (spec->has_call_graph && spec->call_graph == SESSION_CALL_GRAPH_LBR)
		return session_fail(
			error, -EPERM,
			"%s: call-graph=lbr is for root: the branches are those of the host",
			spec->name);
	if (spec->numbered || spec->attr.branch_sample_type)
		return session_fail(error, -EPERM,
				    "%s: events by number, and branch_type, are for root",
				    spec->name);
	if (spec->attr.pinned || spec->attr.exclusive)
		return session_fail(
			error, -EPERM,
			"%s: modifiers D and e keep others off the counters: they are for "
			"root",
			spec->name);
	if (is_probe(spec) ||
	    (*spec->pmu && (type == PERF_TYPE_TRACEPOINT || type == PERF_TYPE_BREAKPOINT)))
		return session_fail(error, -EPERM,
				    "%s: terms of the PMU %s are for root; tracepoints have names "
				    "(SUBSYSTEM:NAME), breakpoints addresses (mem:ADDR)",
				    spec->name, spec->pmu);
	return o->cpu_share && spec->tracepoint ? check_traps(spec, error) : 0;
}

/*
 * Not so many a second, but each, or each Nth by its term period=; without other samples, too. The
 * kernel wakes at each, and not by the bytes.
 */
static void
trigger_def(const struct event_spec *spec, struct event_def *def)
{
	struct perf_event_attr *attr = &def->attr;

	def->trigger = true;
	attr->watermark = 0;
	attr->wakeup_events = 1;
	attr->freq = 0;
	attr->sample_period = spec->has_rate ? spec->attr.sample_period : 1;
}

/* No samples: it loses none, and what they would have is not asked for. */
static void
counting_def(const struct session_options *o, const struct event_spec *spec, struct event_def *def)
{
	if (spec->has_inherit)
		def->attr.inherit = spec->inherit && of_tasks(o) && !o->extra.per_thread;
	def->counts = true;
	def->attr.watermark = 0;
	def->attr.read_format &= ~(uint64_t)PERF_FORMAT_LOST;
	def->attr.exclude_kernel |= o->extra.all_user;
	def->attr.exclude_user |= o->extra.all_kernel;
}

/* Stacks are copied to be unwound only where a chain of the user is wanted, and can be had. */
static void
settle_unwind(const struct session_options *o, struct event_def *def, struct buf *notes)
{
	const char *why = NULL;

	if (!def->unwind_bytes)
		return;
	if (SESSION_REGISTERS == 0)
		why = "on this architecture";
	else if (o->overwrite)
		why = "with --overwrite";
	else if (def->attr.sample_type & PERF_SAMPLE_REGS_USER)
		why = "with registers of the user";
	if (why)
		session_note(notes, "%s: call graphs %s follow frame pointers", def->name, why);
	if (why || def->attr.exclude_callchain_user)
		def->unwind_bytes = 0;
	/*
	 * The kernel makes the copy fit into a record before it adds these (perf_prepare_sample() of 6.18): the largest
	 * copies would make the record's 16 bits of size overflow.
	 */
	if (def->attr.sample_type & PERF_SAMPLE_REGS_INTR)
		def->unwind_open = false;
}

/* What of the event is as its string has it. */
static struct event_def
def_of_spec(const struct session_options *o, const struct event_spec *spec)
{
	struct event_def def = { .attr = spec->attr,
				 .named = spec->named,
				 .modified = spec->modified,
				 .unit = spec->unit,
				 .per_package = spec->unit.per_pkg && o->target == SESSION_ALL &&
					 (spec->counts || o->extra.no_samples),
				 .probe = is_probe(spec),
				 .place = spec->probe,
				 .more = spec->more,
				 .nr_more = spec->nr_more };

	strlcpy(def.name, spec->name, sizeof(def.name));
	return def;
}

static void
sampling_def(const struct session_options *o, const struct event_features *f,
	     const struct event_plan *plan, const struct event_spec *spec, struct event_def *def,
	     struct buf *notes)
{
	struct perf_event_attr *attr = &def->attr;

	*def = def_of_spec(o, spec);
	common_attr(o, f, attr);
	if (fields_denied(o, spec)) {
		attr->sample_type &= ~(uint64_t)PERF_SAMPLE_RAW;
		session_note(notes,
			     "%s: samples without the tracepoint's fields: those are for root, or "
			     "with kernel.perf_event_paranoid = -1",
			     def->name);
	}
	attr->enable_on_exec = o->target == SESSION_COMMAND && !o->starts_disabled;
	if (spec->counts) {
		counting_def(o, spec, def);
		return;
	}
	attr->sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD | f->sample_type;
	call_graph(o, spec, def);
	event_extra_apply(&o->extra, f->extra, attr);
	settle_unwind(o, def, notes);
	if (spec->has_inherit)
		attr->inherit = spec->inherit && of_tasks(o) && !o->extra.per_thread;
	def->lost = f->read_format & PERF_FORMAT_LOST;
	if (!spec->has_rate && (o->period || (spec->each && !o->frequency_hz))) {
		attr->sample_period = o->period ? o->period : 1;
	} else if (!spec->has_rate) {
		attr->freq = 1;
		attr->sample_freq = plan->frequency_hz_effective;
	} else if (attr->freq && !attr->context_switch) {
		def->own_hz = attr->sample_freq;
		if (plan->frequency_hz_limit && attr->sample_freq > plan->frequency_hz_limit)
			attr->sample_freq = plan->frequency_hz_limit;
	}
	/*
	 * A software event with a fixed period that is asked to tell the period gives a sample
	 * at every count (perf_swevent_event()). The attr tells it as well.
	 */
	if (!attr->freq && attr->sample_period > 1)
		attr->sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
	if (o->extra.no_samples)
		attr->freq = attr->sample_period = 0;
	attr->write_backward = o->overwrite;
	if (spec->trigger)
		trigger_def(spec, def);
	if (spec->wakeups)
		event_wakeups_def(o, def);
	def->aux = event_aux_tracer(spec->pmu);
	if (def->aux)
		event_aux_attr(PMU_SYSFS, spec->pmu, spec->has_rate || o->period, attr);
	/* Without a frequency samples may come at any rate: then stacks are copied only where that was asked for. */
	if (def->aux || o->extra.no_samples ||
	    (!attr->freq && asked_call_graph(o, spec) == SESSION_CALL_GRAPH_DEFAULT))
		def->unwind_bytes = 0;
}

/* --- the plan --------------------------------------------------------------------------- */

/*
 * Those from there on. With a frequency the kernel changes the period from sample to sample, and
 * which of the counts were hits cannot be read from the event.
 */
static int
mark_triggers(struct event_spec_list *list, size_t from, struct session_error *error)
{
	for (size_t i = from; i < list->nr; i++) {
		if (list->specs[i].attr.freq)
			return session_usage(error,
					     "%s: freq= of an event whose hits are waited for: "
					     "give period=N for each Nth, or neither for each",
					     list->specs[i].name);
		list->specs[i].trigger = true;
	}
	return 0;
}

static int
parse_specs(const struct session_options *o, const struct target *target,
	    struct event_spec_list *list, struct buf *notes, struct session_error *error)
{
	static const char *const by_default[] = { "cycles:P" };
	const char *const *events = o->nr_events ? o->events : by_default;
	const size_t nr = o->nr_events ? o->nr_events : 1;
	const struct event_spec fields = { .attr.sample_type = PERF_SAMPLE_RAW };
	char text[EVENT_SPEC_ERROR_BYTES];
	int r, waits = 0;

	list->skipped = o->extra.skip_missing ? notes : NULL;
	for (size_t i = 0; i < nr + 2; i++) {
		const char *one = i < nr ? events[i] : i == nr ? o->off_cpu : o->trigger;
		const size_t before = list->nr;

		/* What comes behind them is in no group: each wait, and each hit, has its sample. */
		if (i == nr && o->extra.group && event_group_spec_all(list, text, sizeof(text)) < 0)
			return session_usage(error, "%s", text);
		if (!one)
			continue;
		r = event_group_spec_parse(one, NULL, list, text, sizeof(text));
		if (r == -EINVAL)
			return session_usage(error, "%s", text);
		if (r < 0)
			return session_fail(error, r, "out of memory");
		r = event_filter_specs(o->filters && i < nr ? &o->filters[i] : NULL, list, before,
				       error);
		if (r == 0 && one == o->trigger)
			r = mark_triggers(list, before, error);
		if (r < 0)
			return r;
	}
	if (!list->nr)
		return session_usage(error, "%s", text);
	for (size_t i = 0; i < list->nr; i++)
		waits += list->specs[i].attr.context_switch;
	if (waits > 1)
		return session_usage(error, "off-cpu is given twice: one records every wait");
	/* Those of several control groups do not happen together. */
	r = o->cgroups ? 0 : event_shared_check(list, o->spare_shared, notes, error);
	if (r < 0)
		return r;
	/* Each is opened once to see if it can be, which for tracepoints stops all CPUs for a moment. */
	if (o->for_user && list->nr > USER_EVENTS_MAX)
		return session_fail(error, -EPERM, "%zu events, more than %d, are for root",
				    list->nr, USER_EVENTS_MAX);
	/* S: what samples have. Where there are none, readers would wait for those, and take no reading for a count. */
	for (size_t i = 0; i < list->nr; i++)
		list->specs[i].sample_read &= !o->extra.no_samples || list->specs[i].trigger;
	r = event_wakeups_add(o, fields_denied(o, &fields), list, notes, error);
	if (r < 0)
		return r;
	return event_counters_parse(o, target, list, error);
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

/*
 * A tracepoint that is opened and closed again makes the kernel wait for all CPUs, twice: of many that are alike, as
 * those of a pattern, the first is tried, and nothing had to be changed.
 */
static bool
is_settled(const struct event_plan *plan, const struct event_spec *spec)
{
	const struct event_def *def = &plan->defs[plan->nr - 1];
	struct perf_event_attr before;

	if (plan->nr < 2 || def->attr.type != PERF_TYPE_TRACEPOINT || spec->precise_max)
		return false;
	before = def[-1].attr;
	before.config = def->attr.config;
	return memcmp(&before, &def->attr, sizeof(before)) == 0;
}

/*
 * Whoever forks is given its parent's events, for which the kernel reads the place of a probe again, from the memory
 * of that task, where our pointer leads nowhere: its fork() fails (inherit_event(), perf_uprobe_event_init()).
 */
static void
spare_forks(struct event_def *def, struct buf *notes)
{
	if (!def->place || !def->attr.inherit)
		return;
	def->attr.inherit = 0;
	session_note(notes,
		     "%s: threads and processes that come later are not sampled: if they inherited "
		     "this event, fork(2) would fail; -a samples all tasks",
		     def->name);
}

/* The next event of the plan. */
static int
plan_event(const struct session_options *o, const struct target *target,
	   const struct event_features *f, struct event_spec *spec, struct event_plan *plan,
	   struct buf *notes, struct session_error *error)
{
	const struct event_settle_options settle = { .target = target,
						     .precise_max = spec->precise_max,
						     .counts = spec->counts,
						     .by_default = !o->nr_events };
	struct event_def *def = &plan->defs[plan->nr++];
	int r;

	sampling_def(o, f, plan, spec, def, notes);
	spec->probe = NULL;
	spec->more = NULL;
	spare_forks(def, notes);
	r = check_spec(o, spec, error);
	if (r == 0)
		r = event_aux_plan(o, spec, &plan->aux, error);
	if (r == 0 && event_filter_def(spec, def) < 0)
		r = session_fail(error, -ENOMEM, "out of memory");
	if (r < 0 || is_settled(plan, spec))
		return r;
	r = event_def_kinds(def, NULL, spec->pmu);
	if (r < 0)
		return session_fail(error, r, "%s: its CPUs cannot be read: %s", def->name,
				    strerror(-r));
	r = event_settle(def, &settle, notes, error);
	if (r == 0 && def->attr.freq && def->attr.sample_freq < plan->frequency_hz_effective &&
	    !spec->has_rate)
		plan->frequency_hz_effective = def->attr.sample_freq;
	return r;
}

static int
settle_groups(const struct session_options *o, const struct target *target,
	      struct event_spec_list *list, struct event_plan *plan, struct buf *notes,
	      struct session_error *error)
{
	size_t refused, had;
	int r;

	for (;;) {
		had = notes->len;
		r = event_groups_settle(plan->defs, list, target, notes, &refused, error);
		if (r == 0 || !o->extra.skip_missing)
			return r;
		notes->len = had; /* of weak groups, which are tried again */
		r = event_missing_leave_out(plan, list, refused, r, error, notes);
		if (r < 0)
			return r;
	}
}

/* They come however fast tasks switch: no pause of the samples, which is what a bound is held by, ends them. */
static int
check_switches(const struct session_options *o, struct session_error *error)
{
	if (!o->extra.switch_events || !o->for_user || !o->cpu_share)
		return 0;
	return session_fail(
		error, -EPERM,
		"records of each context switch have no bound: they are for root, or for "
		"all with capture_cpu = 0");
}

int
event_plan_make(const struct session_options *o, const struct target *target,
		struct event_plan *ret, struct buf *notes, struct session_error *error)
{
	struct event_plan plan = { 0 };
	struct event_spec_list list = { 0 };
	struct event_features f = { 0 };
	struct samples all;
	int r = check_byte_order(error);

	if (r == 0)
		r = check_switches(o, error);
	if (r == 0)
		r = parse_specs(o, target, &list, notes, error);
	if (r == 0)
		r = event_features_probe(o, &f, notes, error);
	if (r < 0)
		goto out;
	event_frequency_ask(o, &plan);
	plan.defs = calloc(list.nr + 1, sizeof(*plan.defs));
	if (!plan.defs) {
		r = session_fail(error, -ENOMEM, "out of memory");
		goto out;
	}
	while (r == 0 && plan.nr < list.nr) {
		const size_t i = plan.nr;

		r = plan_event(o, target, &f, &list.specs[i], &plan, notes, error);
		if (r < 0 && (o->extra.skip_missing || list.specs[i].wakeups))
			r = event_missing_leave_out(&plan, &list, i, r, error, notes);
	}
	if (r == 0)
		r = settle_groups(o, target, &list, &plan, notes, error);
	all = samples_of(&plan);
	/* Its event was left out. */
	if (!all.traces) {
		event_aux_free(plan.aux);
		plan.aux = NULL;
	}
	plan.sideband = list.nr;
	plan.nr = list.nr + 1;
	sideband_def(o, &f, &all, &plan.defs[plan.sideband]);
	if (r == 0)
		r = event_aux_settle(plan.aux, plan.defs, o, target, error);
	if (r == 0)
		r = event_frequency_bound(o, &plan, notes, error);
out:
	event_spec_list_done(&list);
	if (r < 0)
		event_plan_done(&plan);
	else
		*ret = plan;
	return r;
}

int
event_plan_look(struct event_plan *plan)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->nr; i++)
		r = event_def_look(&plan->defs[i], NULL);
	return r;
}

void
event_plan_done(struct event_plan *plan)
{
	for (size_t i = 0; i < plan->nr; i++)
		event_def_done(&plan->defs[i]);
	free(plan->defs);
	event_aux_free(plan->aux);
	*plan = (struct event_plan){ 0 };
}

size_t
event_plan_opened(const struct event_plan *plan)
{
	size_t nr = plan->nr;

	for (size_t i = 0; i < plan->nr; i++)
		nr += plan->defs[i].nr_more;
	return nr;
}

bool
event_plan_waits(const struct event_plan *plan)
{
	for (size_t i = 0; i < plan->nr; i++)
		if (!plan->defs[i].sideband && plan->defs[i].attr.context_switch)
			return true;
	return false;
}

bool
event_plan_contents(const struct event_plan *plan)
{
	for (size_t i = 0; i < plan->nr; i++) {
		const struct event_def *def = &plan->defs[i];
		const uint64_t wakeup = def->wakeups ? PERF_SAMPLE_RAW : 0;

		if (!def->counts && (def->aux || (def->attr.sample_type & CONTENTS & ~wakeup)))
			return true;
	}
	return false;
}

void
event_plan_rings(struct event_plan *plan, uint64_t sample_bytes, uint64_t sideband_bytes,
		 uint64_t aux_bytes)
{
	for (size_t i = 0; i < plan->nr; i++) {
		bool sideband = plan->defs[i].sideband;

		uint64_t bytes = sideband ? sideband_bytes : sample_bytes;

		if (plan->defs[i].aux)
			plan->defs[i].attr.aux_watermark = (uint32_t)(aux_bytes / 4);

		/* By the number of samples (wakeup_events), of which it is a union. */
		if (!plan->defs[i].attr.watermark)
			continue;
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

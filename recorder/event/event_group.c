/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/event_group.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "recorder/event/event_group_spec.h"
#include "recorder/event/event_open.h"
#include "recorder/event/event_refusal.h"

/* The events of one group. */
struct grouping {
	struct event_def *defs; /* the leader's first */
	const struct event_spec *specs;
	size_t nr;
	const struct target *target;
	struct perf_event_attr attrs[EVENT_GROUP_MAX]; /* as of the group */
};

/*
 * A member whose counts are in the samples of its leader takes none, unless it has a rate itself, as
 * each of a trigger's has.
 */
static void
member_attr(const struct event_spec *spec, const struct perf_event_attr *leader,
	    struct perf_event_attr *attr)
{
	attr->disabled = 0;
	attr->enable_on_exec = 0;
	if (!spec->sample_read)
		return;
	/* As the leader's, so that perf reads our exports: it delivers the leader's sample as theirs. */
	attr->sample_type = leader->sample_type;
	attr->branch_sample_type = leader->branch_sample_type;
	attr->sample_regs_user = leader->sample_regs_user;
	attr->sample_stack_user = leader->sample_stack_user;
	attr->sample_regs_intr = leader->sample_regs_intr;
	attr->exclude_callchain_kernel = leader->exclude_callchain_kernel;
	attr->exclude_callchain_user = leader->exclude_callchain_user;
	if (spec->has_rate || spec->trigger) {
		/* Else it had a sample at each count: see sampling_def(). */
		if (!attr->freq && attr->sample_period > 1)
			attr->sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
		return;
	}
	attr->freq = 0;
	attr->sample_period = 0;
	attr->precise_ip = 0; /* which samples alone have: x86_pmu_hw_config() refuses it */
}

static void
grouping_attrs(struct grouping *g)
{
	bool inherit = true;

	/* All of a group are inherited, or none (perf_event_open()). */
	for (size_t i = 0; i < g->nr; i++)
		inherit &= g->defs[i].attr.inherit;
	for (size_t i = 0; i < g->nr; i++) {
		struct perf_event_attr *attr = &g->attrs[i];

		*attr = g->defs[i].attr;
		attr->inherit = inherit;
		/* One read(2) of the leader has the counts of all, of one moment. */
		if (g->specs[i].counts)
			attr->read_format |= PERF_FORMAT_GROUP;
		if (g->specs[i].sample_read) {
			attr->sample_type |= PERF_SAMPLE_READ;
			if (g->nr > 1)
				attr->read_format |= PERF_FORMAT_GROUP;
		}
		if (i > 0)
			member_attr(&g->specs[i], &g->attrs[0], attr);
	}
}

/* What is opened of it on a CPU; false: nothing there. */
static bool
grouping_attr(const struct grouping *g, size_t i, uint32_t cpu, struct perf_event_attr *ret)
{
	struct event_def def = g->defs[i];

	def.attr = g->attrs[i];
	if (!event_def_attr(&def, cpu, ret))
		return false;
	if (!ret->sample_period)
		ret->precise_ip = 0;
	ret->enable_on_exec = 0;
	return true;
}

/* On one CPU, or on ourselves. 0; -errno, and *ret_refused the event that it is about. */
static int
grouping_try(const struct grouping *g, pid_t pid, uint32_t cpu, size_t *ret_refused)
{
	int fds[EVENT_GROUP_MAX], r = 0;
	size_t opened = 0;

	for (size_t i = 0; r == 0 && i < g->nr; i++) {
		struct perf_event_attr attr;

		if (!grouping_attr(g, i, cpu, &attr)) {
			if (i == 0)
				break;
			continue;
		}
		r = event_open_member(&attr, pid, pid < 0 ? (int)cpu : -1, opened ? fds[0] : -1, 0);
		if (r < 0) {
			*ret_refused = i;
			break;
		}
		fds[opened++] = r;
		r = 0;
	}
	while (opened > 0)
		(void)close(fds[--opened]);
	return r;
}

/* On the first CPU of each kind, as its events were settled. */
static int
grouping_settle(struct grouping *g, size_t *ret_refused, int *ret_cpu)
{
	const struct target *t = g->target;
	pid_t pid = target_of_cpus(t) ? -1 : 0;
	bool kinds = false;
	int r = 0;

	for (size_t i = 0; i < g->nr; i++)
		kinds |= g->defs[i].nr_kinds > 0;
	for (size_t i = 0; r == 0 && i < t->online.nr; i++) {
		if (!target_samples(t, t->online.cpus[i]))
			continue;
		*ret_cpu = pid < 0 ? (int)t->online.cpus[i] : -1;
		r = grouping_try(g, pid, t->online.cpus[i], ret_refused);
		if (!kinds)
			break;
	}
	return r;
}

/*
 * "We do not support PERF_SAMPLE_READ on inherited events" before Linux 6.12 (perf_event_alloc());
 * perf does without inheritance, too.
 */
static int
without_inheritance(struct grouping *g, int err, size_t *ret_refused, int *ret_cpu,
		    struct buf *notes)
{
	if (err != -EINVAL || !g->attrs[0].inherit || !(g->attrs[0].sample_type & PERF_SAMPLE_READ))
		return err;
	for (size_t i = 0; i < g->nr; i++)
		g->attrs[i].inherit = 0;
	if (grouping_settle(g, ret_refused, ret_cpu) == 0) {
		session_note(notes,
			     "%s: threads and processes that come later are not counted: this "
			     "kernel inherits no event whose samples have counts (Linux 6.12 does)",
			     g->defs[0].name);
		return 0;
	}
	for (size_t i = 0; i < g->nr; i++)
		g->attrs[i].inherit = 1;
	return err;
}

static void
grouping_commit(const struct grouping *g, size_t leader)
{
	for (size_t i = 0; i < g->nr; i++) {
		struct event_def *def = &g->defs[i];

		def->attr = g->attrs[i];
		def->member_of = i > 0 ? (uint32_t)leader + 1 : 0;
		if (!def->attr.sample_period) /* its leader samples */
			def->unwind_bytes = 0;
		for (size_t k = 0; !def->attr.sample_period && k < def->nr_kinds; k++)
			def->kinds[k].precise = 0;
	}
}

static int
settle_one(struct grouping *g, size_t leader, struct buf *notes, size_t *ret_refused,
	   struct session_error *error)
{
	size_t refused = 0;
	int cpu = -1, r;

	grouping_attrs(g);
	r = grouping_settle(g, &refused, &cpu);
	if (r < 0)
		r = without_inheritance(g, r, &refused, &cpu, notes);
	if (r == 0) {
		grouping_commit(g, leader);
		return 0;
	}
	if (g->specs[0].weak && g->nr > 1) {
		session_note(notes,
			     "%s: refused in the group of %s (%s): the group is weak, so each of "
			     "its events is opened alone and %s for itself",
			     g->defs[refused].name, g->defs[0].name, strerror(-r),
			     g->specs[0].counts ? "counts" : "samples");
		return 0;
	}
	*ret_refused = leader + refused;
	return event_group_error(&g->defs[refused], &g->defs[0], target_of_cpus(g->target) ? -1 : 0,
				 cpu, r, error);
}

/* "each cgroup is applied to the corresponding event", and all of a group are in that of their leader. */
static int
check_cgroups(const struct event_spec_list *specs, const struct target *t,
	      struct session_error *error)
{
	const struct event_spec *s = specs->specs;

	if (t->nr_cgroups > specs->nr)
		return session_usage(
			error,
			"%zu control groups of %zu events: each is of the event at its "
			"place; name an event for each (-e cycles,cycles -G A,B)",
			t->nr_cgroups, specs->nr);
	for (size_t i = 1; t->nr_cgroups > 1 && i < specs->nr; i++)
		if (s[i].group && s[i].group == s[i - 1].group && !target_same_cgroup(t, i, i - 1))
			return session_usage(error,
					     "%s and %s are counted together, but in two control "
					     "groups: name the same for all of a group",
					     s[i - 1].name, s[i].name);
	return 0;
}

int
event_groups_settle(struct event_def *defs, const struct event_spec_list *specs,
		    const struct target *target, struct buf *notes, size_t *ret_refused,
		    struct session_error *error)
{
	int r = check_cgroups(specs, target, error);

	for (size_t i = 0, nr; r == 0 && i < specs->nr; i += nr) {
		const struct event_spec *s = &specs->specs[i];
		struct grouping g = { .defs = &defs[i], .specs = s, .target = target };

		nr = 1;
		while (s->group && i + nr < specs->nr && s[nr].group == s->group)
			nr++;
		g.nr = nr;
		if (nr > 1 || s->sample_read)
			r = settle_one(&g, i, notes, ret_refused, error);
	}
	return r;
}

bool
event_group_reads(const struct event_def *member)
{
	return member->member_of && member->attr.read_format & PERF_FORMAT_GROUP;
}

int
event_group_error(const struct event_def *member, const struct event_def *leader, pid_t pid,
		  int cpu, int err, struct session_error *error)
{
	char where[64] = "";

	if (member == leader || err != -EINVAL)
		return event_open_error(member, pid, cpu, err, error);
	if (cpu >= 0)
		(void)snprintf(where, sizeof(where), " on CPU %d", cpu);
	if (pid > 0)
		(void)snprintf(where + strlen(where), sizeof(where) - strlen(where), " for task %d",
			       (int)pid);
	return session_fail(error, err,
			    "perf_event_open: EINVAL: %s: refused%s in the group of %s: these "
			    "counters are not free at once, or not of one kind: a smaller group, "
			    "or a weak one ({...}:W), of which each is then opened alone",
			    member->name, where, leader->name);
}

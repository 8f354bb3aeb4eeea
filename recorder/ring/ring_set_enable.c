/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sampling events that are turned on and off: all of them, or those of a name. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "format/block/gap.h"
#include "format/block/loss.h"
#include "recorder/ground/message.h"
#include "recorder/ring/ring_set_internal.h"

#define NOTE "asked to be off while others were on:"
#define NOTE_BYTES 512
#define NOTE_MORE 32 /* of them, for how many there was no room */

/* Members of a group are on and off with their leader, what only counts with all: it is on while any other is. */
static bool
is_turned(const struct event_def *def)
{
	return !def->sideband && !def->member_of && !def->counts;
}

static bool
others_on(const struct event_plan *plan, uint32_t index)
{
	for (uint32_t i = 0; i < plan->nr; i++)
		if (i != index && is_turned(&plan->defs[i]) && !plan->defs[i].off)
			return true;
	return false;
}

static void
control_event(const struct ring_set *s, uint32_t index, unsigned long request)
{
	for (size_t i = 0; i < s->nr; i++)
		cpu_rings_control_event(&s->cpus[i], index, request);
}

/* What it counted until now. */
static bool
send_reads(const struct ring_set *s, struct queue *q, uint32_t index,
	   const struct event_set *shapes, uint64_t now_ns)
{
	bool room = true;

	for (size_t i = 0; i < s->nr; i++)
		for (size_t k = 0; room && k < s->cpus[i].nr; k++)
			if (s->cpus[i].events[k].def == index && !s->cpus[i].events[k].retired)
				room = ring_set_send_read(&s->cpus[i], k, q, shapes, now_ns);
	return room;
}

/* The time when none is on is told as a gap, when it begins and when it is over. */
static bool
turn_gap(struct ring_set *s, struct queue *q, bool on, uint64_t now_ns)
{
	const struct gap gap = { .cause = LOSS_PAUSED,
				 .cpu = GAP_CPU_ALL,
				 .from_ns = on ? s->off_since_ns : now_ns,
				 .until_ns = on ? now_ns : 0 };

	if (on == !s->off_since_ns)
		return true;
	if (!queue_send_bytes(q, MESSAGE_GAP, &gap, sizeof(gap)))
		return false;
	s->off_since_ns = on ? 0 : now_ns;
	return true;
}

/* Each once in a file. False: no room; ask again. */
static bool
note_off(const struct ring_set *s, struct queue *q)
{
	const struct event_plan *plan = s->each.plan;
	char line[NOTE_BYTES] = NOTE;
	size_t n = strlen(line), more = 0;

	if (s->off_since_ns)
		return true;
	for (uint32_t i = 0; i < plan->nr; i++) {
		const struct event_def *def = &plan->defs[i];

		if (!def->off || def->off_told)
			continue;
		if (more || n + strlen(def->name) + NOTE_MORE > sizeof(line))
			more++;
		else
			n += (size_t)snprintf(line + n, sizeof(line) - n, " %s", def->name);
	}
	if (n == strlen(NOTE) && !more)
		return true;
	if (more)
		n += (size_t)snprintf(line + n, sizeof(line) - n, " and %zu more", more);
	if (!queue_send_bytes(q, MESSAGE_NOTE, line, n + 1))
		return false;
	for (uint32_t i = 0; i < plan->nr; i++)
		plan->defs[i].off_told |= plan->defs[i].off;
	return true;
}

static bool
tell_open_gap(struct queue *q, enum loss_cause cause, uint32_t cpu, uint64_t from_ns)
{
	const struct gap gap = { .cause = cause, .cpu = cpu, .from_ns = from_ns };

	return !from_ns || queue_send_bytes(q, MESSAGE_GAP, &gap, sizeof(gap));
}

bool
ring_set_gaps(const struct ring_set *s, struct queue *q)
{
	bool all = tell_open_gap(q, LOSS_PAUSED, GAP_CPU_ALL, s->off_since_ns);

	for (size_t i = 0; i < s->each.plan->nr; i++)
		s->each.plan->defs[i].off_told = false;
	all &= note_off(s, q);
	for (size_t i = 0; i < s->nr; i++)
		all &= tell_open_gap(q, LOSS_CPU_OFFLINE, s->cpus[i].cpu,
				     s->accounts[i].offline_since_ns);
	return all;
}

/* Each of these can be asked again where the queue had no room. */

static bool
turn_on(struct ring_set *s, struct queue *q, uint32_t index, const struct event_set *shapes,
	uint64_t now_ns)
{
	const struct event_plan *plan = s->each.plan;
	const bool first = s->off_since_ns;

	if (!plan->defs[index].off && !first)
		return true;
	/* Of all that are off, it alone is asked for. */
	for (uint32_t i = 0; first && i < plan->nr; i++)
		plan->defs[i].off |= is_turned(&plan->defs[i]);
	if (!send_reads(s, q, index, shapes, now_ns) || !turn_gap(s, q, true, now_ns))
		return false;
	plan->defs[index].off = false;
	if (first)
		ring_set_control(s, false, PERF_EVENT_IOC_ENABLE);
	else
		control_event(s, index, PERF_EVENT_IOC_ENABLE);
	return true;
}

static bool
turn_off(struct ring_set *s, struct queue *q, uint32_t index, const struct event_set *shapes,
	 uint64_t now_ns)
{
	const struct event_plan *plan = s->each.plan;
	const bool last = !others_on(plan, index);

	if (plan->defs[index].off || s->off_since_ns)
		return true;
	if (last)
		ring_set_control(s, false, PERF_EVENT_IOC_DISABLE);
	else
		control_event(s, index, PERF_EVENT_IOC_DISABLE);
	if (!send_reads(s, q, index, shapes, now_ns) || (last && !turn_gap(s, q, false, now_ns)))
		return false;
	plan->defs[index].off = true;
	return true;
}

bool
ring_set_enable(struct ring_set *s, struct queue *q, bool on, const struct event_set *shapes,
		uint64_t now_ns)
{
	const struct event_plan *plan = s->each.plan;

	for (uint32_t i = 0; on && i < plan->nr; i++) {
		if (!plan->defs[i].off)
			continue;
		if (!send_reads(s, q, i, shapes, now_ns))
			return false;
		plan->defs[i].off = false;
		if (!s->off_since_ns)
			control_event(s, i, PERF_EVENT_IOC_ENABLE);
	}
	if (on == !s->off_since_ns)
		return true;
	if (!turn_gap(s, q, on, now_ns))
		return false;
	ring_set_control(s, false, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE);
	return true;
}

/* 0; -ENOENT, -EINVAL, -EOPNOTSUPP with *error. */
static int
check_name(const struct event_plan *plan, const char *name, struct session_error *error)
{
	const struct event_def *member = NULL;
	bool found = false, counts = false;

	for (uint32_t i = 0; i < plan->nr; i++) {
		const struct event_def *def = &plan->defs[i];

		if (def->sideband || strcmp(def->name, name) != 0)
			continue;
		/* A wait would seem to go on through the time when nobody watched. */
		if (def->attr.context_switch)
			return session_fail(error, -EOPNOTSUPP,
					    "%s goes on and off only together with all events: a "
					    "wait is not known where switches were not recorded",
					    name);
		if (def->member_of && !def->counts)
			member = def;
		found |= is_turned(def);
		counts |= def->counts;
	}
	if (!found && member)
		return session_fail(error, -EINVAL,
				    "%s is in the group of %s, which goes on and off as a whole: "
				    "give that name",
				    name, plan->defs[member->member_of - 1].name);
	if (!found && counts)
		return session_fail(
			error, -EOPNOTSUPP,
			"%s is counted: counters go on and off only together with all events",
			name);
	return found ? 0 : session_fail(error, -ENOENT, "no event is called '%s'", name);
}

int
ring_set_enable_event(struct ring_set *s, struct queue *q, const char *name, bool on,
		      const struct event_set *shapes, uint64_t now_ns, struct session_error *error)
{
	const struct event_plan *plan = s->each.plan;
	int r = check_name(plan, name, error);

	for (uint32_t i = 0; r == 0 && i < plan->nr; i++)
		if (is_turned(&plan->defs[i]) && strcmp(plan->defs[i].name, name) == 0 &&
		    !(on ? turn_on(s, q, i, shapes, now_ns) : turn_off(s, q, i, shapes, now_ns)))
			r = -EAGAIN;
	return r == 0 && !note_off(s, q) ? -EAGAIN : r;
}

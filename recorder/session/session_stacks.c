/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much of a user's stack is copied to be unwound while a session runs. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "recorder/event/sample_bound.h"
#include "recorder/host/host.h"
#include "recorder/session/session_internal.h"

/* A ring is to hold the samples of a second's tenth, and at least a few. */
#define PARTS 10
#define SAMPLES_MIN 4
#define SAMPLE_BYTES 1024 /* of a sample beside its stack */
#define RETRY_NS (60 * SECOND_NS)
/* Where more than one sample in so many is lost, copies become smaller, and stay so for a time. */
#define LOST_SHARE 200
#define LOST_NS (60 * SECOND_NS)
#define SETTLE_NS (SECOND_NS * 3 / 2) /* from one such change to the next: more than one look */

uint64_t
session_stack_room(const struct event_def *def)
{
	return event_def_sizes_stack(def) ? stack_size_within(UINT64_MAX) * UINT64_C(2) / PARTS
					  : def->unwind_bytes;
}

/* Samples a second of a CPU whose copies are as large as is needed. */
static uint64_t
open_hz(const struct event_plan *plan)
{
	uint64_t hz = 0;

	for (size_t i = 0; i < plan->nr; i++)
		if (event_def_sizes_stack(&plan->defs[i]))
			hz += event_plan_hz(plan, &plan->defs[i]);
	return hz;
}

/* What a ring has room for, beside the copies whose size is given. */
static uint64_t
ring_room(const struct event_plan *plan, uint32_t ring_pages)
{
	const uint64_t samples = open_hz(plan) / PARTS;
	uint64_t room = ring_pages * (uint64_t)sysconf(_SC_PAGESIZE), others = 0;

	for (size_t i = 0; i < plan->nr; i++) {
		const struct event_def *def = &plan->defs[i];

		if (!event_def_sizes_stack(def))
			others += event_plan_hz(plan, def) *
				(def->unwind_bytes + (uint64_t)def->attr.sample_stack_user);
	}
	room -= others / PARTS < room ? others / PARTS : room;
	return room / (samples > SAMPLES_MIN ? samples : SAMPLES_MIN);
}

static uint64_t
copied_max(const struct session_options *o, const struct event_plan *plan)
{
	return o->cpu_share
		? sample_bound_copied(plan,
				      atomic_load_explicit(o->cpu_share, memory_order_relaxed))
		: UINT64_MAX;
}

/*
 * The largest one that rings have room for. Where the size cannot change later, the share has to do for stacks that are all
 * as large.
 */
static uint32_t
size_max(const struct session_options *o, const struct target *target,
	 const struct event_plan *plan, uint32_t ring_pages)
{
	const uint64_t room = ring_room(plan, ring_pages), hz = open_hz(plan);
	const uint64_t bytes = room > SAMPLE_BYTES ? room - SAMPLE_BYTES : 0;
	const uint64_t paid = target_of_cpus(target) ? UINT64_MAX
						     : copied_max(o, plan) / (hz ? hz : 1);

	return stack_size_within(bytes < paid ? bytes : paid);
}

/* Of a group, its members' as well. False: there is none. */
static bool
set_size(struct event_plan *plan, uint32_t bytes)
{
	bool any = false;

	for (size_t i = 0; i < plan->nr; i++)
		if (event_def_sizes_stack(&plan->defs[i])) {
			plan->defs[i].unwind_bytes = bytes;
			any = true;
		}
	return any;
}

uint32_t
session_size_stacks(const struct session_options *o, uint32_t ring_pages,
		    const struct target *target, struct event_plan *plan, struct buf *notes)
{
	const uint64_t room = ring_pages * (uint64_t)sysconf(_SC_PAGESIZE) / SAMPLES_MIN;
	const uint32_t bytes = room < SESSION_STACK_BYTES_LEAST + SAMPLE_BYTES
		? 0
		: size_max(o, target, plan, ring_pages);

	if (!set_size(plan, bytes))
		return 0;
	if (!bytes)
		session_note(notes,
			     "rings of %u pages have no room for copies of stacks: call graphs "
			     "follow frame pointers",
			     ring_pages);
	return target_of_cpus(target) ? bytes : 0;
}

/* The largest one that is copied. */
static uint32_t
publish_size(struct session *s)
{
	uint32_t most = 0;

	for (size_t i = 0; i < s->plan.nr; i++)
		if (s->plan.defs[i].unwind_bytes > most)
			most = s->plan.defs[i].unwind_bytes;
	atomic_store_explicit(&s->stack_bytes, most, memory_order_relaxed);
	return most;
}

int
session_set_opened(struct session *s)
{
	if (!publish_size(s))
		return 0;
	s->opened = calloc(s->plan.nr, sizeof(*s->opened));
	for (size_t i = 0; s->opened && i < s->plan.nr; i++) {
		struct perf_event_attr attr = s->plan.defs[i].attr;
		struct span raw = span_of(&attr, attr.size);

		/* The stack of an event with call graph dwarf is recorded. */
		if (!s->plan.defs[i].unwind_bytes)
			continue;
		event_def_copy_stack(&s->plan.defs[i], &attr);
		(void)event_attr_parse(&raw, &s->opened[i]);
	}
	return s->opened ? 0 : -ENOMEM;
}

static void
tell_limit(struct session *s, uint32_t max)
{
	char line[200];

	if (s->stacks_told)
		return;
	s->stacks_told = true;
	snprintf(
		line, sizeof(line),
		"more than 0.5 %% of stacks end at the copied %u KiB: at this frequency the rings have "
		"no room for larger copies",
		max >> 10);
	writer_tell(s->writer, line);
}

/* Samples that the kernel had no room for since the last look, at least: a CPU that went takes its own with it. */
static uint64_t
lost_since(struct session *s)
{
	const uint64_t before = s->stacks_lost;

	s->stacks_lost = 0;
	for (size_t i = 0; i < s->rings.nr; i++)
		s->stacks_lost += s->rings.cpus[i].lost_samples;
	return s->stacks_lost > before ? s->stacks_lost - before : 0;
}

/* Of the CPU with most of them, since the last look. */
static uint64_t
copied_since(struct session *s)
{
	uint64_t most = 0;

	for (size_t i = 0; i < s->rings.nr; i++) {
		struct cpu_rings *c = &s->rings.cpus[i];
		const uint64_t copied = c->copied - c->copied_seen;

		c->copied_seen = c->copied;
		most = copied > most ? copied : most;
	}
	return most;
}

static bool
over_share(const struct session *s, uint64_t copied, uint64_t passed_ns)
{
	return passed_ns > MS_NS &&
		copied / (passed_ns / MS_NS) * 1000 > copied_max(&s->options, &s->plan);
}

/*
 * A stack that is cut is better than a sample that is lost, or not taken since the share is used up. What the events lost
 * before they were opened anew shows at the next look: it does not count again.
 */
static void
bound_size(struct session *s, uint32_t is, uint64_t now_ns)
{
	const uint64_t lost = lost_since(s), copied = copied_since(s);
	const uint64_t passed_ns = now_ns - s->stacks_seen_ns;
	const bool over = s->stacks_seen_ns && over_share(s, copied, passed_ns);

	s->stacks_seen_ns = now_ns;
	if ((lost * LOST_SHARE <= open_hz(&s->plan) * s->rings.nr && !over) ||
	    now_ns + LOST_NS < s->stacks_most_until_ns + SETTLE_NS)
		return;
	s->stacks_most = stack_size_within(is - 1);
	s->stacks_most_until_ns = now_ns + LOST_NS;
	s->stacks_over = over;
}

static void
tell_bound(struct session *s, uint32_t bytes, uint32_t before)
{
	char line[160];

	if (s->stacks_bound_told[s->stacks_over] || bytes >= before)
		return;
	s->stacks_bound_told[s->stacks_over] = true;
	snprintf(line, sizeof(line), "%s: %u KiB of each stack are copied now, instead of %u",
		 s->stacks_over ? "copies of stacks took more than capture_cpu allows"
				: "samples were lost, as rings were full",
		 bytes >> 10, before >> 10);
	writer_tell(s->writer, line);
}

static int
open_anew(struct session *s, uint32_t bytes)
{
	int r = 0;

	(void)set_size(&s->plan, bytes);
	for (uint32_t i = 0; r == 0 && i < s->plan.nr; i++)
		if (event_def_sizes_stack(&s->plan.defs[i]) && !s->plan.defs[i].member_of)
			r = ring_set_renew(&s->rings, i, writer_queue(s->writer), s->shapes,
					   host_now_ns());
	session_watch_renewed(s);
	return r;
}

/* The size that is to be: what walks want, as far as rings have room and no samples are lost. */
static uint32_t
next_size(struct session *s, uint32_t is, uint32_t wanted, uint64_t now_ns)
{
	const uint32_t max = size_max(&s->options, &s->target, &s->plan, s->rings.each.pages);

	if (!wanted)
		wanted = is;
	if (wanted > max) {
		if (wanted > is)
			tell_limit(s, max);
		wanted = max;
	}
	return now_ns < s->stacks_most_until_ns && s->stacks_most < wanted ? s->stacks_most
									   : wanted;
}

void
session_follow_stacks(struct session *s, bool second, uint64_t now_ns)
{
	const uint32_t is = atomic_load_explicit(&s->stack_size.bytes, memory_order_relaxed);
	uint32_t wanted = atomic_load_explicit(&s->stack_size.wanted, memory_order_relaxed), next;
	int r;

	if (is && second)
		bound_size(s, is, now_ns);
	/* What was refused is tried again a second later: each time some rings are closed and opened. */
	if (!is || (!second && (wanted <= is || s->stacks_due)) || now_ns < s->stacks_retry_ns)
		return;
	next = next_size(s, is, wanted, now_ns);
	if (next == is && !s->stacks_due)
		return;
	r = open_anew(s, next);
	/* Some have another size than the rest. */
	s->stacks_due = r < 0;
	if (r < 0 && r != -EAGAIN)
		s->stacks_retry_ns = now_ns + RETRY_NS;
	if (r < 0)
		return;
	if (next == s->stacks_most && now_ns < s->stacks_most_until_ns)
		tell_bound(s, next, is);
	atomic_store_explicit(&s->stack_size.bytes, next, memory_order_relaxed);
	/* It is done, unless the writer thread has said another one meanwhile. */
	(void)atomic_compare_exchange_strong(&s->stack_size.wanted, &wanted, 0);
	(void)publish_size(s);
	session_set_timer(s);
}

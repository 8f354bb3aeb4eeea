/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much of a user's stack is copied to be unwound while a session runs. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "recorder/host/host.h"
#include "recorder/session/session_internal.h"

/* A ring is to hold the samples of a second's tenth, whatever they copy. */
#define PARTS 10

/* What is not asked for by a frequency may come at any rate. */
static bool
is_open(const struct event_def *def)
{
	return def->unwind_bytes && def->unwind_open && def->attr.freq;
}

uint64_t
session_stack_room(const struct session_options *o, const struct event_def *def)
{
	return is_open(def) && !o->cpu_share ? stack_size_within(UINT64_MAX) * UINT64_C(2) / PARTS
					     : def->unwind_bytes;
}

/* The largest one that rings have room for. */
static uint32_t
size_max(const struct event_plan *plan, uint32_t ring_pages)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t max = 1;

	for (size_t i = 0; i < plan->nr; i++) {
		const struct event_def *def = &plan->defs[i];
		const uint64_t hz = def->own_hz ? def->own_hz : plan->frequency_hz_effective;

		if (is_open(def) && hz > max)
			max = hz;
	}
	return stack_size_within(ring_pages * page * PARTS / max);
}

uint32_t
session_size_stacks(const struct session_options *o, const struct target *target,
		    struct event_plan *plan)
{
	const uint32_t bytes = size_max(plan, o->ring_pages);
	bool any = false;

	/* A share of the CPU was counted out with the size that there is. */
	if (o->cpu_share)
		return 0;
	for (size_t i = 0; i < plan->nr; i++)
		if (is_open(&plan->defs[i])) {
			plan->defs[i].unwind_bytes = bytes;
			any = true;
		}
	return any && target_of_cpus(target) ? bytes : 0;
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

/* 0; -EAGAIN: some CPUs have another size yet; -errno. */
static int
open_anew(struct session *s, uint32_t bytes)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < s->plan.nr; i++) {
		struct event_def *def = &s->plan.defs[i];

		if (!is_open(def) || def->member_of)
			continue;
		def->unwind_bytes = bytes;
		r = ring_set_renew(&s->rings, i, writer_queue(s->writer), s->shapes, host_now_ns());
	}
	for (size_t i = 0; i < s->rings.nr; i++)
		s->unsettled |= session_watch_cpu(s, &s->rings.cpus[i]) < 0;
	return r;
}

void
session_follow_stacks(struct session *s)
{
	const uint32_t is = atomic_load_explicit(&s->stack_size.bytes, memory_order_relaxed),
		       max = size_max(&s->plan, s->rings.each.pages);
	uint32_t wanted = atomic_load_explicit(&s->stack_size.wanted, memory_order_relaxed);
	int r;

	if (!is)
		return;
	if (!wanted)
		wanted = is;
	if (wanted > max) {
		if (wanted > is)
			tell_limit(s, max);
		wanted = max;
	}
	if (wanted == is)
		return;
	r = open_anew(s, wanted);
	if (r == -EAGAIN)
		return;
	/* What could not be opened stays as it was, and is not tried each second. */
	atomic_store_explicit(&s->stack_size.bytes, r < 0 ? 0 : wanted, memory_order_relaxed);
	session_set_timer(s);
}

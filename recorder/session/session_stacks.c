/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much of a user's stack is copied to be unwound while a session runs. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "recorder/host/host.h"
#include "recorder/session/session_internal.h"

/* Of events of tasks, which cannot be opened anew, because the kernel hands them on to tasks that begin: a second. */
#define CPU_BYTES (UINT64_C(8) << 20)
#define TASK_BYTES (UINT64_C(2) << 20)
/* A ring is to hold the samples of a second's tenth, whatever they copy. */
#define RINGS_A_SECOND 10

static uint64_t
hz_of(const struct event_plan *plan, const struct event_def *def)
{
	const uint64_t hz = def->own_hz ? def->own_hz : plan->frequency_hz_effective;

	return hz ? hz : SESSION_FREQUENCY_HZ;
}

bool
session_size_stacks(const struct session_options *o, const struct target *target,
		    struct event_plan *plan)
{
	const bool follows = target_of_cpus(target) && !o->cpu_share;
	bool any = false;

	for (size_t i = 0; i < plan->nr; i++) {
		struct event_def *def = &plan->defs[i];
		const uint64_t bytes = target->per_thread ? TASK_BYTES : CPU_BYTES;

		if (!def->unwind_bytes || !def->unwind_open)
			continue;
		any = true;
		/* A share of the CPU was counted out with the size that there is. */
		if (!target_of_cpus(target) && !o->cpu_share && !o->period)
			def->unwind_bytes = stack_size_within(bytes / hz_of(plan, def));
	}
	return any && follows;
}

static uint32_t
size_max(const struct session *s)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t hz = 1;

	for (size_t i = 0; i < s->plan.nr; i++)
		if (s->plan.defs[i].unwind_open && hz_of(&s->plan, &s->plan.defs[i]) > hz)
			hz = hz_of(&s->plan, &s->plan.defs[i]);
	return stack_size_within(s->rings.each.pages * page * RINGS_A_SECOND / hz);
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

		if (!def->unwind_open || !def->unwind_bytes || def->member_of)
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
		       max = size_max(s);
	uint32_t wanted = atomic_load_explicit(&s->stack_size.wanted, memory_order_relaxed);
	int r;

	if (!is || !wanted)
		return;
	if (wanted > max) {
		wanted = max;
		tell_limit(s, max);
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

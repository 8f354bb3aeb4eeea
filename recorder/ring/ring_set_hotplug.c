/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPUs that come and go. */
#include <errno.h>
#include <stdlib.h>

#include "format/block/gap.h"
#include "format/block/loss.h"
#include "recorder/ground/message.h"
#include "recorder/host/host.h"
#include "recorder/ring/ring_set_internal.h"

static size_t
find_cpu(const struct ring_set *s, uint32_t cpu)
{
	size_t i = 0;

	while (i < s->nr && s->cpus[i].cpu != cpu)
		i++;
	return i;
}

bool
ring_set_has(const struct ring_set *s, uint32_t cpu)
{
	size_t i = find_cpu(s, cpu);

	return i < s->nr && s->cpus[i].nr && !s->cpus[i].dead;
}

/* In one message: each makes a META block. */
static bool
send_ids(const struct cpu_rings *c, struct queue *q, bool closed)
{
	struct message_id *to = (void *)queue_reserve(q, c->nr * sizeof(*to));

	if (!to)
		return false;
	for (size_t k = 0; k < c->nr; k++)
		to[k] = (struct message_id){ c->events[k].id, c->events[k].def, closed };
	queue_commit(q, MESSAGE_IDS, 0, 0, c->nr * sizeof(*to));
	return true;
}

bool
ring_set_forget(struct ring_set *s, size_t i, struct queue *q)
{
	struct cpu_rings *c = &s->left[i];

	if (!send_ids(c, q, true))
		return false;
	cpu_rings_close(c);
	*c = s->left[--s->nr_left];
	return true;
}

/* Of a CPU that has gone before. False: no room in the queue. */
static bool
forget_before(struct ring_set *s, uint32_t cpu, struct queue *q)
{
	const struct cpu_rings *left = ring_set_left_of(s, cpu);

	return !left || ring_set_forget(s, (size_t)(left - s->left), q);
}

/*
 * The map keeps the kernel's memory, also without the descriptors. False: there is nothing in it to be read later, or
 * no memory to remember it by.
 */
static bool
leave(struct ring_set *s, const struct cpu_rings *c, uint64_t now_ns)
{
	struct cpu_rings *left;

	if (!c->back.page)
		return false;
	left = reallocarray(s->left, s->nr_left + 1, sizeof(*left));
	if (!left)
		return false;
	s->left = left;
	left = &s->left[s->nr_left++];
	*left = *c;
	left->gone_ns = now_ns;
	left->corrupt = 0;
	ring_unmap(&left->sideband);
	cpu_rings_detach(left);
	return true;
}

bool
ring_set_cpu_gone(struct ring_set *s, size_t i, struct queue *q, const struct event_set *shapes)
{
	struct ring_set_account *a = &s->accounts[i];
	struct cpu_rings *c = &s->cpus[i];
	struct gap gap = { .cause = LOSS_CPU_OFFLINE, .cpu = c->cpu };
	uint64_t moved = 0, now_ns;

	if (!c->stopped)
		aux_ring_stop(&c->aux, s->each.aux_snapshot_bytes);
	c->stopped = true;
	if (!ring_set_drain(s, c, &c->sideband, q, &moved) ||
	    !ring_set_drain(s, c, &c->samples, q, &moved) || !ring_set_drain_aux(s, i, q, true))
		return false;
	/* Now, and not when it was seen to be gone: what has just been taken is in no gap. */
	now_ns = host_now_ns();
	if (!ring_set_send_reads(s, c, q, shapes, now_ns, RING_SET_DETACHED) ||
	    !forget_before(s, c->cpu, q) || !queue_reserve(q, RING_SET_CHANGE_BYTES))
		return false;
	cpu_rings_count(c, s->each.plan);
	ring_set_tell_cpu(c, a, q, now_ns);
	if (a->sampling.off_since_ns)
		sample_account_turn(&a->sampling, true, now_ns);
	a->before = ring_set_counts(c, a, now_ns);
	a->paid_records = a->paid_copied = a->paid_ns = 0;
	if (target_samples(s->each.target, c->cpu)) {
		a->offline_since_ns = gap.from_ns = now_ns;
		queue_send_bytes(q, MESSAGE_GAP, &gap, sizeof(gap));
	}
	if (!leave(s, c, now_ns)) {
		send_ids(c, q, true);
		cpu_rings_close(c);
	}
	*c = (struct cpu_rings){ .cpu = c->cpu };
	return true;
}

/* The place of a CPU, which may be new; -1: out of memory. */
static ssize_t
ring_set_place(struct ring_set *s, uint32_t cpu)
{
	struct ring_set_account *accounts;
	struct cpu_rings *cpus;
	size_t i = find_cpu(s, cpu);

	if (i < s->nr)
		return (ssize_t)i;
	cpus = reallocarray(s->cpus, s->nr + 1, sizeof(*cpus));
	if (!cpus)
		return -1;
	s->cpus = cpus;
	accounts = reallocarray(s->accounts, s->nr + 1, sizeof(*accounts));
	if (!accounts)
		return -1;
	s->accounts = accounts;
	cpus[i] = (struct cpu_rings){ .cpu = cpu };
	accounts[i] = (struct ring_set_account){ 0 };
	s->nr++;
	return (ssize_t)i;
}

/* What was left counts against the mlock quota: that of this CPU goes, else the oldest. */
static bool
forget_for(struct ring_set *s, uint32_t cpu, struct queue *q)
{
	size_t which = 0;

	if (ring_set_left_of(s, cpu))
		return forget_before(s, cpu, q);
	for (size_t i = 0; i < s->nr_left; i++)
		if (s->left[i].gone_ns < s->left[which].gone_ns)
			which = i;
	return ring_set_forget(s, which, q);
}

/* Rings that record are worth more than one that was left. */
static int
open_rings(struct ring_set *s, uint32_t cpu, struct queue *q, struct cpu_rings *ret,
	   struct session_error *error)
{
	bool mlock = false;
	int r = cpu_rings_open(ret, cpu, 0, &s->each, &mlock, error);

	if (r != -EPERM || !mlock || !s->nr_left)
		return r;
	if (!forget_for(s, cpu, q) || !queue_reserve(q, RING_SET_CHANGE_BYTES))
		return -EAGAIN;
	return cpu_rings_open(ret, cpu, 0, &s->each, &mlock, error);
}

int
ring_set_cpu_came(struct ring_set *s, uint32_t cpu, struct queue *q, const struct event_set *shapes,
		  const struct cpu_rings **ret, struct session_error *error)
{
	struct gap gap = { .cause = LOSS_CPU_OFFLINE, .cpu = cpu };
	struct ring_set_account *a;
	struct cpu_rings opened;
	ssize_t i;
	int r;

	if (!queue_reserve(q, RING_SET_CHANGE_BYTES))
		return -EAGAIN;
	i = ring_set_place(s, cpu);
	if (i < 0)
		return session_fail(error, -ENOMEM, "out of memory");
	/* What was there has not been taken yet. */
	if (s->cpus[i].nr)
		return -EAGAIN;
	r = open_rings(s, cpu, q, &opened, error);
	if (r < 0)
		return r;
	s->cpus[i] = opened;
	a = &s->accounts[i];
	gap.from_ns = a->offline_since_ns;
	if (gap.from_ns) {
		gap.until_ns = host_now_ns();
		a->before.offline_ns += gap.until_ns - gap.from_ns;
		a->offline_since_ns = 0;
		queue_send_bytes(q, MESSAGE_GAP, &gap, sizeof(gap));
	}
	send_ids(&s->cpus[i], q, false);
	/* From nothing on. */
	(void)ring_set_send_reads(s, &s->cpus[i], q, shapes, host_now_ns(), RING_SET_COUNTING);
	s->cpus[i].told = 0;
	cpu_rings_control(&s->cpus[i], s->each.plan, true, PERF_EVENT_IOC_ENABLE);
	if (!s->off_since_ns)
		cpu_rings_control(&s->cpus[i], s->each.plan, false, PERF_EVENT_IOC_ENABLE);
	*ret = &s->cpus[i];
	return 0;
}

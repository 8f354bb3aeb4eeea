/* SPDX-License-Identifier: GPL-2.0-or-later */
/* AUX areas: from the memory of a tracer to the queue. */
#include <linux/perf_event.h>
#include <string.h>

#include "format/block/aux_trace.h"
#include "recorder/ground/message.h"
#include "recorder/ring/ring_set_internal.h"

/* Of one message; whole words. */
#define PIECE_BYTES (QUEUE_MESSAGE_MAX - sizeof(struct message_aux))
_Static_assert(PIECE_BYTES % 8 == 0, "only the last piece of a trace is no whole word");

static void
control(const struct ring_set *s, const struct cpu_rings *c, unsigned long request)
{
	const struct event_plan *plan = s->each.plan;

	for (uint32_t i = 0; i < plan->nr; i++)
		if (plan->defs[i].aux && !plan->defs[i].off)
			cpu_rings_control_event(c, i, request);
}

static bool
may_be_on(const struct ring_set *s, size_t i)
{
	return !s->off_since_ns && !s->accounts[i].sampling.off_since_ns;
}

bool
ring_set_drain_aux(const struct ring_set *s, size_t i, struct queue *q, bool at_end)
{
	struct cpu_rings *c = &s->cpus[i];
	bool one_cpu = c->cpu != CPU_RINGS_ANY;
	struct message_aux head = { .ring = one_cpu ? c->cpu : (uint32_t)i,
				    .cpu = c->cpu,
				    .tid = one_cpu ? UINT32_MAX : (uint32_t)c->task,
				    .flags = c->aux.snapshot ? AUX_PIECE_SNAPSHOT : 0 };
	const uint32_t flags = head.flags;
	uint64_t moved = 0;
	size_t n = 0;

	if (!c->aux.page)
		return true;
	/* No more than once round, as with records. A tracer whose area was full is off, and waits to be turned on. */
	while (moved < c->aux.size &&
	       (n = aux_ring_pending(&c->aux, at_end || c->aux.snapshot, &c->corrupt)) > 0) {
		uint8_t *to;

		head.flags = flags | (n > PIECE_BYTES ? AUX_PIECE_MORE : 0);
		n = n < PIECE_BYTES ? n : PIECE_BYTES;
		to = queue_reserve(q, sizeof(head) + n);
		if (!to) {
			c->queue_full++;
			break;
		}
		aux_ring_copy(&c->aux, to + sizeof(head), n, &head.offset);
		memcpy(to, &head, sizeof(head));
		queue_commit(q, MESSAGE_AUX, 0, 0, sizeof(head) + n);
		aux_ring_consume(&c->aux, n);
		moved += n;
	}
	if (moved && !at_end && !c->aux.snapshot && may_be_on(s, i))
		control(s, c, PERF_EVENT_IOC_ENABLE);
	return n == 0 || moved >= c->aux.size;
}

void
ring_set_snapshot(const struct ring_set *s, bool begins)
{
	for (size_t i = 0; i < s->nr; i++) {
		struct cpu_rings *c = &s->cpus[i];

		if (begins)
			control(s, c, PERF_EVENT_IOC_DISABLE);
		else if (may_be_on(s, i))
			control(s, c, PERF_EVENT_IOC_ENABLE);
		if (begins)
			aux_ring_stop(&c->aux, s->each.aux_snapshot_bytes);
	}
}

bool
ring_set_snapshot_passed(const struct ring_set *s)
{
	bool all = true;

	for (size_t i = 0; i < s->nr; i++)
		all &= aux_ring_passed(&s->cpus[i].aux);
	return all;
}

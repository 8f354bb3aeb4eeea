/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was lost on each CPU, and what the events counted. */
#include "recorder/ring/ring_set_internal.h"

#include "format/block/loss.h"
#include "format/record/record_build.h"
#include "recorder/event/event_group.h"
#include "recorder/ground/message.h"

/* --- losses ----------------------------------------------------------------------------- */

static bool
ring_set_tell(struct queue *q, uint32_t cpu, enum loss_cause cause, uint64_t now, uint64_t *sent)
{
	if (now == *sent)
		return true;
	if (!queue_send(q, MESSAGE_LOSS, (uint64_t)cpu << 32 | cause, now))
		return false;
	*sent = now;
	return true;
}

struct ring_set_counts
ring_set_counts(const struct cpu_rings *c, const struct ring_set_account *a, uint64_t now_ns)
{
	struct ring_set_counts n = a->before;

	n.lost_samples += c->lost_samples;
	n.lost_sideband += c->lost_sideband;
	n.corrupt += c->corrupt;
	n.queue_full += c->queue_full;
	if (a->offline_since_ns)
		n.offline_ns += now_ns - a->offline_since_ns;
	n.paused_ns = sample_account_off_ns(&a->sampling, now_ns);
	return n;
}

static bool
tell_counts(struct queue *q, uint32_t cpu, const struct ring_set_counts *n,
	    struct ring_set_counts *sent)
{
	bool all;

	all = ring_set_tell(q, cpu, LOSS_KERNEL_SAMPLES, n->lost_samples, &sent->lost_samples);
	all &= ring_set_tell(q, cpu, LOSS_KERNEL_SIDEBAND, n->lost_sideband, &sent->lost_sideband);
	all &= ring_set_tell(q, cpu, LOSS_CORRUPT, n->corrupt, &sent->corrupt);
	all &= ring_set_tell(q, cpu, LOSS_QUEUE_FULL, n->queue_full, &sent->queue_full);
	all &= ring_set_tell(q, cpu, LOSS_CPU_OFFLINE, n->offline_ns, &sent->offline_ns);
	all &= ring_set_tell(q, cpu, LOSS_PAUSED, n->paused_ns, &sent->paused_ns);
	return all;
}

bool
ring_set_tell_cpu(const struct cpu_rings *c, struct ring_set_account *a, struct queue *q,
		  uint64_t now_ns)
{
	struct ring_set_counts n = ring_set_counts(c, a, now_ns);

	return tell_counts(q, c->cpu, &n, &a->sent);
}

/* Those of threads are of no CPU: the ledger has one account for all, whose total the first one keeps. */
static bool
tell_threads(struct ring_set *s, struct queue *q, uint64_t now_ns, bool *ret_resync)
{
	struct ring_set_counts sum = { 0 }, *sent;

	if (!s->nr)
		return true;
	sent = &s->accounts[0].sent;
	for (size_t i = 0; i < s->nr; i++) {
		struct ring_set_counts n;

		cpu_rings_count(&s->cpus[i], s->each.plan);
		n = ring_set_counts(&s->cpus[i], &s->accounts[i], now_ns);
		sum.lost_samples += n.lost_samples;
		sum.lost_sideband += n.lost_sideband;
		sum.corrupt += n.corrupt;
		sum.queue_full += n.queue_full;
	}
	*ret_resync |= sum.lost_sideband > sent->lost_sideband;
	return tell_counts(q, CPU_RINGS_ANY, &sum, sent);
}

struct cpu_rings *
ring_set_left_of(const struct ring_set *s, uint32_t cpu)
{
	for (size_t i = 0; i < s->nr_left; i++)
		if (s->left[i].cpu == cpu)
			return &s->left[i];
	return NULL;
}

/* What was found in the ring that it left, when it was away, is its own. */
static void
take_left(struct ring_set *s, size_t i)
{
	struct cpu_rings *left = ring_set_left_of(s, s->cpus[i].cpu);

	if (!left)
		return;
	s->accounts[i].before.corrupt += left->corrupt;
	left->corrupt = 0;
}

bool
ring_set_losses(struct ring_set *s, struct queue *q, uint64_t now_ns, bool *ret_resync)
{
	bool all = ring_set_tell(q, UINT32_MAX, LOSS_STALL, s->stall_ns, &s->stall_sent);

	if (s->each.target->per_thread)
		return tell_threads(s, q, now_ns, ret_resync) && all;
	for (size_t i = 0; i < s->nr; i++) {
		struct cpu_rings *c = &s->cpus[i];
		struct ring_set_account *a = &s->accounts[i];

		take_left(s, i);
		cpu_rings_count(c, s->each.plan);
		*ret_resync |= a->before.lost_sideband + c->lost_sideband > a->sent.lost_sideband;
		all &= ring_set_tell_cpu(c, a, q, now_ns);
	}
	return all;
}

/* --- counts ----------------------------------------------------------------------------- */

int
ring_set_add_read(const struct cpu_rings *c, const struct open_event *e, const struct event *event,
		  uint64_t now_ns, struct buf *out)
{
	struct perf_sample_id sid = {
		.pid = (uint32_t)e->task,
		.tid = (uint32_t)e->task,
		.time = now_ns,
		.id = e->id,
		.cpu = c->cpu,
	};
	uint8_t words[EVENT_READ_BYTES];
	ssize_t n;

	n = event_read(e, words);
	if (n < 0)
		return 0;
	return record_build_read(out, &event->attr, &sid, sid.pid, sid.tid,
				 span_of(words, (size_t)n));
}

bool
ring_set_send_read(const struct cpu_rings *c, size_t k, struct queue *q,
		   const struct event_set *shapes, uint64_t now_ns)
{
	const struct open_event *e = &c->events[k];
	bool room = true;
	struct buf read;

	buf_init(&read);
	if (ring_set_add_read(c, e, event_set_at(shapes, e->def), now_ns, &read) == 0 && read.len)
		room = queue_send_bytes(q, MESSAGE_RECORDS, read.p, read.len);
	buf_done(&read);
	return room;
}

/* The count of an event, unless another one's has it: the leader's has those of all. */
static int
add_read(const struct ring_set *s, const struct cpu_rings *c, size_t k,
	 const struct event_set *events, uint64_t now_ns, enum ring_set_read what, struct buf *out)
{
	const struct open_event *e = &c->events[k];
	const struct event_def *def = &s->each.plan->defs[e->def];

	if (def->sideband || (what == RING_SET_COUNTING && def->attr.sample_period) ||
	    (what == RING_SET_SAMPLING && !def->attr.sample_period) ||
	    (what != RING_SET_DETACHED && event_group_reads(def)))
		return 0;
	return ring_set_add_read(c, e, event_set_at(events, e->def), now_ns, out);
}

bool
ring_set_send_reads(const struct ring_set *s, struct cpu_rings *c, struct queue *q,
		    const struct event_set *events, uint64_t now_ns, enum ring_set_read what)
{
	bool room = true;
	struct buf read;

	buf_init(&read);
	for (; room && c->told < c->nr; c->told += room) {
		buf_clear(&read);
		if (add_read(s, c, c->told, events, now_ns, what, &read) == 0 && read.len)
			room = queue_send_bytes(q, MESSAGE_RECORDS, read.p, read.len);
	}
	buf_done(&read);
	return room;
}

int
ring_set_reads(const struct ring_set *s, const struct event_set *events, uint64_t now_ns,
	       enum ring_set_read what, struct buf *out)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->nr; i++)
		for (size_t k = 0; r == 0 && k < s->cpus[i].nr; k++)
			r = add_read(s, &s->cpus[i], k, events, now_ns, what, out);
	return r;
}

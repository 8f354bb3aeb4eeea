/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/ring_set.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "format/fmt_error.h"
#include "format/loss.h"
#include "format/record_build.h"
#include "recorder/session_error.h"
#include "recorder/writer.h"

/*
 * A record gets its time before it gets into its ring; a virtual CPU may be away in between.
 * What is older than a pass by this is certain to have been seen by it.
 */
#define SETTLE_NS UINT64_C(20000000)
/* An idle pass is told no more often, so that an idle machine does not wake the writer. */
#define IDLE_PASS_NS UINT64_C(1000000000)

/* What the ledger knows of a CPU. */
struct ring_set_sent {
	uint64_t lost_samples, lost_sideband, corrupt, queue_full;
};

/* --- open ------------------------------------------------------------------------------ */

static int
open_cpus(struct ring_set *s, const struct ring_set_options *o, bool *ret_mlock,
	  struct session_error *error)
{
	const struct cpu_list *online = &o->target->online;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	int r = 0;

	*s = (struct ring_set){ .plan = o->plan };
	event_plan_rings(o->plan, o->pages * page, o->sideband_pages * page);
	s->cpus = calloc(online->nr, sizeof(*s->cpus));
	s->sent = calloc(online->nr, sizeof(*s->sent));
	if (!s->cpus || !s->sent)
		r = session_fail(error, -ENOMEM, "out of memory");
	for (size_t i = 0; r == 0 && i < online->nr; i++) {
		r = cpu_rings_open(&s->cpus[i], online->cpus[i], o->plan, o->target, o->pages,
				   o->sideband_pages, ret_mlock, error);
		s->nr += r == 0;
	}
	if (r < 0)
		ring_set_close(s);
	return r;
}

int
ring_set_open(struct ring_set *s, const struct ring_set_options *options, struct buf *notes,
	      struct session_error *error)
{
	struct ring_set_options o = *options;
	bool mlock = false;
	int r = open_cpus(s, &o, &mlock, error);

	/* All of a size: halved together until they fit the quota. */
	while (r < 0 && mlock && o.pages + o.sideband_pages > 2) {
		o.pages = o.pages > 1 ? o.pages / 2 : 1;
		if (o.sideband_pages > o.pages)
			o.sideband_pages = o.pages;
		mlock = false;
		r = open_cpus(s, &o, &mlock, error);
	}
	if (r == 0 && o.pages != options->pages)
		session_note(notes,
			     "rings of %u pages instead of %u: more is over "
			     "kernel.perf_event_mlock_kb without CAP_IPC_LOCK",
			     o.pages, options->pages);
	return r;
}

void
ring_set_close(struct ring_set *s)
{
	for (size_t i = 0; i < s->nr; i++)
		cpu_rings_close(&s->cpus[i]);
	free(s->cpus);
	free(s->sent);
	*s = (struct ring_set){ 0 };
}

int
ring_set_ids(const struct ring_set *s, struct event_set *events)
{
	int r = 0;

	for (size_t i = 0; i < s->nr; i++)
		for (size_t k = 0; r == 0 && k < s->cpus[i].nr; k++)
			r = event_set_add_id(events, s->cpus[i].events[k].def,
					     s->cpus[i].events[k].id);
	return r;
}

void
ring_set_control(const struct ring_set *s, bool sideband, unsigned long request)
{
	for (size_t i = 0; i < s->nr; i++)
		cpu_rings_control(&s->cpus[i], s->plan, sideband, request);
}

/* --- the pass --------------------------------------------------------------------------- */

/* One ring, no more than once round: a writer that is as fast as we are must not keep us. */
static bool
drain(struct cpu_rings *c, struct ring *ring, struct queue *q, uint64_t *moved)
{
	uint64_t bytes = 0;

	while (bytes < ring->size) {
		struct ring_view view;
		size_t n = ring_peek(ring, QUEUE_MESSAGE_MAX, &view, &c->corrupt);
		uint8_t *to;

		if (n == 0)
			break;
		to = queue_reserve(q, n);
		if (!to) {
			c->queue_full++;
			return false;
		}
		ring_view_copy(&view, to);
		ring_consume(ring, n);
		queue_commit(q, WRITER_RECORDS, 0, 0, n);
		bytes += n;
	}
	*moved += bytes;
	return true;
}

bool
ring_set_pass(struct ring_set *s, struct queue *q, uint64_t now_ns, bool tell_it)
{
	uint64_t moved = 0;
	bool all = true;

	for (size_t i = 0; i < s->nr; i++) {
		all &= drain(&s->cpus[i], &s->cpus[i].sideband, q, &moved);
		all &= drain(&s->cpus[i], &s->cpus[i].samples, q, &moved);
	}
	if (all && now_ns > s->complete_ns + SETTLE_NS)
		s->complete_ns = now_ns - SETTLE_NS;
	if (moved || tell_it || now_ns - s->last_pass_ns >= IDLE_PASS_NS) {
		if (queue_send(q, WRITER_PASS, s->complete_ns, now_ns))
			s->last_pass_ns = now_ns;
		queue_wake(q);
	}
	return all;
}

/* --- losses ----------------------------------------------------------------------------- */

static bool
tell(struct queue *q, uint32_t cpu, enum loss_cause cause, uint64_t now, uint64_t *sent)
{
	if (now == *sent)
		return true;
	if (!queue_send(q, WRITER_LOSS, (uint64_t)cpu << 32 | cause, now))
		return false;
	*sent = now;
	return true;
}

bool
ring_set_losses(struct ring_set *s, struct queue *q, bool *ret_resync)
{
	bool all = tell(q, UINT32_MAX, LOSS_STALL, s->stall_ns, &s->stall_sent);

	for (size_t i = 0; i < s->nr; i++) {
		struct cpu_rings *c = &s->cpus[i];
		struct ring_set_sent *sent = &s->sent[i];

		cpu_rings_count(c, s->plan);
		*ret_resync |= c->lost_sideband > sent->lost_sideband;
		all &= tell(q, c->cpu, LOSS_KERNEL_SAMPLES, c->lost_samples, &sent->lost_samples);
		all &= tell(q, c->cpu, LOSS_KERNEL_SIDEBAND, c->lost_sideband,
			    &sent->lost_sideband);
		all &= tell(q, c->cpu, LOSS_CORRUPT, c->corrupt, &sent->corrupt);
		all &= tell(q, c->cpu, LOSS_QUEUE_FULL, c->queue_full, &sent->queue_full);
	}
	return all;
}

static int
add_read(const struct cpu_rings *c, const struct open_event *e, const struct event_def *def,
	 const struct event *event, uint64_t now_ns, struct buf *out)
{
	struct perf_sample_id sid = {
		.pid = (uint32_t)e->task,
		.tid = (uint32_t)e->task,
		.time = now_ns,
		.id = e->id,
		.cpu = c->cpu,
	};
	struct event_count n;
	uint8_t words[5 * 8];

	if (event_count_read(e, def, &n) < 0)
		return 0;
	le64enc(words, n.value);
	le64enc(words + 8, n.time_enabled);
	le64enc(words + 16, n.time_running);
	le64enc(words + 24, e->id);
	le64enc(words + 32, n.lost);
	return record_build_read(out, &event->attr, &sid, sid.pid, sid.tid,
				 span_of(words, def->lost ? 40 : 32));
}

int
ring_set_reads(const struct ring_set *s, const struct event_set *events, uint64_t now_ns,
	       struct buf *out)
{
	for (size_t i = 0; i < s->nr; i++) {
		const struct cpu_rings *c = &s->cpus[i];

		for (size_t k = 0; k < c->nr; k++) {
			const struct open_event *e = &c->events[k];
			const struct event_def *def = &s->plan->defs[e->def];
			int r;

			if (def->sideband)
				continue;
			r = add_read(c, e, def, event_set_at(events, e->def), now_ns, out);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

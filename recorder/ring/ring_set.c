/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/ring/ring_set.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "format/block/gap.h"
#include "format/block/loss.h"
#include "format/bytes/buf.h"
#include "format/record/perf_record.h"
#include "format/record/sample_stack.h"
#include "recorder/event/event_missing.h"
#include "recorder/event/sample_bound.h"
#include "recorder/ground/message.h"
#include "recorder/ground/session_error.h"
#include "recorder/ground/session_options.h"
#include "recorder/host/host.h"
#include "recorder/ring/ring_set_internal.h"

/* An idle pass is told no more often, so that an idle machine does not wake the writer. */
#define IDLE_PASS_NS UINT64_C(1000000000)

#define AUX_PAGES_FEW 32 /* to which an AUX area is halved before rings of records are */

/* Between reads of all events of a CPU, and for each of them: a read may be an interrupt there. */
#define COUNT_NS UINT64_C(100000000)
#define COUNT_EACH_NS UINT64_C(50000)
/* Shorter pauses are in the ledger alone: there may be two a second. */
#define PAUSE_GAP_NS UINT64_C(1000000000)

/* Bytes of a sample, from which on it is looked whether there are some that mean nothing. */
#define TRIM_LEAST 1024

/* --- open ------------------------------------------------------------------------------ */

uint64_t
ring_set_descriptors(const struct event_plan *plan, const struct target *target)
{
	uint64_t events = 0;
	const size_t each = event_plan_opened(plan);

	if (target->per_thread)
		return (uint64_t)each * target->nr_tasks;
	for (size_t i = 0; i < target->online.nr; i++)
		events += target_samples(target, target->online.cpus[i]) ? each : 1;
	return events * target->nr_tasks;
}

/* One that has ended since it was looked for has none; when all have, that is the error. */
static int
open_place(struct ring_set *s, size_t i, bool *ret_mlock, struct session_error *error)
{
	const struct target *t = s->each.target;
	struct cpu_rings *c = &s->cpus[i];
	int r;

	if (!t->per_thread)
		return cpu_rings_open(c, t->online.cpus[i], 0, &s->each, ret_mlock, error);
	r = cpu_rings_open(c, CPU_RINGS_ANY, t->tasks[i], &s->each, ret_mlock, error);
	s->tasks += r == 0;
	return r == -ESRCH && (i + 1 < t->nr_tasks || s->tasks) ? 0 : r;
}

/* Were all events of samples left out, everywhere? */
static bool
all_left_out(const struct ring_set *s)
{
	const struct event_plan *plan = s->each.plan;
	bool some = false;

	for (size_t i = 0; i < plan->nr; i++)
		some |= plan->defs[i].left_out > 0;
	for (size_t i = 0; i < s->nr; i++)
		some &= !s->cpus[i].samples.size;
	return some;
}

static int
open_cpus(struct ring_set *s, const struct cpu_rings_options *o, bool *ret_mlock,
	  struct session_error *error)
{
	const struct target *t = o->target;
	size_t places = t->per_thread ? t->nr_tasks : t->online.nr;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	int r = 0;

	*s = (struct ring_set){ .each = *o };
	event_plan_rings(o->plan, o->pages * page, o->sideband_pages * page,
			 o->aux_snapshot ? 0 : o->aux_pages * page);
	s->cpus = calloc(places, sizeof(*s->cpus));
	s->accounts = calloc(places, sizeof(*s->accounts));
	if (!s->cpus || !s->accounts)
		r = session_fail(error, -ENOMEM, "out of memory");
	for (size_t i = 0; r == 0 && i < places; i++) {
		r = open_place(s, i, ret_mlock, error);
		s->nr += r == 0;
	}
	if (r == 0 && all_left_out(s))
		r = -ENOENT; /* *error tells of the last one */
	if (r < 0)
		ring_set_close(s);
	return r;
}

int
ring_set_open(struct ring_set *s, const struct cpu_rings_options *options, struct buf *notes,
	      struct session_error *error)
{
	struct cpu_rings_options o = *options;
	const size_t had = notes ? notes->len : 0;
	bool mlock = false;
	int r;

	if (o.target->sampled.nr && event_plan_opened(o.plan) > RING_SET_EVENTS_MAX)
		return session_fail(error, -E2BIG, "%zu events: %u on each CPU at most",
				    event_plan_opened(o.plan), RING_SET_EVENTS_MAX);
	o.notes = notes;
	r = open_cpus(s, &o, &mlock, error);
	/*
	 * All of a size: halved together until they fit the quota. First what is not told, then traces and side-band's
	 * comfort.
	 */
	while (r < 0 && mlock && o.pages + o.sideband_pages > 2) {
		if (o.pages / 2 >= o.pages_enough) {
			o.pages /= 2;
		} else if (o.aux_pages > AUX_PAGES_FEW) {
			o.aux_pages /= 2;
		} else if (o.sideband_pages > SESSION_SIDEBAND_PAGES) {
			o.sideband_pages = SESSION_SIDEBAND_PAGES;
		} else {
			o.pages = o.pages > 1 ? o.pages / 2 : 1;
			if (o.sideband_pages > o.pages)
				o.sideband_pages = o.pages;
		}
		mlock = false;
		if (notes)
			notes->len = had;
		event_missing_sum(o.plan, NULL);
		r = open_cpus(s, &o, &mlock, error);
	}
	event_missing_sum(o.plan, notes);
	s->each.notes = NULL;
	if (r == 0 && notes && o.pages < options->pages_enough)
		session_note(notes,
			     "rings of %u pages instead of %u: more is over "
			     "kernel.perf_event_mlock_kb without CAP_IPC_LOCK",
			     o.pages, options->pages);
	if (r == 0 && notes && o.aux_pages != options->aux_pages)
		session_note(notes,
			     "AUX areas of %u pages instead of %u: more is over "
			     "kernel.perf_event_mlock_kb without CAP_IPC_LOCK",
			     o.aux_pages, options->aux_pages);
	return r;
}

void
ring_set_close(struct ring_set *s)
{
	for (size_t i = 0; i < s->nr; i++)
		cpu_rings_close(&s->cpus[i]);
	for (size_t i = 0; i < s->nr_left; i++)
		cpu_rings_close(&s->left[i]);
	free(s->cpus);
	free(s->left);
	free(s->accounts);
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
ring_set_retire_task(struct ring_set *s, pid_t task)
{
	for (size_t i = 0; i < s->nr; i++)
		for (size_t k = 0; k < s->cpus[i].nr; k++)
			s->cpus[i].events[k].retired |= s->cpus[i].events[k].task == task;
}

void
ring_set_control(const struct ring_set *s, bool sideband, unsigned long request)
{
	for (size_t i = 0; i < s->nr; i++)
		cpu_rings_control(&s->cpus[i], s->each.plan, sideband, request);
}

/* --- the pass --------------------------------------------------------------------------- */

struct trim {
	const struct ring_set *set;
	struct cpu_rings *rings;
};

/* The attr of a sample's event whose stacks are unwound; NULL: of another event. The id is the first word. */
static const struct event_attr *
trimmed_attr(const struct trim *t, const uint8_t *record)
{
	const uint64_t id = le64dec(record + PERF_RECORD_HEADER_BYTES);
	const struct cpu_rings *c = t->rings;

	for (size_t k = 0; k < c->nr; k++)
		if (c->events[k].id == id)
			return t->set->each.opened[c->events[k].def].sample_type &
					PERF_SAMPLE_STACK_USER
				? &t->set->each.opened[c->events[k].def]
				: NULL;
	return NULL;
}

static size_t
put_trimmed(void *arg, uint8_t *to, const uint8_t *record, size_t len)
{
	struct trim *t = arg;
	const struct event_attr *attr = NULL;

	if (len >= TRIM_LEAST && le32dec(record) == PERF_RECORD_SAMPLE)
		attr = trimmed_attr(t, record);
	if (attr) {
		len = sample_stack_trim(to, record, len, attr);
		t->rings->copied += len;
		return len;
	}
	if (to != record)
		memcpy(to, record, len);
	return len;
}

bool
ring_set_drain(const struct ring_set *s, struct cpu_rings *c, struct ring *ring, struct queue *q,
	       uint64_t *moved)
{
	const bool trims = s->each.opened && ring == &c->samples;
	struct trim trim = { s, c };
	uint64_t bytes = 0;
	bool room = true;

	while (bytes < ring->size) {
		size_t n = ring_pending(ring), taken;
		uint8_t *to;

		if (n == 0)
			break;
		n = n < QUEUE_MESSAGE_MAX ? n : QUEUE_MESSAGE_MAX;
		to = queue_reserve(q, n);
		if (!to) {
			c->queue_full++;
			room = false;
			break;
		}
		if (trims)
			n = ring_read_each(ring, to, n, put_trimmed, &trim, &taken, &c->corrupt);
		else
			taken = n = ring_read(ring, to, n, &c->corrupt);
		if (n == 0)
			break;
		queue_commit(q, MESSAGE_RECORDS, 0, 0, n);
		ring_consume(ring, taken);
		bytes += taken;
	}
	*moved += bytes;
	return room;
}

bool
ring_set_pass(struct ring_set *s, struct queue *q, uint64_t now_ns, bool tell_it)
{
	uint64_t moved = 0, before;
	bool all = true;

	s->fullest = 0;
	for (size_t i = 0; i < s->nr; i++) {
		before = moved;
		all &= ring_set_drain(s, &s->cpus[i], &s->cpus[i].sideband, q, &moved);
		s->moved_sideband += moved - before;
		before = moved;
		all &= ring_set_drain(s, &s->cpus[i], &s->cpus[i].samples, q, &moved);
		s->fullest = moved - before > s->fullest ? moved - before : s->fullest;
		all &= ring_set_drain_aux(s, i, q, s->ended);
	}
	s->moved += moved;
	if (all && now_ns > s->complete_ns + RING_SET_SETTLE_NS)
		s->complete_ns = now_ns - RING_SET_SETTLE_NS;
	/* A queue may be full of nothing but the end that it passes over: that, too, the writer frees. */
	if (moved || !all || tell_it || now_ns - s->last_pass_ns >= IDLE_PASS_NS) {
		if (queue_send(q, MESSAGE_PASS, s->complete_ns, now_ns))
			s->last_pass_ns = now_ns;
		queue_wake(q);
	}
	return all;
}

/* --- what sampling takes ----------------------------------------------------------------- */

/*
 * A pause is told when it is over, and if it was long. With waits it is told however short, and when it
 * begins: no wait that ends after that may seem to have gone on through it.
 */
static void
turn(const struct ring_set *s, size_t i, struct queue *q, bool on, uint64_t now_ns)
{
	struct sample_account *a = &s->accounts[i].sampling;
	const bool waits = event_plan_waits(s->each.plan);
	const struct gap gap = { .cause = LOSS_PAUSED,
				 .cpu = s->cpus[i].cpu,
				 .from_ns = on ? a->off_since_ns : now_ns,
				 .until_ns = on ? now_ns : 0 };

	if (waits || (on && now_ns - gap.from_ns >= PAUSE_GAP_NS))
		queue_send_bytes(q, MESSAGE_GAP, &gap, sizeof(gap));
	cpu_rings_control(&s->cpus[i], s->each.plan, false,
			  on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE);
	sample_account_turn(a, on, now_ns);
}

/* No more than there was time: prices are those of slow machines. */
static uint64_t
samples_cost_ns(struct ring_set *s, size_t i, uint64_t now_ns)
{
	struct ring_set_account *a = &s->accounts[i];
	uint64_t passed_ns = now_ns - a->sampling.at_ns, ns;

	ns = (s->cpus[i].samples.records - a->paid_records) * sample_bound_price_ns(s->each.plan) +
		(s->cpus[i].copied - a->paid_copied) * SAMPLE_UNWIND_BYTE_NS;
	a->paid_records = s->cpus[i].samples.records;
	a->paid_copied = s->cpus[i].copied;
	return ns < passed_ns ? ns : passed_ns;
}

static uint64_t
other_cost_ns(struct ring_set *s, size_t i, uint64_t passed_ns)
{
	struct ring_set_account *a = &s->accounts[i];
	uint64_t before_ns = a->paid_ns, ns;

	a->paid_ns = cpu_rings_taken_ns(&s->cpus[i], s->each.plan);
	/* Less: an event was closed. */
	ns = a->paid_ns > before_ns ? a->paid_ns - before_ns : 0;
	return ns < passed_ns ? ns : passed_ns;
}

/* To have read all events costs something, too. Returns 0: it is not yet time for it again. */
static uint64_t
since_counted_ns(struct ring_set *s, uint64_t now_ns)
{
	uint64_t passed_ns = now_ns - s->counted_ns, each = 0;

	for (size_t i = 0; i < s->nr; i++)
		each += s->cpus[i].nr;
	if (passed_ns < COUNT_NS + each * COUNT_EACH_NS)
		return 0;
	s->counted_ns = now_ns;
	return passed_ns;
}

/* Are its events to be on? counted_ns: since they were read before; 0: that is left for later. */
static bool
pay(struct ring_set *s, size_t i, uint32_t share, uint64_t now_ns, uint64_t counted_ns)
{
	uint64_t cost_ns = samples_cost_ns(s, i, now_ns);

	if (counted_ns)
		cost_ns += other_cost_ns(s, i, counted_ns);
	return sample_account_pay(&s->accounts[i].sampling, share, now_ns, cost_ns);
}

void
ring_set_bound(struct ring_set *s, struct queue *q, uint32_t share, uint64_t now_ns)
{
	uint64_t counted_ns = since_counted_ns(s, now_ns);

	for (size_t i = 0; i < s->nr; i++) {
		bool on;

		if (!s->cpus[i].nr)
			continue;
		on = pay(s, i, share, now_ns, counted_ns);
		if (on != !s->accounts[i].sampling.off_since_ns)
			turn(s, i, q, on, now_ns);
	}
}

uint64_t
ring_set_owed_ns(struct ring_set *s, uint32_t share, uint64_t now_ns)
{
	uint64_t most_ns = 0;

	for (size_t i = 0; i < s->nr; i++) {
		uint64_t owed_ns;

		if (s->cpus[i].nr)
			(void)pay(s, i, share, now_ns, now_ns - s->counted_ns);
		owed_ns = sample_account_owed_ns(&s->accounts[i].sampling, share);
		most_ns = owed_ns > most_ns ? owed_ns : most_ns;
	}
	return most_ns;
}

void
ring_set_mark(struct ring_set *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		ring_mark(&s->cpus[i].samples);
		ring_mark(&s->cpus[i].sideband);
		aux_ring_mark(&s->cpus[i].aux);
	}
}

bool
ring_set_passed(const struct ring_set *s)
{
	bool all = true;

	for (size_t i = 0; i < s->nr; i++)
		all &= ring_passed(&s->cpus[i].samples) && ring_passed(&s->cpus[i].sideband) &&
			aux_ring_passed(&s->cpus[i].aux);
	return all;
}

uint32_t
ring_set_sampled(const struct ring_set *s)
{
	uint32_t n = 0;

	if (s->each.target->per_thread)
		return (uint32_t)s->each.target->online.nr;
	for (size_t i = 0; i < s->nr; i++)
		n += s->cpus[i].nr && target_samples(s->each.target, s->cpus[i].cpu);
	return n;
}

/* --- events that are opened anew ---------------------------------------------------------- */

static bool
send_id(const struct open_event *e, struct queue *q, bool closed)
{
	const struct message_id id = { e->id, e->def, closed };

	return queue_send_bytes(q, MESSAGE_IDS, &id, sizeof(id));
}

/* An event and the members of its group anew, beside the old ones: all, or none. */
static int
renew_open(const struct ring_set *s, struct cpu_rings *c, uint32_t index, uint32_t last)
{
	size_t had = c->nr, old, new;
	int r = 0;

	for (uint32_t k = index; r == 0 && k <= last; k++) {
		r = cpu_rings_renew(c, k, &s->each, &old, &new);
		if (k > index && r == -ENOENT) /* this CPU does not count the member */
			r = 0;
	}
	while (r < 0 && c->nr > had)
		close(c->events[--c->nr].fd);
	return r;
}

/* Ends the oldest one of an event, of which there is another one now. */
static void
renew_end(struct ring_set *s, struct cpu_rings *c, uint32_t index, struct queue *q,
	  const struct event_set *shapes, uint64_t now_ns)
{
	size_t old;

	if (!cpu_rings_oldest(c, index, &old))
		return;
	ioctl(c->events[old].fd, PERF_EVENT_IOC_DISABLE, 0);
	if (c->events[old].fd != c->samples_fd) {
		(void)ring_set_send_read(c, old, q, shapes, now_ns); /* its last word */
		send_id(&c->events[old], q, true);
	}
	cpu_rings_retire(c, s->each.plan, old);
}

static int
renew(struct ring_set *s, size_t i, uint32_t index, struct queue *q, const struct event_set *shapes,
      uint64_t now_ns)
{
	const struct event_plan *plan = s->each.plan;
	struct cpu_rings *c = &s->cpus[i];
	uint32_t last = index;
	size_t had = c->nr;
	int fd, r;

	while (plan->defs[last + 1].member_of == index + 1) /* the last of all is side-band */
		last++;
	if (!queue_reserve(q, RING_SET_CHANGE_BYTES))
		return -EAGAIN;
	r = renew_open(s, c, index, last);
	if (r < 0)
		return r == -ENOENT || r == -ENODEV ? 0 : r;
	fd = c->events[had].fd;
	for (size_t k = had; k < c->nr; k++)
		send_id(&c->events[k], q, false);
	/* The leader first: its members stop with it. */
	for (uint32_t k = index; k <= last; k++)
		renew_end(s, c, k, q, shapes, now_ns);
	/* Turned off, or overdrawn: it begins together with the others. */
	if (s->off_since_ns || plan->defs[index].off || s->accounts[i].sampling.off_since_ns)
		return 0;
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0 ? -errno : 0;
}

int
ring_set_renew(struct ring_set *s, uint32_t index, struct queue *q, const struct event_set *shapes,
	       uint64_t now_ns)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->nr; i++)
		r = renew(s, i, index, q, shapes, now_ns);
	return r;
}

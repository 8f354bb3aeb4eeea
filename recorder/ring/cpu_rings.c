/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/ring/cpu_rings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "format/block/aux_trace.h"
#include "format/record/perf_record.h"
#include "recorder/event/event_filter.h"
#include "recorder/event/event_group.h"
#include "recorder/event/event_missing.h"
#include "recorder/event/event_open.h"
#include "recorder/event/event_refusal.h"
#include "recorder/event/sample_bound.h"
#include "recorder/ground/session_error.h"

/* What opening one CPU needs throughout. */
struct opening {
	struct cpu_rings *c;
	const struct cpu_rings_options *want;
	bool mlock, refused; /* the last failure: the quota; the event itself */
	struct session_error *error;
};

void
cpu_rings_place(const struct cpu_rings *c, char ret[CPU_RINGS_PLACE_BYTES])
{
	if (c->cpu == CPU_RINGS_ANY)
		(void)snprintf(ret, CPU_RINGS_PLACE_BYTES, "in thread %d", (int)c->task);
	else
		(void)snprintf(ret, CPU_RINGS_PLACE_BYTES, "on CPU %u", c->cpu);
}

/* Maps the ring of the first event of a kind, redirects the others to it. */
static int
join_ring(struct opening *o, const struct event_def *def, int fd, int *ring_fd)
{
	struct ring *ring = def->sideband ? &o->c->sideband : &o->c->samples;
	uint32_t pages = def->sideband ? o->want->sideband_pages : o->want->pages;
	char place[CPU_RINGS_PLACE_BYTES];
	int r;

	if (ring->size) {
		if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, *ring_fd) == 0)
			return 0;
		r = -errno;
		cpu_rings_place(o->c, place);
		return session_fail(o->error, r, "%s: cannot share the ring %s: %s", def->name,
				    place, strerror(-r));
	}
	r = ring_map(ring, fd, pages, o->want->overwrite && !def->sideband);
	if (r < 0) {
		o->mlock = r == -EPERM;
		return session_fail(o->error, r, "cannot map a ring of %u pages: %s%s", pages,
				    strerror(-r),
				    r == -EPERM ? ": over kernel.perf_event_mlock_kb" : "");
	}
	*ring_fd = fd;
	if (ring->overwrite && back_ring_init(&o->c->back, ring->page, ring->data, ring->size) < 0)
		return session_fail(o->error, -ENOMEM, "out of memory");
	return 0;
}

/* The leader's of that task, the newest; -1: it is none's member; -ENOENT: the leader is not there. */
static int
leader_fd(const struct cpu_rings *c, const struct event_def *def, pid_t task)
{
	if (!def->member_of)
		return -1;
	for (size_t i = c->nr; i-- > 0;)
		if (c->events[i].def == def->member_of - 1 && c->events[i].task == task)
			return c->events[i].fd;
	return -ENOENT;
}

/* -ENOENT: this CPU does not count it, or not its leader. */
static int
open_event(const struct cpu_rings *c, const struct cpu_rings_options *o, uint32_t index,
	   size_t place, pid_t task)
{
	const struct event_def *def = &o->plan->defs[index];
	int cgroup = def->sideband || def->everybody ? -1 : target_cgroup(o->target, index);
	int leader = leader_fd(c, def, task);
	struct perf_event_attr attr;

	if (leader == -ENOENT || !event_def_attr(def, c->cpu, &attr))
		return -ENOENT;
	event_def_move(def, place, &attr);
	return event_open_member(&attr, cgroup >= 0 ? cgroup : task, (int)c->cpu, leader,
				 cgroup >= 0 ? PERF_FLAG_PID_CGROUP : 0);
}

static int
open_event_error(const struct opening *o, const struct event_def *def, pid_t task, int err)
{
	int cpu = (int)o->c->cpu;

	if (!def->member_of)
		return event_open_error(def, task, cpu, err, o->error);
	return event_group_error(def, &o->want->plan->defs[def->member_of - 1], task, cpu, err,
				 o->error);
}

static int
open_one(struct opening *o, uint32_t index, size_t place, pid_t task, int *ring_fd)
{
	const struct event_def *def = &o->want->plan->defs[index];
	struct open_event *e = &o->c->events[o->c->nr];
	int r, fd;

	fd = open_event(o->c, o->want, index, place, task);
	o->refused = fd < 0;
	if (fd < 0)
		return open_event_error(o, def, task, fd);
	*e = (struct open_event){ .fd = fd, .def = index, .task = task };
	o->c->nr++;
	r = def->filter_due ? 0 : event_filter_set(def, fd, o->error);
	if (r == 0 && !def->counts)
		r = join_ring(o, def, fd, ring_fd);
	if (r < 0)
		return r;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &e->id) < 0) {
		r = -errno;
		return session_fail(o->error, r, "%s has no id: %s", def->name, strerror(-r));
	}
	return 0;
}

static size_t
tasks_here(const struct cpu_rings *c, const struct target *t)
{
	return c->cpu == CPU_RINGS_ANY ? 1 : t->nr_tasks;
}

/* Not side-band: who was who all others need. Nor tasks that have ended. */
static bool
leave_out(const struct opening *o, uint32_t index, int err)
{
	struct event_def *def = &o->want->plan->defs[index];

	return o->want->skip_missing && o->refused && !def->sideband && err != -ESRCH &&
		event_missing_here(def, err, o->error, o->want->notes);
}

static int
open_at(struct opening *o, uint32_t index, size_t place, int *ring_fd)
{
	const struct target *t = o->want->target;
	const bool everybody = o->want->plan->defs[index].everybody;
	size_t gone = 0, nr = everybody ? 1 : tasks_here(o->c, t);

	for (size_t i = 0; i < nr; i++) {
		pid_t task = o->c->cpu == CPU_RINGS_ANY ? o->c->task : t->tasks[i];
		int r;

		if (everybody)
			task = -1;

		/* A member is where its leader is. */
		if (leader_fd(o->c, &o->want->plan->defs[index], task) == -ENOENT)
			continue;
		r = open_one(o, index, place, task, ring_fd);
		/* A thread may end while the others are being opened. */
		if (r == -ESRCH && ++gone < nr)
			continue;
		if (r < 0 && !leave_out(o, index, r))
			return r;
	}
	return 0;
}

static int
open_def(struct opening *o, uint32_t index, int *ring_fd)
{
	const struct event_def *def = &o->want->plan->defs[index];
	struct perf_event_attr attr;
	int r = 0;

	if (!event_def_attr(def, o->c->cpu, &attr))
		return 0;
	for (size_t place = 0; r == 0 && place <= def->nr_more; place++)
		r = open_at(o, index, place, ring_fd);
	return r;
}

/* One for all events that trace here: they are of one PMU, and write to one ring. */
static int
map_aux(struct opening *o)
{
	const struct cpu_rings_options *want = o->want;
	const struct event_def *def = NULL;
	size_t i = 0;
	int r;

	for (; i < o->c->nr && !def; i++)
		if (want->plan->defs[o->c->events[i].def].aux)
			def = &want->plan->defs[o->c->events[i].def];
	if (!def)
		return 0;
	r = aux_ring_map(&o->c->aux, o->c->events[i - 1].fd, o->c->samples.page, want->pages,
			 want->aux_pages, want->aux_snapshot);
	if (r == 0)
		return 0;
	o->mlock = r == -EPERM;
	return session_fail(o->error, r, "%s: cannot map an AUX area of %u pages: %s%s", def->name,
			    want->aux_pages, strerror(-r),
			    r == -EPERM		   ? ": over kernel.perf_event_mlock_kb"
				    : r == -EINVAL ? ": its PMU does not take this size (-m N,AUX)"
				    : r == -ENOMEM && def->aux == AUX_TRACER_CS_ETM
				    ? ", or no sink that takes the trace (cs_etm/@SINK/)"
				    : "");
}

int
cpu_rings_open(struct cpu_rings *c, uint32_t cpu, pid_t task,
	       const struct cpu_rings_options *options, bool *ret_mlock,
	       struct session_error *error)
{
	const struct event_plan *plan = options->plan;
	bool sampled = target_samples(options->target, cpu);
	struct opening o = { .c = c, .want = options, .error = error };
	int samples_fd = -1, sideband_fd = -1, r;

	*c = (struct cpu_rings){ .cpu = cpu, .task = task, .samples_fd = -1 };
	/* One more of each: events that are renewed are there twice for a while. */
	c->events = calloc(event_plan_opened(plan) * (tasks_here(c, options->target) + 1),
			   sizeof(*c->events));
	if (!c->events)
		return session_fail(error, -ENOMEM, "out of memory");
	r = open_def(&o, (uint32_t)plan->sideband, &sideband_fd);
	for (uint32_t i = 0; r == 0 && sampled && i < plan->sideband; i++)
		r = open_def(&o, i, &samples_fd);
	if (r == 0)
		r = map_aux(&o);
	*ret_mlock = o.mlock;
	c->samples_fd = samples_fd;
	if (r < 0)
		cpu_rings_close(c);
	return r;
}

void
cpu_rings_detach(struct cpu_rings *c)
{
	for (size_t i = 0; i < c->nr; i++) {
		if (c->events[i].fd >= 0)
			close(c->events[i].fd);
		c->events[i].fd = -1;
	}
	c->samples_fd = -1;
}

void
cpu_rings_close(struct cpu_rings *c)
{
	aux_ring_unmap(&c->aux);
	back_ring_done(&c->back);
	ring_unmap(&c->samples);
	ring_unmap(&c->sideband);
	cpu_rings_detach(c);
	free(c->events);
	c->events = NULL;
	c->nr = 0;
}

void
cpu_rings_pause(const struct cpu_rings *c, bool pause)
{
	if (c->samples.size)
		(void)ioctl(c->samples_fd, PERF_EVENT_IOC_PAUSE_OUTPUT, pause ? 1 : 0);
}

void
cpu_rings_control(const struct cpu_rings *c, const struct event_plan *plan, bool sideband,
		  unsigned long request)
{
	for (size_t i = 0; i < c->nr; i++) {
		const struct event_def *def = &plan->defs[c->events[i].def];

		if (def->sideband != sideband || def->member_of || c->events[i].retired ||
		    (def->off && request == PERF_EVENT_IOC_ENABLE))
			continue;
		(void)ioctl(c->events[i].fd, request, 0);
	}
}

void
cpu_rings_control_event(const struct cpu_rings *c, uint32_t index, unsigned long request)
{
	for (size_t i = 0; i < c->nr; i++)
		if (c->events[i].def == index && !c->events[i].retired)
			(void)ioctl(c->events[i].fd, request, 0);
}

bool
cpu_rings_oldest(const struct cpu_rings *c, uint32_t index, size_t *ret)
{
	size_t i = 0;

	while (i < c->nr && (c->events[i].def != index || c->events[i].retired))
		i++;
	*ret = i;
	return i < c->nr;
}

int
cpu_rings_filter(const struct cpu_rings *c, const struct event_plan *plan,
		 struct session_error *error)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < c->nr; i++)
		if (plan->defs[c->events[i].def].filter_due)
			r = event_filter_set(&plan->defs[c->events[i].def], c->events[i].fd, error);
	return r;
}

int
cpu_rings_renew(struct cpu_rings *c, uint32_t index, const struct cpu_rings_options *options,
		size_t *ret_old, size_t *ret)
{
	struct open_event *e = &c->events[c->nr];
	size_t old;
	int r = 0;

	if (!cpu_rings_oldest(c, index, &old))
		return -ENOENT;
	*e = (struct open_event){ .def = index, .task = c->events[old].task };
	/* No probe is renewed: the event is at no place. */
	e->fd = open_event(c, options, index, 0, e->task);
	if (e->fd < 0)
		return e->fd;
	r = event_filter_set(&options->plan->defs[index], e->fd, NULL);
	if (r == 0 &&
	    (ioctl(e->fd, PERF_EVENT_IOC_SET_OUTPUT, c->samples_fd) < 0 ||
	     ioctl(e->fd, PERF_EVENT_IOC_ID, &e->id) < 0))
		r = -errno;
	if (r < 0) {
		close(e->fd);
		return r;
	}
	*ret_old = old;
	*ret = c->nr++;
	return 0;
}

bool
cpu_rings_retire(struct cpu_rings *c, const struct event_plan *plan, size_t old)
{
	struct open_event *e = &c->events[old];
	struct event_count count;

	ioctl(e->fd, PERF_EVENT_IOC_DISABLE, 0);
	if (e->fd == c->samples_fd) {
		e->retired = true;
		return true;
	}
	if (event_count_read(e, &plan->defs[e->def], &count) == 0)
		c->lost_closed += count.lost;
	close(e->fd);
	memmove(e, e + 1, (c->nr - old - 1) * sizeof(*e));
	c->nr--;
	return false;
}

size_t
cpu_rings_samples_to(const struct cpu_rings *c, const struct event_plan *plan, int fd)
{
	for (size_t i = 0; i < c->nr; i++)
		if (c->events[i].fd == fd)
			return event_def_samples_target(&plan->defs[c->events[i].def]);
	return 0;
}

ssize_t
event_read(const struct open_event *e, uint8_t words[static EVENT_READ_BYTES])
{
	ssize_t n = read(e->fd, words, EVENT_READ_BYTES);

	/* "If a pinned event is in error state, read() will return EOF (0)" */
	return n < 0 ? -errno : n == 0 ? -ENODATA : n;
}

int
event_count_read(const struct open_event *e, const struct event_def *def, struct event_count *ret)
{
	uint8_t words[EVENT_READ_BYTES];
	ssize_t n = event_read(e, words);
	struct perf_read read;
	struct span s;

	if (n < 0)
		return (int)n;
	s = span_of(words, (size_t)n);
	if (perf_read_parse(&s, def->attr.read_format, &read) < 0)
		return -ENODATA;
	for (uint64_t i = 0; i < read.nr; i++) {
		struct perf_read_value v = perf_read_at(&read, i);

		if (v.id != e->id)
			continue;
		*ret = (struct event_count){ v.value, read.time_enabled, read.time_running,
					     v.lost };
		return 0;
	}
	return -ENODATA;
}

uint64_t
cpu_rings_taken_ns(const struct cpu_rings *c, const struct event_plan *plan)
{
	uint64_t price_ns = sample_bound_price_ns(plan), ns = c->lost_closed * price_ns;

	for (size_t i = 0; i < c->nr; i++) {
		const struct event_def *def = &plan->defs[c->events[i].def];
		struct event_count count;

		if (event_def_samples(def) && event_count_read(&c->events[i], def, &count) == 0)
			ns += count.value * sample_bound_hit_ns(def) + count.lost * price_ns;
	}
	return ns;
}

uint64_t
cpu_rings_hits(const struct cpu_rings *c, const struct event_plan *plan)
{
	struct event_count count;
	uint64_t hits = 0;

	/* A trigger has a fixed period: see trigger_def() in event.c. */
	for (size_t i = 0; i < c->nr; i++) {
		const struct event_def *def = &plan->defs[c->events[i].def];

		if (def->trigger && event_count_read(&c->events[i], def, &count) == 0)
			hits += count.value / def->attr.sample_period;
	}
	return hits;
}

void
cpu_rings_count(struct cpu_rings *c, const struct event_plan *plan)
{
	uint64_t samples = c->lost_closed, sideband = 0;

	for (size_t i = 0; i < c->nr; i++) {
		const struct event_def *def = &plan->defs[c->events[i].def];
		struct event_count count;
		int r;

		if (!def->lost && !def->sideband && !def->attr.pinned)
			continue;
		r = event_count_read(&c->events[i], def, &count);
		c->events[i].failed = r == -ENODATA && def->attr.pinned;
		if (r < 0)
			continue;
		if (def->sideband) {
			c->dead = c->enabled_ns && count.time_enabled == c->enabled_ns;
			c->enabled_ns = count.time_enabled;
		}
		*(def->sideband ? &sideband : &samples) += count.lost;
	}
	c->lost_samples = samples;
	c->lost_sideband = sideband;
}

bool
cpu_rings_failed(const struct cpu_rings *c, uint32_t index)
{
	for (size_t i = 0; i < c->nr; i++)
		if (c->events[i].def == index && c->events[i].failed)
			return true;
	return false;
}

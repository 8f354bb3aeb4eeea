/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/ring/cpu_rings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "recorder/event/event_open.h"
#include "recorder/event/event_refusal.h"
#include "recorder/event/sample_bound.h"
#include "recorder/ground/session_error.h"

/* What opening one CPU needs throughout. */
struct opening {
	struct cpu_rings *c;
	const struct cpu_rings_options *want;
	bool mlock;
	struct session_error *error;
};

/* Maps the ring of the first event of a kind, redirects the others to it. */
static int
join_ring(struct opening *o, const struct event_def *def, int fd, int *ring_fd)
{
	struct ring *ring = def->sideband ? &o->c->sideband : &o->c->samples;
	uint32_t pages = def->sideband ? o->want->sideband_pages : o->want->pages;
	int r;

	if (ring->size) {
		if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, *ring_fd) == 0)
			return 0;
		r = -errno;
		return session_fail(o->error, r, "%s: cannot share the ring of CPU %u: %s",
				    def->name, o->c->cpu, strerror(-r));
	}
	r = ring_map(ring, fd, pages);
	if (r < 0) {
		o->mlock = r == -EPERM;
		return session_fail(o->error, r, "cannot map a ring of %u pages: %s%s", pages,
				    strerror(-r),
				    r == -EPERM ? ": over kernel.perf_event_mlock_kb" : "");
	}
	*ring_fd = fd;
	return 0;
}

/* -ENOENT: this CPU does not count it. */
static int
open_event(const struct event_def *def, const struct target *t, pid_t task, uint32_t cpu)
{
	bool in_cgroup = !def->sideband && t->cgroup_fd >= 0;
	struct perf_event_attr attr;

	if (!event_def_attr(def, cpu, &attr))
		return -ENOENT;
	return event_open(&attr, in_cgroup ? t->cgroup_fd : task, (int)cpu,
			  in_cgroup ? PERF_FLAG_PID_CGROUP : 0);
}

static int
open_one(struct opening *o, uint32_t index, pid_t task, int *ring_fd)
{
	const struct event_def *def = &o->want->plan->defs[index];
	struct open_event *e = &o->c->events[o->c->nr];
	int r, fd;

	fd = open_event(def, o->want->target, task, o->c->cpu);
	if (fd < 0)
		return event_open_error(def, task, (int)o->c->cpu, fd, o->error);
	*e = (struct open_event){ .fd = fd, .def = index, .task = task };
	o->c->nr++;
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

static int
open_def(struct opening *o, uint32_t index, int *ring_fd)
{
	const struct target *t = o->want->target;
	size_t gone = 0, nr = tasks_here(o->c, t);
	struct perf_event_attr attr;

	if (!event_def_attr(&o->want->plan->defs[index], o->c->cpu, &attr))
		return 0;
	for (size_t i = 0; i < nr; i++) {
		pid_t task = o->c->cpu == CPU_RINGS_ANY ? o->c->task : t->tasks[i];
		int r = open_one(o, index, task, ring_fd);

		/* A thread may end while the others are being opened. */
		if (r == -ESRCH && ++gone < nr)
			continue;
		if (r < 0)
			return r;
	}
	return 0;
}

int
cpu_rings_open(struct cpu_rings *c, uint32_t cpu, pid_t task,
	       const struct cpu_rings_options *options, bool *ret_mlock,
	       struct session_error *error)
{
	const struct event_plan *plan = options->plan;
	bool sampled = target_samples(options->target, cpu);
	struct opening o = { c, options, false, error };
	int samples_fd = -1, sideband_fd = -1, r;

	*c = (struct cpu_rings){ .cpu = cpu, .task = task, .samples_fd = -1 };
	/* One more of each: an event that is renewed is there twice for a while. */
	c->events = calloc(plan->nr * (tasks_here(c, options->target) + 1), sizeof(*c->events));
	if (!c->events)
		return session_fail(error, -ENOMEM, "out of memory");
	r = open_def(&o, (uint32_t)plan->sideband, &sideband_fd);
	for (uint32_t i = 0; r == 0 && sampled && i < plan->sideband; i++)
		r = open_def(&o, i, &samples_fd);
	*ret_mlock = o.mlock;
	c->samples_fd = samples_fd;
	if (r < 0)
		cpu_rings_close(c);
	return r;
}

void
cpu_rings_close(struct cpu_rings *c)
{
	ring_unmap(&c->samples);
	ring_unmap(&c->sideband);
	for (size_t i = 0; i < c->nr; i++)
		close(c->events[i].fd);
	free(c->events);
	c->events = NULL;
	c->nr = 0;
}

void
cpu_rings_control(const struct cpu_rings *c, const struct event_plan *plan, bool sideband,
		  unsigned long request)
{
	for (size_t i = 0; i < c->nr; i++)
		if (plan->defs[c->events[i].def].sideband == sideband && !c->events[i].retired)
			(void)ioctl(c->events[i].fd, request, 0);
}

int
cpu_rings_renew(struct cpu_rings *c, uint32_t index, const struct cpu_rings_options *options,
		size_t *ret_old, size_t *ret)
{
	struct open_event *e = &c->events[c->nr];
	size_t old = 0;
	int r = 0;

	while (old < c->nr && (c->events[old].def != index || c->events[old].retired))
		old++;
	if (old == c->nr)
		return -ENOENT;
	*e = (struct open_event){ .def = index, .task = c->events[old].task };
	e->fd = open_event(&options->plan->defs[index], options->target, e->task, c->cpu);
	if (e->fd < 0)
		return e->fd;
	if (ioctl(e->fd, PERF_EVENT_IOC_SET_OUTPUT, c->samples_fd) < 0 ||
	    ioctl(e->fd, PERF_EVENT_IOC_ID, &e->id) < 0) {
		r = -errno;
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
			return !plan->defs[c->events[i].def].sideband;
	return 0;
}

int
event_count_read(const struct open_event *e, const struct event_def *def, struct event_count *ret)
{
	uint64_t words[5]; /* value, enabled, running, id, lost: see common_attr() */
	size_t want = def->lost ? 5 : 4;
	ssize_t n = read(e->fd, words, want * sizeof(words[0]));

	if (n < 0)
		return -errno;
	/* "If a pinned event is in error state, read() will return EOF (0)" */
	if ((size_t)n != want * sizeof(words[0]))
		return -ENODATA;
	*ret = (struct event_count){ words[0], words[1], words[2], def->lost ? words[4] : 0 };
	return 0;
}

uint64_t
cpu_rings_taken_ns(const struct cpu_rings *c, const struct event_plan *plan)
{
	uint64_t price_ns = sample_bound_price_ns(plan), ns = c->lost_closed * price_ns;

	for (size_t i = 0; i < c->nr; i++) {
		const struct event_def *def = &plan->defs[c->events[i].def];
		struct event_count count;

		if (!def->sideband && event_count_read(&c->events[i], def, &count) == 0)
			ns += count.value * sample_bound_hit_ns(def) + count.lost * price_ns;
	}
	return ns;
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

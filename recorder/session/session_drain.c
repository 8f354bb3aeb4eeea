/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread that runs a session: it empties rings, and does what is asked meanwhile. */
#include <assert.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "format/record/perf_record.h"
#include "recorder/ground/message.h"
#include "recorder/ground/news.h"
#include "recorder/ground/session_error.h"
#include "recorder/host/host.h"
#include "recorder/host/uevents.h"
#include "recorder/session/session_internal.h"

#define DRAIN_NICE (-20) /* the first of all that are not real-time */
#define TIMER_MS_FULL 5	 /* while the queue is full */

void
session_stop(struct session *s)
{
	int saved = errno;

	(void)eventfd_write(s->stop_fd, 1);
	errno = saved;
}

/* --- CPUs -------------------------------------------------------------------------------- */

static bool
take_gone(struct session *s)
{
	struct queue *q = writer_queue(s->writer);
	bool all = true;

	for (size_t i = 0; i < s->rings.nr; i++) {
		const struct cpu_rings *c = &s->rings.cpus[i];

		if (!c->nr || (!c->dead && cpu_list_has(&s->hotplug.online, c->cpu)))
			continue;
		session_unwatch_cpu(s, c);
		all &= ring_set_cpu_gone(&s->rings, i, q, s->shapes);
	}
	return all;
}

/* Watches each CPU that is not watched yet; until then the timer reads its rings. False: some still are not. */
static bool
watch_all(struct session *s)
{
	bool all = true;

	for (size_t i = 0; i < s->rings.nr; i++)
		if (ring_set_has(&s->rings, s->rings.cpus[i].cpu))
			all &= session_watch_cpu(s, &s->rings.cpus[i]) == 0;
	return all;
}

/* One that cannot be opened (it has gone again, say) or watched is tried again with the next look. */
static bool
open_new(struct session *s, uint64_t now_ns)
{
	struct queue *q = writer_queue(s->writer);
	const struct cpu_list *online = &s->hotplug.online;
	const struct cpu_rings *c;
	bool came = false, looked = false, all;

	all = watch_all(s);
	for (size_t i = 0; i < online->nr; i++) {
		if (ring_set_has(&s->rings, online->cpus[i]))
			continue;
		if (!looked)
			(void)event_plan_look(&s->plan);
		looked = true;
		if (ring_set_cpu_came(&s->rings, online->cpus[i], q, s->shapes, &c, NULL) < 0) {
			all = false;
			continue;
		}
		came = true;
		all &= session_watch_cpu(s, c) == 0;
	}
	/* What happened on it until now nobody has seen. */
	if (came)
		queue_send(q, MESSAGE_RESYNC, 0, now_ns);
	return all;
}

static void
follow_cpus(struct session *s, uint64_t now_ns)
{
	if (!s->follow_cpus)
		return;
	s->cpu_news = false;
	s->unsettled |= hotplug_look(&s->hotplug);
	for (size_t i = 0; i < s->rings.nr; i++)
		s->unsettled |= s->rings.cpus[i].dead;
	if (!s->unsettled)
		return;
	session_counters_now(s);
	s->unsettled = !take_gone(s);
	s->unsettled |= !open_new(s, now_ns);
	queue_wake(writer_queue(s->writer));
	atomic_store_explicit(&s->cpus, ring_set_sampled(&s->rings), memory_order_relaxed);
}

/* --- the loop ---------------------------------------------------------------------------- */

/* Time that passed although nothing kept us: the recorder was not let run. */
static void
note_stall(struct session *s, uint64_t now_ns, int waited_ms)
{
	uint64_t due = s->loop_ns + (uint64_t)waited_ms * MS_NS;

	if (now_ns > due + SECOND_NS)
		s->rings.stall_ns += now_ns - due;
	s->loop_ns = now_ns;
}

static void
take_uevents(struct session *s)
{
	const unsigned int what = uevents_read(s->uevents_fd);

	s->cpu_news |= (what & UEVENTS_CPUS) != 0;
	s->module_news |= (what & UEVENTS_MODULES) != 0;
}

/* At once: between two looks a module may go, and another one come to its place. */
static void
tell_modules(struct session *s)
{
	if (!s->module_news)
		return;
	s->module_news = !queue_send(writer_queue(s->writer), MESSAGE_MODULES, 0, 0);
	queue_wake(writer_queue(s->writer));
}

static void
take_event(struct session *s, const struct epoll_event *e)
{
	int fd = (int)(uint32_t)e->data.u64;
	uint64_t n;

	switch ((enum session_wake)(e->data.u64 >> 32)) {
	case WAKE_EVENT:
		if (!(e->events & (EPOLLHUP | EPOLLERR)))
			break;
		/* Its task and all that inherited from it have ended: it would be ready for ever. */
		epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
		for (size_t i = 0; i < s->rings.nr; i++)
			s->running -= cpu_rings_samples_to(&s->rings.cpus[i], &s->plan, fd);
		s->stopped |= s->target.single_tasks && s->running == 0;
		break;
	case WAKE_COMMAND:
		s->stopped |= command_ended(s->command);
		break;
	case WAKE_REQUEST:
		if (read(fd, &n, sizeof(n)) == sizeof(n) && !s->taken)
			session_take_request(s);
		break;
	case WAKE_UEVENT:
		take_uevents(s);
		break;
	case WAKE_STOP:
	case WAKE_FAILURE:
		s->stopped = true;
		break;
	}
}

/* The kernel tries a pinned event once, and takes it off its CPU for ever when no counter is free. */
static void
tell_failed(struct session *s, struct event_def *def, uint32_t index)
{
	char line[NEWS_BYTES], others[32] = "", where[CPU_RINGS_PLACE_BYTES];
	size_t nr = 0, first = 0;

	for (size_t i = 0; def->attr.pinned && !def->failed && i < s->rings.nr; i++) {
		if (!cpu_rings_failed(&s->rings.cpus[i], index))
			continue;
		first = nr++ ? first : i;
	}
	if (!nr)
		return;
	def->failed = true;
	if (nr > 1)
		(void)snprintf(others, sizeof(others), " and %zu more", nr - 1);
	cpu_rings_place(&s->rings.cpus[first], where);
	(void)snprintf(
		line, sizeof(line),
		"%.100s: no counter was free for it %s%s: pinned (modifier D), it counts nothing "
		"there any more",
		def->name, where, others);
	writer_tell(s->writer, line);
}

static void
tell_failures(struct session *s)
{
	for (size_t i = 0; i < s->plan.nr; i++)
		tell_failed(s, &s->plan.defs[i], (uint32_t)i);
}

static void
look_for_losses(struct session *s, uint64_t now_ns)
{
	struct queue *q = writer_queue(s->writer);
	bool resync = false;

	s->status_ns = now_ns;
	ring_set_losses(&s->rings, q, now_ns, &resync);
	tell_failures(s);
	if (resync)
		queue_send(q, MESSAGE_RESYNC, 0, now_ns);
	queue_wake(q);
}

static int
wait_ms(const struct session *s, uint64_t now_ns, uint64_t deadline_ns, bool full)
{
	uint64_t ms = (uint64_t)(full ? TIMER_MS_FULL : s->timer_ms);

	if (!deadline_ns)
		deadline_ns = UINT64_MAX;
	if (!full && s->counts_due_ns && s->counts_due_ns < deadline_ns)
		deadline_ns = s->counts_due_ns;
	if (!full && s->phase_due_ns < deadline_ns)
		deadline_ns = s->phase_due_ns;
	if (deadline_ns < now_ns)
		deadline_ns = now_ns;
	if (deadline_ns - now_ns < ms * MS_NS)
		ms = (deadline_ns - now_ns) / MS_NS + 1;
	return (int)ms;
}

/* What this thread took since the last look is shared by what went through it. */
static void
share_cpu(struct session *s)
{
	uint64_t moved = s->rings.moved - s->moved, sideband;
	uint64_t ns = host_thread_cpu_ns(), used = ns - s->cpu_ns;

	sideband = s->rings.moved_sideband - s->moved_sideband;
	atomic_fetch_add_explicit(&s->used_ns, used, memory_order_relaxed);
	if (moved)
		atomic_fetch_add_explicit(
			&s->sideband_ns,
			(uint64_t)((double)used * (double)sideband / (double)moved),
			memory_order_relaxed);
	s->cpu_ns = ns;
	s->moved = s->rings.moved;
	s->moved_sideband = s->rings.moved_sideband;
}

/* Hits that came since the last look are one. */
static void
look_at_trigger(struct session *s)
{
	uint64_t hits = 0;

	for (size_t i = 0; i < s->rings.nr; i++)
		hits += cpu_rings_hits(&s->rings.cpus[i], &s->plan);
	if (hits > s->triggered)
		(void)eventfd_write(s->options.trigger_fd, 1);
	s->triggered = hits;
}

/* One time round, after the wait. */
static bool
pass(struct session *s, uint64_t now_ns)
{
	bool all;

	tell_modules(s);
	all = ring_set_pass(&s->rings, writer_queue(s->writer), now_ns, s->taken != NULL);

	bool second = now_ns - s->status_ns >= SECOND_NS;

	if (s->options.overwrite)
		session_window(s, now_ns);
	if (s->options.trigger)
		look_at_trigger(s);
	if (s->options.cpu_share)
		ring_set_bound(&s->rings, writer_queue(s->writer),
			       atomic_load_explicit(s->options.cpu_share, memory_order_relaxed),
			       now_ns);
	if (second) {
		look_for_losses(s, now_ns);
		session_follow_limit(s, now_ns);
		share_cpu(s);
	}
	session_follow_stacks(s, second, now_ns);
	if (second || s->cpu_news)
		follow_cpus(s, now_ns);
	if (now_ns >= s->phase_due_ns)
		s->phase_due_ns = ring_set_phase(&s->rings, now_ns);
	all &= session_counters_look(s, now_ns);
	(void)session_tell_gaps(s);
	if (s->taken)
		session_do_requests(s);
	session_come_round(s);
	return all && !s->taken;
}

/* Where its end is no event, it has to be asked for. */
static bool
command_gone(const struct session *s)
{
	return s->command && command_fd(s->command) < 0 && command_ended(s->command);
}

static int
session_drain_loop(struct session *s, uint64_t deadline_ns, struct session_error *error)
{
	struct epoll_event events[64];
	bool full = false;

	while (!s->stopped) {
		uint64_t now_ns = host_now_ns();
		bool in_time;
		int ms, n;

		if (deadline_ns && now_ns >= deadline_ns)
			break;
		ms = wait_ms(s, now_ns, deadline_ns, full);
		n = epoll_wait(s->epoll_fd, events, 64, ms);
		if (n < 0 && errno != EINTR)
			return session_fail(error, -errno, "epoll_wait: %s", strerror(errno));
		for (int i = 0; i < n; i++)
			take_event(s, &events[i]);
		now_ns = host_now_ns();
		note_stall(s, now_ns, ms);
		in_time = n == 0 && !full;
		full = !pass(s, now_ns);
		if (in_time)
			session_adapt_timer(s);
		s->stopped |= writer_failed(s->writer) || command_gone(s);
	}
	return 0;
}

int
session_go(struct session *s, struct session_error *error)
{
	assert(s->magic == SESSION_MAGIC);
	if (!s->command || s->gone)
		return 0;
	s->gone = true;
	return command_go(s->command, error);
}

/*
 * Where all CPUs are busy, the rings fill while this thread waits for one of them, and what does not fit is lost. Its work
 * is bounded by the rings. Without the right to it, it waits as others do.
 */
static int
drain_first(struct session *s, uint64_t deadline_ns, struct session_error *error)
{
	int before, r;

	errno = 0;
	before = getpriority(PRIO_PROCESS, 0);
	if (errno || setpriority(PRIO_PROCESS, 0, DRAIN_NICE) < 0)
		return session_drain_loop(s, deadline_ns, error);
	r = session_drain_loop(s, deadline_ns, error);
	(void)setpriority(PRIO_PROCESS, 0, before);
	return r;
}

int
session_run(struct session *s, struct session_error *error)
{
	uint64_t deadline_ns = 0;
	int r;

	assert(s->magic == SESSION_MAGIC);
	if (s->options.duration_ns)
		deadline_ns = host_now_ns() + s->options.duration_ns;
	r = session_go(s, error);
	if (r == 0)
		r = drain_first(s, deadline_ns, error);
	session_refuse_requests(s);
	/* What the writer has to say comes with session_finish(), which knows it. */
	return r == 0 && writer_failed(s->writer) ? session_finish(s, error) : r;
}

/* --- ending ------------------------------------------------------------------------------ */

/* The events are off: there is time now, and nothing more comes. */
static void
drain_rest(struct session *s)
{
	struct timespec wait = { 0 };
	struct queue *q = writer_queue(s->writer);
	bool resync = false;

	while (!ring_set_pass(&s->rings, q, host_now_ns(), true))
		session_wait_longer(s, &wait);
	while (!ring_set_losses(&s->rings, q, host_now_ns(), &resync) || !session_tell_gaps(s))
		session_wait_longer(s, &wait);
	tell_failures(s);
}

int
session_finish(struct session *s, struct session_error *error)
{
	uint64_t now_ns;

	assert(s->magic == SESSION_MAGIC);
	if (s->finished)
		return 0;
	s->finished = true;
	session_refuse_requests(s);
	s->rings.ended = true;
	/* Sampling first, so that side-band has all that samples need. */
	ring_set_control(&s->rings, false, PERF_EVENT_IOC_DISABLE);
	ring_set_control(&s->rings, true, PERF_EVENT_IOC_DISABLE);
	if (s->options.aux_snapshot)
		ring_set_snapshot(&s->rings, true);
	now_ns = host_now_ns();
	if (s->command)
		command_stop(s->command);
	drain_rest(s);
	/* Where each dump is asked for, nobody asked for this one. */
	if (s->options.overwrite && !s->options.dump_again)
		session_dump_rings(s);
	if (s->options.cpu_share)
		s->owed_ns = ring_set_owed_ns(&s->rings, *s->options.cpu_share, now_ns);
	session_counters_last(s, now_ns);
	session_send(s, MESSAGE_PASS, now_ns, now_ns, (struct span){ 0 });
	session_send(s, MESSAGE_END, 0, 0, (struct span){ 0 });
	return writer_finish(s->writer, error);
}

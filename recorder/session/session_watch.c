/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a session waits for, and how long. */
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "recorder/session/session_internal.h"

#define TIMER_MS_MIN 10
#define TIMER_MS_MAX 1000      /* each thread shows at least so often that it lives */
#define TIMER_MS_POLLED 200    /* where something has to be looked at */
#define TIMER_MS_BOUNDED 50    /* where it is what sampling takes */
#define RECORD_BYTES_GUESS 512 /* a sample with its call chain, rather more than less */

static uint64_t
ring_bytes(const struct session *s)
{
	return (uint64_t)s->rings.each.pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void
set_timer_ms(struct session *s, uint64_t ms)
{
	uint64_t max = (uint64_t)s->timer_ms_max;

	s->timer_ms = (int)(ms < TIMER_MS_MIN ? TIMER_MS_MIN : ms > max ? max : ms);
}

/* Half the time in which a ring can fill, within reason: the watermark wakes as well. */
void
session_set_timer(struct session *s)
{
	uint64_t hz = s->plan.frequency_hz_effective ? s->plan.frequency_hz_effective : 1000;
	uint64_t each = RECORD_BYTES_GUESS, stack = 0;

	s->timer_ms_max = TIMER_MS_MAX;
	for (size_t i = 0; i < s->plan.nr; i++) {
		const struct event_def *def = &s->plan.defs[i];
		const uint64_t its = def->attr.sample_stack_user + (uint64_t)def->unwind_bytes;

		stack = its > stack ? its : stack;
	}
	each += stack;
	if (s->command && command_fd(s->command) < 0)
		s->timer_ms_max = TIMER_MS_POLLED;
	if (s->options.cpu_share)
		s->timer_ms_max = TIMER_MS_BOUNDED;
	set_timer_ms(s, ring_bytes(s) * 1000 / (hz * each) / 2);
}

/*
 * The size of a sample was a guess. Where the rings are far from full the timer wakes more often
 * than they need, and each time costs two threads a turn; when it comes late the watermark is
 * there. Where they are more than half full, the watermark has come late.
 */
void
session_adapt_timer(struct session *s)
{
	uint64_t ms = (uint64_t)s->timer_ms;

	if (s->rings.fullest > ring_bytes(s) / 2)
		set_timer_ms(s, ms / 2);
	else if (s->rings.fullest < ring_bytes(s) / 4)
		set_timer_ms(s, ms * 2);
}

int
session_watch(struct session *s, int fd, enum session_wake kind)
{
	struct epoll_event e = { .events = EPOLLIN,
				 .data.u64 = (uint64_t)kind << 32 | (uint32_t)fd };

	return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

/*
 * Every descriptor is watched although only one of a ring is mapped: waking a ring wakes
 * all its events, and the end of a task shows on its own descriptor only.
 */
int
session_watch_cpu(struct session *s, const struct cpu_rings *c)
{
	int r = 0;

	for (size_t k = 0; r == 0 && k < c->nr; k++) {
		/* Without a ring it were ready for ever. */
		if (s->plan.defs[c->events[k].def].counts)
			continue;
		r = session_watch(s, c->events[k].fd, WAKE_EVENT);
		if (r == -EEXIST)
			r = 0;
	}
	return r;
}

void
session_watch_renewed(struct session *s)
{
	for (size_t i = 0; i < s->rings.nr; i++)
		s->unsettled |= session_watch_cpu(s, &s->rings.cpus[i]) < 0;
}

void
session_unwatch_cpu(struct session *s, const struct cpu_rings *c)
{
	for (size_t k = 0; k < c->nr; k++)
		(void)epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, c->events[k].fd, NULL);
}

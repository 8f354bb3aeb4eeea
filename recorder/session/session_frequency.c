/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The frequency of a session that runs: what is asked, and what the kernel allows. */
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>

#include "format/block/rate.h"
#include "recorder/event/clock_cost.h"
#include "recorder/event/event_open.h"
#include "recorder/ground/message.h"
#include "recorder/host/host.h"
#include "recorder/session/session_internal.h"

#define LIMIT_NS UINT64_C(5000000000) /* between looks at what the kernel allows */

static bool
has_frequency(const struct event_def *def)
{
	/* How many waits are told is a bound of its own. */
	return !def->sideband && def->attr.freq && !def->attr.context_switch;
}

static int
set_period(const struct session *s, uint32_t index, uint64_t hz)
{
	int r = 0;

	for (size_t i = 0; i < s->rings.nr; i++) {
		const struct cpu_rings *c = &s->rings.cpus[i];

		for (size_t k = 0; k < c->nr; k++)
			if (c->events[k].def == index &&
			    ioctl(c->events[k].fd, PERF_EVENT_IOC_PERIOD, &hz) < 0)
				r = -errno;
	}
	return r;
}

/* Its own stays, as far as the limit allows; else the session's. */
static uint64_t
frequency_of(const struct event_def *def, uint64_t hz, uint64_t limit)
{
	if (!def->own_hz)
		return hz;
	return def->own_hz < limit ? def->own_hz : limit;
}

/*
 * On the events that there are, and in the plan for those to come. The samples of a clock go on telling the
 * period that it was opened with, whatever the ioctl makes of its timer. So clocks are opened anew.
 */
static int
apply_frequency(struct session *s, uint64_t hz, uint64_t limit)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < s->plan.nr; i++) {
		struct event_def *def = &s->plan.defs[i];

		const uint64_t its = frequency_of(def, hz, limit);

		if (!has_frequency(def) || (its == def->attr.sample_freq && !def->hz_due))
			continue;
		def->attr.sample_freq = its;
		def->hz_due = true;
		if (event_attr_is_clock(&def->attr))
			r = ring_set_renew(&s->rings, i, writer_queue(s->writer), s->shapes,
					   host_now_ns());
		else
			r = set_period(s, i, its);
		def->hz_due = r < 0;
	}
	session_watch_renewed(s);
	return r;
}

/* limit_hz: the governor's, 0: none. */
static uint64_t
frequency_limit(const struct session *s, uint64_t asked_hz, uint64_t limit_hz)
{
	uint64_t ours = s->plan.frequency_hz_max ? s->plan.frequency_hz_max : UINT64_MAX;
	uint64_t clocks = clock_cost_plan_hz(&s->plan, asked_hz);
	long long max;

	if (limit_hz && limit_hz < ours)
		ours = limit_hz;
	if (clocks && clocks < ours)
		ours = clocks;
	if (event_max_frequency(&max) < 0 || max <= 0)
		return ours;
	return (uint64_t)max < ours ? (uint64_t)max : ours;
}

int
session_change_frequency(struct session *s, uint64_t asked_hz, uint64_t limit_hz,
			 enum rate_reason reason)
{
	struct queue *q = writer_queue(s->writer);
	uint64_t limit = frequency_limit(s, asked_hz, limit_hz),
		 hz = asked_hz < limit ? asked_hz : limit;
	struct rate rate = { host_now_ns(), asked_hz, hz, reason };
	int r;

	if (!queue_reserve(q, sizeof(rate)))
		return -EAGAIN;
	r = apply_frequency(s, hz, limit);
	if (r < 0 && r != -EAGAIN)
		apply_frequency(s, s->plan.frequency_hz_effective,
				frequency_limit(s, s->plan.frequency_hz,
						s->plan.frequency_hz_limit));
	if (r == 0 && !queue_send_bytes(q, MESSAGE_RATE, &rate, sizeof(rate)))
		r = -EAGAIN;
	if (r < 0)
		return r;
	s->plan.frequency_hz = asked_hz;
	s->plan.frequency_hz_effective = hz;
	s->plan.frequency_hz_limit = limit_hz;
	atomic_store_explicit(&s->frequency_hz, hz, memory_order_relaxed);
	session_set_timer(s);
	return 0;
}

/* Has an event another frequency than its own one, or the limit, would be? */
static bool
own_differs(const struct session *s, uint64_t limit)
{
	for (size_t i = 0; i < s->plan.nr; i++) {
		const struct event_def *def = &s->plan.defs[i];

		if (def->own_hz && has_frequency(def) &&
		    def->attr.sample_freq != frequency_of(def, 0, limit))
			return true;
	}
	return false;
}

void
session_follow_limit(struct session *s, uint64_t now_ns)
{
	uint64_t limit, hz;

	if (!s->plan.frequency_hz || !target_of_cpus(&s->target) || now_ns - s->limit_ns < LIMIT_NS)
		return;
	s->limit_ns = now_ns;
	limit = frequency_limit(s, s->plan.frequency_hz, s->plan.frequency_hz_limit);
	hz = s->plan.frequency_hz < limit ? s->plan.frequency_hz : limit;
	if (hz != s->plan.frequency_hz_effective || own_differs(s, limit))
		session_change_frequency(s, s->plan.frequency_hz, s->plan.frequency_hz_limit,
					 RATE_LIMIT);
}

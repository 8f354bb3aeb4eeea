/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The frequency of a session that runs: what is asked, and what the kernel allows. */
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>

#include "format/block/rate.h"
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

/*
 * On the events that there are, and in the plan for those to come. The clocks are timers: when one
 * is opened the kernel makes a period of its frequency (perf_swevent_init_hrtimer()), takes the
 * number of the ioctl for another period, 50 for 50 ns, and goes on telling the first one with each
 * sample. They are opened anew instead.
 */
static int
apply_frequency(struct session *s, uint64_t hz)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < s->plan.nr; i++) {
		struct event_def *def = &s->plan.defs[i];

		if (!has_frequency(def))
			continue;
		def->attr.sample_freq = hz;
		if (event_attr_is_clock(&def->attr))
			r = ring_set_renew(&s->rings, i, writer_queue(s->writer), s->shapes,
					   host_now_ns());
		else
			r = set_period(s, i, hz);
	}
	for (size_t i = 0; i < s->rings.nr; i++)
		session_watch_cpu(s, &s->rings.cpus[i]);
	return r;
}

static uint64_t
frequency_limit(const struct session *s)
{
	uint64_t ours = s->plan.frequency_hz_max ? s->plan.frequency_hz_max : UINT64_MAX;
	long long max;

	if (event_max_frequency(&max) < 0 || max <= 0)
		return ours;
	return (uint64_t)max < ours ? (uint64_t)max : ours;
}

int
session_change_frequency(struct session *s, uint64_t asked_hz, enum rate_reason reason)
{
	struct queue *q = writer_queue(s->writer);
	uint64_t limit = frequency_limit(s), hz = asked_hz < limit ? asked_hz : limit;
	struct rate rate = { host_now_ns(), asked_hz, hz, reason };
	int r;

	if (!queue_reserve(q, sizeof(rate)))
		return -EAGAIN;
	r = apply_frequency(s, hz);
	if (r < 0 && r != -EAGAIN)
		apply_frequency(s, s->plan.frequency_hz_effective);
	if (r == 0 && !queue_send_bytes(q, MESSAGE_RATE, &rate, sizeof(rate)))
		r = -EAGAIN;
	if (r < 0)
		return r;
	s->plan.frequency_hz = asked_hz;
	s->plan.frequency_hz_effective = hz;
	atomic_store_explicit(&s->frequency_hz, hz, memory_order_relaxed);
	session_set_timer(s);
	return 0;
}

void
session_follow_limit(struct session *s, uint64_t now_ns)
{
	uint64_t limit, hz;

	if (!s->plan.frequency_hz || !target_of_cpus(&s->target) || now_ns - s->limit_ns < LIMIT_NS)
		return;
	s->limit_ns = now_ns;
	limit = frequency_limit(s);
	hz = s->plan.frequency_hz < limit ? s->plan.frequency_hz : limit;
	if (hz != s->plan.frequency_hz_effective)
		session_change_frequency(s, s->plan.frequency_hz, RATE_LIMIT);
}

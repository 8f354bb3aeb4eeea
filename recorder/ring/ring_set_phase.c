/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clocks that begin a period at another moment: see clock_period.h on what their period is. */
#include <linux/perf_event.h>
#include <sys/ioctl.h>

#include "format/bytes/slots.h"
#include "format/bytes/time_text.h"
#include "recorder/ring/ring_set_internal.h"

#define INTERVAL_NS (60 * (uint64_t)SECOND_NS)
/*
 * Half a period of each interval is not sampled: this keeps it below one of two thousand. A twentieth of
 * the interval is a matter of chance.
 */
#define INTERVAL_PERIODS 1000

/* The period that a clock with a frequency was opened with; 0: it is none. */
static uint64_t
period_ns(const struct event_def *def, uint32_t cpu)
{
	struct perf_event_attr attr;

	if (!event_def_samples(def) || def->hz_due || !def->attr.freq ||
	    !event_attr_is_clock(&def->attr) || !event_def_attr(def, cpu, &attr))
		return 0;
	return attr.sample_period;
}

/*
 * Returns the longest period. anew: the ioctl stops the timer and has it expire one period from now,
 * the same period as before (__perf_event_period()).
 */
static uint64_t
longest_ns_of(const struct cpu_rings *c, const struct event_plan *plan, bool anew)
{
	uint64_t longest_ns = 0;

	for (size_t i = 0; i < c->nr; i++) {
		const struct open_event *e = &c->events[i];
		const uint64_t ns = e->retired ? 0 : period_ns(&plan->defs[e->def], c->cpu);

		if (ns && anew)
			(void)ioctl(e->fd, PERF_EVENT_IOC_PERIOD, &ns);
		longest_ns = ns > longest_ns ? ns : longest_ns;
	}
	return longest_ns;
}

static uint64_t
any_below(uint64_t now_ns, uint32_t cpu, uint64_t ns)
{
	return slots_mix(now_ns, cpu) % ns;
}

uint64_t
ring_set_phase(struct ring_set *s, uint64_t now_ns)
{
	uint64_t next_ns = UINT64_MAX;

	for (size_t i = 0; i < s->nr; i++) {
		struct cpu_rings *c = &s->cpus[i];

		if (c->phase_due_ns <= now_ns) {
			const bool anew = c->phase_due_ns != 0;
			uint64_t ns = longest_ns_of(c, s->each.plan, anew) * INTERVAL_PERIODS;

			ns = ns > INTERVAL_NS ? ns : INTERVAL_NS;
			c->phase_due_ns = now_ns + ns - any_below(now_ns, c->cpu, ns / 20);
		}
		next_ns = c->phase_due_ns < next_ns ? c->phase_due_ns : next_ns;
	}
	return next_ns;
}

void
ring_set_phase_soon(struct ring_set *s, uint64_t now_ns)
{
	for (size_t i = 0; i < s->nr; i++)
		s->cpus[i].phase_due_ns =
			now_ns + any_below(now_ns, s->cpus[i].cpu, (uint64_t)SECOND_NS);
}

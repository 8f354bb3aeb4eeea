/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/event_frequency.h"

#include <errno.h>

#include "format/bytes/buf.h"
#include "recorder/event/clock_cost.h"
#include "recorder/event/event_open.h"
#include "recorder/event/sample_bound.h"
#include "recorder/event/trace_cost.h"

void
event_frequency_ask(const struct session_options *o, struct event_plan *plan)
{
	long long max;

	if (o->period || o->extra.no_samples)
		return;
	plan->frequency_hz = o->frequency_hz ? o->frequency_hz : SESSION_FREQUENCY_HZ;
	plan->frequency_hz_effective = plan->frequency_hz;
	plan->frequency_hz_limit = o->frequency_limit_hz;
	if (event_max_frequency(&max) == 0 && max > 0 && plan->frequency_hz > (uint64_t)max)
		plan->frequency_hz_effective = (uint64_t)max;
}

int
event_frequency_bound(const struct session_options *o, struct event_plan *plan, struct buf *notes,
		      struct session_error *error)
{
	uint64_t max_hz = plan->frequency_hz_effective;
	size_t begin = notes->len;
	int r = 0;

	if (o->cpu_share) {
		plan->interrupt_ns = clock_cost_ns();
		plan->trace_ns = sample_bound_traces(plan) ? trace_cost_ns() : 0;
		r = sample_bound_plan(plan, atomic_load(o->cpu_share), notes, error);
	}
	if (r < 0)
		return r;
	if (clock_cost_lower(plan, notes, begin) && o->extra.strict_freq)
		return session_fail(
			error, -EINVAL,
			"%llu Hz is over what interrupts of clocks may take here, %llu Hz of "
			"%.1f us (kernel.perf_cpu_time_max_percent), and --strict-freq "
			"was given",
			(unsigned long long)plan->frequency_hz,
			(unsigned long long)plan->frequency_hz_effective,
			(double)clock_cost_ns() / 1000);
	if (o->extra.strict_freq && max_hz < plan->frequency_hz)
		return session_fail(error, -EINVAL,
				    "%llu Hz is over the kernel's limit, %llu Hz "
				    "(kernel.perf_event_max_sample_rate), and --strict-freq was "
				    "given",
				    (unsigned long long)plan->frequency_hz,
				    (unsigned long long)max_hz);
	if (max_hz < plan->frequency_hz && plan->frequency_hz_effective == max_hz)
		session_note(notes,
			     "frequency lowered from %llu to %llu Hz: "
			     "kernel.perf_event_max_sample_rate",
			     (unsigned long long)plan->frequency_hz, (unsigned long long)max_hz);
	return r;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/clock_cost.h"

#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "format/bytes/buf.h"
#include "format/bytes/time_text.h"
#include "recorder/event/event_open.h"
#include "recorder/event/sample_bound.h"
#include "recorder/ground/session_error.h"
#include "recorder/host/host.h"

/* The kernel makes it of a shorter one (perf_swevent_start_hrtimer()). */
#define KERNEL_PERIOD_NS 10000u
#define PERIOD_NS 250000u
#define LOOK_NS (20 * PERIOD_NS)
#define GAPS_MAX 64
#define GAPS_MIN 8   /* fewer tell nothing: the thread had no CPU */
#define GAP_NS 1000u /* a shorter one is a read of the clock itself */

static int
compare_ns(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The time between two reads of the clock is long where an interrupt was. */
static uint64_t
median_gap_ns(void)
{
	uint64_t gaps[GAPS_MAX], begin = host_now_ns(), last = begin;
	size_t nr = 0;

	while (last - begin < LOOK_NS && nr < GAPS_MAX) {
		uint64_t now = host_now_ns();

		if (now - last > GAP_NS)
			gaps[nr++] = now - last;
		last = now;
	}
	if (nr < GAPS_MIN)
		return 0;
	qsort(gaps, nr, sizeof(gaps[0]), compare_ns);
	return gaps[nr / 2];
}

static uint64_t
measure(void)
{
	/* In user mode, where this thread is: a user without rights may have no other. */
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD_NS,
		.sample_type = PERF_SAMPLE_IP,
		.exclude_kernel = 1,
	};
	int fd = event_open(&attr, 0, -1, 0);
	uint64_t ns;

	if (fd < 0)
		return 0;
	ns = median_gap_ns();
	(void)close(fd);
	return ns;
}

uint64_t
clock_cost_ns(void)
{
	static _Atomic uint64_t
		measured; /* one more than measured; 0: not yet. Two threads may both measure. */
	uint64_t ns = atomic_load(&measured);

	if (!ns) {
		ns = measure() + 1;
		atomic_store(&measured, ns);
	}
	return ns - 1;
}

uint64_t
clock_cost_limit_hz(uint64_t cost_ns, long long percent)
{
	uint64_t hz;

	if (!cost_ns || percent <= 0 || percent >= 100)
		return 0;
	hz = SECOND_NS / 100 * (uint64_t)percent / cost_ns;
	return hz < CLOCK_COST_FREE_HZ ? CLOCK_COST_FREE_HZ : hz;
}

/* How many interrupts a second it has when the session has hz; 0: it is no clock that samples. */
static uint64_t
clock_hz(const struct event_def *def, uint64_t hz)
{
	const struct perf_event_attr *attr = &def->attr;

	if (def->sideband || !event_attr_is_clock(attr) || !attr->sample_period)
		return 0;
	if (attr->freq)
		return def->own_hz ? def->own_hz : hz;
	return SECOND_NS /
		(attr->sample_period < KERNEL_PERIOD_NS ? KERNEL_PERIOD_NS : attr->sample_period);
}

uint64_t
clock_cost_plan_hz(const struct event_plan *plan, uint64_t hz)
{
	uint64_t clocks = 0, all = 0, limit;
	long long percent;

	for (size_t i = 0; i < plan->nr; i++) {
		uint64_t one = clock_hz(&plan->defs[i], hz);

		clocks += one != 0;
		all += one;
	}
	if (all <= CLOCK_COST_FREE_HZ || event_cpu_percent(&percent) < 0)
		return 0;
	limit = clock_cost_limit_hz(clock_cost_ns(), percent);
	return limit ? limit / clocks + !(limit / clocks) : 0;
}

/* The kernel makes a longer period of a very short one as well, and does not tell. */
static bool
lengthen_periods(struct event_plan *plan, uint64_t hz, const char *reason, struct buf *notes)
{
	const uint64_t least = SECOND_NS / hz;
	bool any = false;

	for (size_t i = 0; i < plan->nr; i++) {
		struct event_def *def = &plan->defs[i];

		if (def->attr.freq || !clock_hz(def, 0) || def->attr.sample_period >= least)
			continue;
		session_note(notes, "%s: period raised from %llu to %llu ns: %s", def->name,
			     (unsigned long long)def->attr.sample_period, (unsigned long long)least,
			     reason);
		def->attr.sample_period = least;
		any = true;
	}
	return any;
}

static uint64_t
highest_frequency(const struct event_plan *plan)
{
	uint64_t hz = 0;

	for (size_t i = 0; i < plan->nr; i++) {
		const struct event_def *def = &plan->defs[i];

		if (!def->sideband && def->attr.freq && def->attr.sample_freq > hz)
			hz = def->attr.sample_freq;
	}
	return hz;
}

bool
clock_cost_lower(struct event_plan *plan, struct buf *notes, size_t notes_begin)
{
	uint64_t hz = clock_cost_plan_hz(plan, plan->frequency_hz_effective);
	bool lower = hz && hz < highest_frequency(plan);
	char reason[160];

	if (!hz)
		return false;
	(void)snprintf(reason, sizeof(reason),
		       "an interrupt of a clock takes %.1f us here; "
		       "kernel.perf_cpu_time_max_percent allows no more",
		       (double)clock_cost_ns() / 1000);
	if (lower) {
		notes->len = notes_begin;
		sample_bound_lower(plan, hz, reason, notes);
	}
	return lengthen_periods(plan, hz, reason, notes) || lower;
}

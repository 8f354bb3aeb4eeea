/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock_cost: what one interrupt of a sampling clock takes on this machine, and how many of them a
 * CPU may have.
 *
 * The kernel lowers kernel.perf_event_max_sample_rate by what the interrupts of hardware counters
 * take, and never by those of the clocks, which are timers (perf_sample_event_took() is called of
 * NMI handlers alone). One takes 1 to 2 us on bare metal, and 50 us on a virtual machine inside
 * another one: there 20,000 Hz leave a CPU no time for anything else.
 */
#ifndef RECORDER_EVENT_CLOCK_COST_H
#define RECORDER_EVENT_CLOCK_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/event/event.h"

/* As many a second cost little wherever they are taken; nothing is measured for them. */
#define CLOCK_COST_FREE_HZ 2000u

/*
 * The median of some interrupts of a clock of the calling thread, in ns; 0: they are too short to
 * be seen, or may not be had. Measured by the first call, which takes 5 ms.
 */
uint64_t clock_cost_ns(void);

/* Interrupts of cost_ns each, a second, that take no more than percent of a CPU; 0: no limit. */
uint64_t clock_cost_limit_hz(uint64_t cost_ns, long long percent);

/*
 * What each clock of a plan may have when all events are to have hz or their own frequency: their
 * share of kernel.perf_cpu_time_max_percent (0 and 100: no limit). 0: no limit.
 */
uint64_t clock_cost_plan_hz(const struct event_plan *plan, uint64_t hz);

/*
 * Lowers the frequencies of a plan to clock_cost_plan_hz(), and raises the periods of its clocks, with a note instead of those from
 * notes_begin
 * on, if that is less than what they tell. Returns whether it lowered any.
 */
bool clock_cost_lower(struct event_plan *plan, struct buf *notes, size_t notes_begin);

#endif

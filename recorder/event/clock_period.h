/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock_period: the period with which a sampling clock of a frequency is opened.
 *
 * Of a frequency Linux makes a timer of 1 s / hz (perf_swevent_init_hrtimer()), which expires at the same hz moments of
 * each second, for ever. What a program does for 10 ms of each second, or on a timer tick, is then sampled always or
 * never. A period whose rate is no whole number meets all moments of a second in turn.
 */
#ifndef RECORDER_EVENT_CLOCK_PERIOD_H
#define RECORDER_EVENT_CLOCK_PERIOD_H

#include <stdint.h>

/*
 * In ns: that of a frequency above hz by up to 2 %, below 25 Hz by up to 0.5 Hz, below 10 Hz by up to a
 * twentieth. Within a minute its samples meet all moments of a second, of the mains and of ticks alike. Each CPU
 * has another one, chosen at random by this process, and the same each time. 10,000 at least, as a
 * timer of the kernel has. hz is not 0, and at most 1,000,000.
 */
uint64_t clock_period_ns(uint64_t hz, uint32_t cpu);

#endif

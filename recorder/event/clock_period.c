/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/clock_period.h"

#include <stddef.h>

#include "format/bytes/slots.h"
#include "format/bytes/time_text.h"

#define PARTS UINT64_C(1000000) /* of a Hz */
#define TRIES 300
#define SAMPLES_LEAST 1000
#define PERIOD_NS_LEAST                                                                            \
	10000 /* the kernel makes no timer that is shorter (perf_swevent_hrtimer()) */

/* What happens on a host at whole rates: seconds, mains and screens, ticks of kernels. */
static const uint64_t rates[] = { 1, 50, 60, 100, 250, 300, 1000 };

/* Four times the root of the samples: see evenness_at(). */
static uint64_t
evenness_wanted(uint64_t samples)
{
	uint64_t root = 0;

	while (root * root < samples)
		root++;
	return 4 * root;
}

/*
 * How evenly so many samples meet the moments of a cycle of 1 s / rate, as a score. It is at most `most`, and is not
 * looked for further once it is known to be `least` or below. After q samples the moment has moved by d, the distance of q
 * periods from a whole number of cycles; where that number is 0, d is nothing but the time that has passed. So the
 * samples are q chains, which begin 1/q of a cycle apart, and each moves by d at each step: together they go through the
 * cycle d * samples times. What an unfinished last time leaves uneven is samples / (q * d * samples) of them: the
 * smallest q * d * samples is the score. A twentieth of a cycle has several chains from q = 20 on, and below that a part
 * of one. Chance leaves about the root of the samples uneven.
 */
static uint64_t
evenness_at(uint64_t period_ns, uint64_t samples, uint64_t rate, uint64_t least, uint64_t most)
{
	const uint64_t second = (uint64_t)SECOND_NS;
	uint64_t found = most;

	for (uint64_t q = 1; q < most && found > least; q++) {
		uint64_t moved = q * period_ns * rate, even;

		if (moved < second / 2)
			continue;
		moved %= second;
		if (moved > second / 2)
			moved = second - moved;
		even = (q > 20 ? q : 20) * moved / 1000 * samples / (second / 1000);
		found = even < found ? even : found;
	}
	return found;
}

/* Of few samples a second all moments of a second are asked for, and not all of a tick. */
static uint64_t
evenness_at_all(uint64_t period_ns, uint64_t hz, uint64_t samples, uint64_t least, uint64_t most)
{
	uint64_t found = most;

	for (size_t i = 0; i < sizeof(rates) / sizeof(*rates) && (i == 0 || hz >= 10); i++) {
		uint64_t even = evenness_at(period_ns, samples, rates[i], least, most);

		found = even < found ? even : found;
	}
	return found;
}

/* How far above hz a frequency may be, in millionths of a Hz. */
static uint64_t
most_above(uint64_t hz)
{
	if (hz < 10)
		return hz * PARTS / 20;
	return hz < 25 ? PARTS / 2 : hz * PARTS / 50;
}

uint64_t
clock_period_ns(uint64_t hz, uint32_t cpu)
{
	const uint64_t samples = 60 * hz > SAMPLES_LEAST ? 60 * hz : SAMPLES_LEAST;
	const uint64_t most = most_above(hz), wanted = evenness_wanted(samples);
	uint64_t best = (uint64_t)SECOND_NS / hz, best_even = 0;

	if (best <= PERIOD_NS_LEAST)
		return PERIOD_NS_LEAST;
	/* slots_key is random. */
	for (uint64_t i = 0; i < TRIES && best_even < wanted; i++) {
		uint64_t more = most / 5 + slots_mix(hz << 32 | i, cpu) % (most - most / 5);
		uint64_t period_ns = (uint64_t)SECOND_NS * PARTS / (hz * PARTS + more);
		uint64_t even = evenness_at_all(period_ns, hz, samples, best_even, wanted);

		if (even <= best_even)
			continue;
		best = period_ns;
		best_even = even;
	}
	return best > PERIOD_NS_LEAST ? best : PERIOD_NS_LEAST;
}

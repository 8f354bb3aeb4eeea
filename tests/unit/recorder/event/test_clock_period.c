/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sampling clock meets all moments of a second, of a tick and of what else comes at a whole rate. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "recorder/event/clock_period.h"
#include "recorder/event/event_def.h"

#define SECOND UINT64_C(1000000000)
#define PARTS 20

static const uint64_t frequencies[] = { 1, 2, 7, 8, 19, 49, 97, 99, 100, 250, 997, 999, 1000, 4999 };

static void
test_near_the_frequency(void **state)
{
	for (size_t i = 0; i < sizeof(frequencies) / sizeof(*frequencies); i++) {
		uint64_t hz = frequencies[i];

		for (uint32_t cpu = 0; cpu < 300; cpu++)
			assert_uint_in_range(clock_period_ns(hz, cpu), SECOND * 945 / 1000 / hz,
					     SECOND / hz);
	}
}

static void
test_each_cpu_has_its_own(void **state)
{
	for (uint64_t hz = 1; hz < 100; hz++) {
		size_t others = 0;

		for (uint32_t cpu = 1; cpu < 8; cpu++)
			others += clock_period_ns(hz, cpu) != clock_period_ns(hz, 0);
		/* Two may have the same one by chance. */
		assert_true(others > 4);
		assert_int_equal(clock_period_ns(hz, 1), clock_period_ns(hz, 1));
	}
}

static void
test_no_shorter_than_the_timer(void **state)
{
	for (uint64_t hz = 100000; hz <= 1000000; hz += 100000)
		assert_int_equal(clock_period_ns(hz, 0), 10000);
}

/*
 * How far the samples of so many seconds are from being in all parts of what happens at rate alike, in
 * variances of as many that come at random.
 */
static double
worst_part(uint64_t period, uint64_t rate, uint64_t seconds)
{
	unsigned int parts[PARTS] = { 0 };
	const double wanted = (double)(seconds * SECOND) / (double)period / PARTS;
	double worst = 0;

	for (uint64_t at = 0; at < seconds * SECOND; at += period)
		parts[at % (SECOND / rate) * PARTS * rate / SECOND]++;
	for (size_t i = 0; i < PARTS; i++) {
		const double off = (parts[i] - wanted) * (parts[i] - wanted) / wanted;

		worst = off > worst ? off : worst;
	}
	return worst;
}

static void
test_all_moments(void **state)
{
	/* Of what is as slow as a few Hz the second alone: a few hundred samples do not meet all of a tick. */
	static const uint64_t rates[] = { 1, 10, 50, 60, 100, 250, 300, 1000 };

	/* With 1 s / hz they are in hz parts of a second, or in one part of a tick. */
	assert_true(worst_part(SECOND / 19, 1, 80) > 64);
	assert_true(worst_part(SECOND / 100, 100, 80) > 2500);
	for (size_t i = 0; i < sizeof(frequencies) / sizeof(*frequencies); i++)
		for (size_t k = 0; k < (frequencies[i] < 19 ? 1 : sizeof(rates) / sizeof(*rates));
		     k++) {
			const uint64_t seconds = 60 * PARTS / frequencies[i] + 60;

			for (uint32_t cpu = 0; cpu < 4; cpu++) {
				const double worst = worst_part(
					clock_period_ns(frequencies[i], cpu), rates[k], seconds);

				if (worst > 16)
					fail_msg(
						"%u Hz beside %u Hz: a part is off by %.1f variances: %u ns",
						(unsigned int)frequencies[i],
						(unsigned int)rates[k], worst,
						(unsigned int)clock_period_ns(frequencies[i], cpu));
			}
		}
}

/* The recording has the frequency, the kernel a period; what has no frequency, and is no clock, stays as it is. */
static void
test_what_is_opened(void **state)
{
	struct event_def clock = { .attr = { .type = PERF_TYPE_SOFTWARE,
					     .config = PERF_COUNT_SW_CPU_CLOCK,
					     .freq = 1,
					     .sample_freq = 19 } };
	struct event_def faults = clock, period = clock;
	struct perf_event_attr attr;

	assert_true(event_def_attr(&clock, 3, &attr));
	assert_false(attr.freq);
	assert_int_equal(attr.sample_period, clock_period_ns(19, 3));
	assert_true(clock.attr.freq && clock.attr.sample_freq == 19);
	faults.attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	assert_true(event_def_attr(&faults, 3, &attr));
	assert_true(attr.freq && attr.sample_freq == 19);
	period.attr.freq = 0;
	assert_true(event_def_attr(&period, 3, &attr));
	assert_true(!attr.freq && attr.sample_period == 19);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_near_the_frequency),
		cmocka_unit_test(test_each_cpu_has_its_own),
		cmocka_unit_test(test_no_shorter_than_the_timer),
		cmocka_unit_test(test_all_moments),
		cmocka_unit_test(test_what_is_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

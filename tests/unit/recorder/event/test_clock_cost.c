/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "format/bytes/buf.h"
#include "recorder/event/clock_cost.h"
#include "recorder/event/event_open.h"

#define FAST_HZ UINT64_C(10000000000) /* no interrupt is as short */

struct maker {
	struct event_def defs[4];
	struct event_plan plan;
	struct buf notes;
};

/* A clock at 0: the session's frequency; else its own. The last one is side-band, at the frequency of all. */
static void
begin(struct maker *m, uint64_t hz, const uint64_t *own, size_t nr)
{
	*m = (struct maker){ .plan = { .frequency_hz = hz, .frequency_hz_effective = hz } };
	m->plan.defs = m->defs;
	m->plan.nr = nr + 1;
	m->plan.sideband = nr;
	buf_init(&m->notes);
	for (size_t i = 0; i <= nr; i++) {
		m->defs[i].own_hz = i < nr ? own[i] : 0;
		m->defs[i].sideband = i == nr;
		m->defs[i].attr.type = PERF_TYPE_SOFTWARE;
		m->defs[i].attr.config = PERF_COUNT_SW_TASK_CLOCK;
		m->defs[i].attr.freq = 1;
		m->defs[i].attr.sample_freq = m->defs[i].own_hz ? m->defs[i].own_hz : hz;
	}
}

static uint64_t
limit(uint64_t clocks)
{
	long long percent;

	assert_int_equal(event_cpu_percent(&percent), 0);
	return clock_cost_limit_hz(clock_cost_ns(), percent) / clocks;
}

static void
test_limit(void **state)
{
	(void)state;
	assert_int_equal(clock_cost_limit_hz(50000, 25), 5000);
	assert_int_equal(clock_cost_limit_hz(1500, 25), 166666);
	assert_int_equal(clock_cost_limit_hz(1500, 1), 6666);
	/* Some may always be had. */
	assert_int_equal(clock_cost_limit_hz(1000000, 25), CLOCK_COST_FREE_HZ);
	/* As the kernel takes its sysctl. */
	assert_int_equal(clock_cost_limit_hz(50000, 0), 0);
	assert_int_equal(clock_cost_limit_hz(50000, 100), 0);
	assert_int_equal(clock_cost_limit_hz(50000, 99), 19800);
	assert_int_equal(clock_cost_limit_hz(0, 25), 0);
}

static void
test_measured(void **state)
{
	uint64_t ns = clock_cost_ns();

	(void)state;
	assert_in_range(ns, 0, 10000000);
	assert_true(ns == 0 || ns > 1000);
	assert_int_equal(clock_cost_ns(), ns);
}

static void
test_few(void **state)
{
	const uint64_t own[] = { 0, 1001, 0 };
	struct maker m;

	(void)state;
	begin(&m, 499, own, 3);
	assert_int_equal(clock_cost_plan_hz(&m.plan, 499), 0);
	assert_false(clock_cost_lower(&m.plan, &m.notes, 0));
	/* With two more hertz they are over what is free. */
	assert_int_equal(clock_cost_plan_hz(&m.plan, 500), limit(3));
	/* What is no clock does not count, and a period as the frequency that it is. */
	m.defs[0].attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	assert_int_equal(clock_cost_plan_hz(&m.plan, 500), 0);
	assert_int_equal(clock_cost_plan_hz(&m.plan, 1000), limit(2));
	m.defs[1].attr.freq = 0;
	m.defs[1].attr.sample_period = 1000000;
	assert_int_equal(clock_cost_plan_hz(&m.plan, 1000), 0);
	assert_int_equal(clock_cost_plan_hz(&m.plan, 1001), limit(2));
	buf_done(&m.notes);
}

static void
test_lowered(void **state)
{
	const uint64_t own[] = { 0, 99, FAST_HZ };
	uint64_t hz = limit(3);
	struct maker m;

	(void)state;
	begin(&m, FAST_HZ, own, 3);
	buf_text(&m.notes, "kept.");
	buf_text(&m.notes, "weaker");
	assert_int_equal(clock_cost_lower(&m.plan, &m.notes, 5), hz != 0);
	buf_u8(&m.notes, 0);
	assert_int_equal(m.defs[0].attr.sample_freq, hz ? hz : FAST_HZ);
	assert_int_equal(m.defs[1].attr.sample_freq, 99);
	assert_int_equal(m.defs[2].attr.sample_freq, hz ? hz : FAST_HZ);
	assert_int_equal(m.plan.frequency_hz_effective, hz ? hz : FAST_HZ);
	assert_int_equal(m.plan.frequency_hz, FAST_HZ);
	assert_true(strncmp((char *)m.notes.p, "kept.", 5) == 0);
	assert_int_equal(strstr((char *)m.notes.p, "weaker") != NULL, hz == 0);
	assert_int_equal(strstr((char *)m.notes.p, "perf_cpu_time_max_percent") != NULL, hz != 0);
	/* What is lowered is low enough. */
	m.notes.len = 0;
	m.plan.frequency_hz_effective = hz;
	m.defs[2].own_hz = hz;
	assert_false(clock_cost_lower(&m.plan, &m.notes, 0));
	buf_done(&m.notes);
}

static void
test_periods(void **state)
{
	const uint64_t own[] = { 0, 0 };
	uint64_t hz = limit(2);
	struct maker m;

	(void)state;
	begin(&m, 0, own, 2);
	for (size_t i = 0; i < 2; i++) {
		m.defs[i].attr.freq = 0;
		m.defs[i].attr.sample_period = i ? 1000000000 : 1;
	}
	/* Of the kernel's 100,000 a second at most. */
	assert_int_equal(clock_cost_plan_hz(&m.plan, 0), hz);
	if (hz == 0 || hz >= 1000000000) {
		assert_false(clock_cost_lower(&m.plan, &m.notes, 0));
	} else {
		assert_true(clock_cost_lower(&m.plan, &m.notes, 0));
		assert_int_equal(m.defs[0].attr.sample_period, 1000000000 / hz);
	}
	assert_int_equal(m.defs[1].attr.sample_period, 1000000000);
	assert_int_equal(m.plan.frequency_hz_effective, 0);
	buf_done(&m.notes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit),	cmocka_unit_test(test_measured),
		cmocka_unit_test(test_few),	cmocka_unit_test(test_lowered),
		cmocka_unit_test(test_periods),
	};

	return cmocka_run_group_tests_name("clock_cost", tests, NULL, NULL);
}

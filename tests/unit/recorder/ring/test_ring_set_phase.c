/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When clocks begin a period anew. That they then do, tests/daemon/phases.t sees. */
#include "recorder/ring/ring_set.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <setjmp.h>
#include <cmocka.h>

#include "recorder/event/clock_period.h"
#include "recorder/event/event.h"

#define CPUS 64
#define SECOND UINT64_C(1000000000)
#define NOW (1000 * SECOND)

struct rig {
	struct event_def def;
	struct event_plan plan;
	struct open_event events[CPUS];
	struct cpu_rings cpus[CPUS];
	struct ring_set set;
};

static void
rig_begin(struct rig *r, uint64_t hz)
{
	memset(r, 0, sizeof(*r));
	r->def.attr = (struct perf_event_attr){ .type = PERF_TYPE_SOFTWARE,
						.config = PERF_COUNT_SW_CPU_CLOCK,
						.freq = 1,
						.sample_freq = hz };
	r->plan = (struct event_plan){ .defs = &r->def, .nr = 1 };
	for (uint32_t i = 0; i < CPUS; i++) {
		r->events[i].fd = -1;
		r->cpus[i].cpu = i;
		r->cpus[i].events = &r->events[i];
		r->cpus[i].nr = 1;
	}
	r->set = (struct ring_set){ .cpus = r->cpus, .nr = CPUS };
	r->set.each.plan = &r->plan;
}

/* Returns the earliest one. */
static uint64_t
check_due(const struct rig *r, uint64_t from_ns, uint64_t until_ns)
{
	uint64_t least = UINT64_MAX, most = 0;

	for (size_t i = 0; i < CPUS; i++) {
		const uint64_t due = r->cpus[i].phase_due_ns;

		assert_uint_in_range(due, from_ns, until_ns);
		least = due < least ? due : least;
		most = due > most ? due : most;
	}
	/* Of 64 random moments. */
	assert_true(most - least > (until_ns - from_ns) / 2);
	return least;
}

static void
test_each_minute(void **state)
{
	struct rig r;
	uint64_t next, due[CPUS];

	(void)state;
	rig_begin(&r, 99);
	next = ring_set_phase(&r.set, NOW);
	assert_int_equal(next, check_due(&r, NOW + 57 * SECOND, NOW + 60 * SECOND));
	for (size_t i = 0; i < CPUS; i++)
		due[i] = r.cpus[i].phase_due_ns;
	assert_int_equal(ring_set_phase(&r.set, next - 1), next);
	/* Those whose time has come, and no others. */
	ring_set_phase(&r.set, NOW + 58 * SECOND);
	for (size_t i = 0; i < CPUS; i++)
		if (due[i] > NOW + 58 * SECOND)
			assert_int_equal(r.cpus[i].phase_due_ns, due[i]);
		else
			assert_uint_in_range(r.cpus[i].phase_due_ns, NOW + (57 + 58) * SECOND,
					     NOW + (60 + 58) * SECOND);
}

/* What half a period is of a minute would be missed. */
static void
test_low_frequency(void **state)
{
	struct rig r;

	(void)state;
	rig_begin(&r, 1);
	ring_set_phase(&r.set, NOW);
	check_due(&r, NOW + 900 * SECOND, NOW + 1000 * SECOND);
}

static void
test_another_file(void **state)
{
	struct rig r;
	uint64_t next;

	(void)state;
	rig_begin(&r, 19);
	ring_set_phase(&r.set, NOW);
	ring_set_phase_soon(&r.set, NOW + SECOND);
	next = check_due(&r, NOW + SECOND, NOW + 2 * SECOND);
	assert_true(ring_set_phase(&r.set, NOW + SECOND) >= next);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_minute),
		cmocka_unit_test(test_low_frequency),
		cmocka_unit_test(test_another_file),
	};

	return cmocka_run_group_tests_name("ring_set_phase", tests, NULL, NULL);
}

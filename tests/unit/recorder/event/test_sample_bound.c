/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include <bsd/string.h>

#include "format/bytes/buf.h"
#include "recorder/event/sample_bound.h"

#define MS UINT64_C(1000000)
#define TENTH (SAMPLE_SHARE_ALL / 10)

struct maker {
	struct event_def defs[20];
	struct event_plan plan;
	struct buf notes;
	struct session_error error;
};

static void
begin(struct maker *m, uint64_t hz)
{
	*m = (struct maker){ .plan = { .frequency_hz = hz, .frequency_hz_effective = hz } };
	m->plan.defs = m->defs;
	buf_init(&m->notes);
}

/* hz or period; the other one 0. */
static void
add(struct maker *m, uint32_t type, uint64_t config, uint64_t hz, uint64_t period)
{
	struct event_def *def = &m->defs[m->plan.nr++];

	def->attr.type = type;
	def->attr.config = config;
	def->attr.freq = hz != 0;
	def->attr.sample_period = hz ? hz : period;
	(void)strlcpy(def->name, "event", sizeof(def->name));
}

static int
finish(struct maker *m, uint32_t share)
{
	int r;

	m->plan.sideband = m->plan.nr;
	add(m, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, 0, 0);
	m->defs[m->plan.sideband].sideband = true;
	r = sample_bound_plan(&m->plan, share, &m->notes, &m->error);
	buf_u8(&m->notes, 0);
	return r;
}

static void
done(struct maker *m)
{
	buf_done(&m->notes);
}

static void
test_frequencies(void **state)
{
	const struct {
		uint64_t asked, events, got;
	} cases[] = { { 100000, 1, 4000 }, { 4000, 1, 4000 }, { 4001, 1, 4000 },  { 999, 1, 999 },
		      { 999, 4, 999 },	   { 999, 16, 250 },  { 100000, 16, 250 } };
	struct maker m;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(&m, cases[i].asked);
		for (uint64_t k = 0; k < cases[i].events; k++)
			add(&m, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, cases[i].asked, 0);
		assert_int_equal(finish(&m, TENTH), 0);
		for (uint64_t k = 0; k < cases[i].events; k++)
			assert_int_equal(m.defs[k].attr.sample_freq, cases[i].got);
		assert_int_equal(m.plan.frequency_hz_effective, cases[i].got);
		assert_int_equal(m.plan.frequency_hz, cases[i].asked);
		assert_int_equal(m.notes.len > 1, cases[i].got != cases[i].asked);
		done(&m);
	}
}

/* An interrupt that was measured as longer than its price costs a quarter more than that. */
static void
test_measured(void **state)
{
	const struct {
		uint64_t ns, got;
	} cases[] = { { 0, 4000 }, { 16000, 4000 }, { 40000, 1600 }, { 80000, 800 } };
	struct maker m;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(&m, 100000);
		m.plan.interrupt_ns = cases[i].ns;
		add(&m, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 100000, 0);
		assert_int_equal(finish(&m, TENTH), 0);
		assert_int_equal(m.plan.frequency_hz_effective, cases[i].got);
		done(&m);
	}
	/* What is no interrupt has its own. */
	begin(&m, 100000);
	m.plan.interrupt_ns = 80000;
	add(&m, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0, 1);
	assert_int_equal(finish(&m, TENTH), 0);
	assert_int_equal(sample_bound_price_ns(&m.plan), SAMPLE_TRACE_NS);
	done(&m);
}

/* A sample of a software event or tracepoint costs as many times what one of a page fault was measured to take. */
static void
test_traces(void **state)
{
	struct maker m;

	(void)state;
	begin(&m, 99);
	add(&m, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 99, 0);
	assert_false(sample_bound_traces(&m.plan));
	add(&m, PERF_TYPE_TRACEPOINT, 1, 0, 1);
	assert_true(sample_bound_traces(&m.plan));
	m.plan.trace_ns = 4500;
	assert_int_equal(finish(&m, TENTH), 0);
	assert_int_equal(sample_bound_price_ns(&m.plan), 22500);
	/* The clock's is the dearest. */
	m.plan.trace_ns = 1000;
	assert_int_equal(sample_bound_price_ns(&m.plan), SAMPLE_INTERRUPT_NS);
	done(&m);
	begin(&m, 99);
	add(&m, PERF_TYPE_TRACEPOINT, 1, 0, 1);
	m.plan.trace_ns = 1000;
	assert_int_equal(finish(&m, TENTH), 0);
	assert_int_equal(sample_bound_price_ns(&m.plan), SAMPLE_TRACE_NS);
	done(&m);
}

/* The event's own frequency, in a plan that has a lower one. */
static void
test_terms(void **state)
{
	struct maker m;

	(void)state;
	begin(&m, 99);
	add(&m, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 50000, 0);
	add(&m, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 99, 0);
	assert_int_equal(finish(&m, TENTH), 0);
	assert_int_equal(m.defs[0].attr.sample_freq, 2000);
	assert_int_equal(m.defs[1].attr.sample_freq, 99);
	assert_string_equal((char *)m.notes.p,
			    "frequency lowered from 50000 to 2000 Hz: capture_cpu");
	done(&m);
}

static void
test_periods(void **state)
{
	const struct {
		uint32_t type;
		uint64_t config, period;
		bool good;
	} cases[] = {
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1, false },
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 249900, false },
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 250001, true },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 1000000, false },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 2000000, true },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 2000000, false },
		/* How often these come nobody knows: they are counted. */
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 1, true },
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1, true },
		{ PERF_TYPE_TRACEPOINT, 17, 1, true },
	};
	struct maker m;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(&m, 0);
		add(&m, cases[i].type, cases[i].config, 0, cases[i].period);
		/* With the price of an interrupt. */
		add(&m, PERF_TYPE_RAW, 1, 0, UINT64_MAX);
		assert_int_equal(finish(&m, TENTH), cases[i].good ? 0 : -EINVAL);
		assert_int_equal(!*m.error.text, cases[i].good);
		assert_int_equal(m.defs[0].attr.sample_period, cases[i].period);
		done(&m);
	}
}

static void
test_too_many_events(void **state)
{
	struct maker m;

	(void)state;
	for (int n = SAMPLE_EVENTS_MAX; n <= SAMPLE_EVENTS_MAX + 1; n++) {
		begin(&m, 0);
		for (int i = 0; i < n; i++)
			add(&m, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0, 1);
		assert_int_equal(finish(&m, TENTH), n > SAMPLE_EVENTS_MAX ? -EINVAL : 0);
		done(&m);
	}
}

/* A stack of 64 KiB is worth a dozen interrupts. */
static void
test_stacks(void **state)
{
	struct maker m;

	(void)state;
	begin(&m, 999);
	add(&m, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 999, 0);
	m.defs[0].attr.sample_stack_user = 65528;
	assert_int_equal(finish(&m, TENTH), 0);
	assert_in_range(m.defs[0].attr.sample_freq, 200, 350);
	done(&m);
}

/* Copies to be unwound: a frequency is lowered for the smallest ones alone, and the rest of the share is theirs. */
static void
test_unwound_stacks(void **state)
{
	static const struct {
		uint64_t hz, got, copied;
	} table[] = { { 99, 99, 49010000 }, { 999, 999, 40010000 }, { 9999, 2836, 21640000 } };

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct maker m;

		begin(&m, table[i].hz);
		add(&m, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, table[i].hz, 0);
		m.defs[0].unwind_bytes = 64512;
		m.defs[0].unwind_open = true;
		assert_int_equal(finish(&m, TENTH), 0);
		assert_int_equal(m.defs[0].attr.sample_freq, table[i].got);
		assert_int_equal(sample_bound_copied(&m.plan, TENTH), table[i].copied);
		/* A sample is paid by what was copied. */
		assert_int_equal(sample_bound_price_ns(&m.plan), SAMPLE_INTERRUPT_NS);
		done(&m);
	}
	/* A size that was asked for. */
	struct maker m;

	begin(&m, 9999);
	add(&m, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 9999, 0);
	m.defs[0].unwind_bytes = 32768;
	assert_int_equal(finish(&m, TENTH), 0);
	assert_in_range(m.defs[0].attr.sample_freq, 900, 950);
	done(&m);
}

/* What costs at each count, whether it makes a sample or not. */
static void
test_hits(void **state)
{
	const struct {
		struct event_def def;
		uint64_t ns;
	} cases[] = {
		{ { .attr.type = PERF_TYPE_HARDWARE }, 0 },
		{ { .attr.type = PERF_TYPE_RAW, .attr.config = 0x3c }, 0 },
		{ { .attr.type = 11 }, 0 }, /* another PMU of a CPU */
		{ { .attr.config = PERF_COUNT_SW_CPU_CLOCK, .attr.type = PERF_TYPE_SOFTWARE }, 0 },
		{ { .attr.config = PERF_COUNT_SW_PAGE_FAULTS, .attr.type = PERF_TYPE_SOFTWARE },
		  SAMPLE_HIT_NS },
		{ { .attr.type = PERF_TYPE_TRACEPOINT }, SAMPLE_HIT_NS },
		{ { .attr.type = PERF_TYPE_BREAKPOINT }, SAMPLE_HIT_TRAP_NS },
		{ { .attr.type = 8, .probe = true }, SAMPLE_HIT_TRAP_NS },
		{ { .attr.type = PERF_TYPE_TRACEPOINT, .sideband = true }, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(sample_bound_hit_ns(&cases[i].def), cases[i].ns);
}

/* Sampling that takes what there is while it is on, looked at each so many ms: the part it gets. */
static double
part_of_storm(uint32_t share, uint64_t look_ms, double intensity)
{
	struct sample_account a = { 0 };
	uint64_t now = 1000 * MS, on_ns = 0, taken = 0, until = now + 60000 * MS;

	for (; now < until; now += look_ms * MS) {
		bool on = sample_account_pay(&a, share, now, taken);

		if (on != !a.off_since_ns)
			sample_account_turn(&a, on, now);
		taken = a.off_since_ns ? 0 : (uint64_t)((double)(look_ms * MS) * intensity);
		on_ns += taken;
	}
	assert_int_equal(a.off_since_ns || a.off_ns, on_ns != (uint64_t)(60000.0 * MS * intensity));
	return (double)on_ns / (60000.0 * MS);
}

static void
test_storms(void **state)
{
	(void)state;
	for (uint64_t look_ms = 1; look_ms <= 1000; look_ms = look_ms * 3 + 1) {
		/* What is saved up at first is 1% of a minute at most. */
		assert_true(part_of_storm(TENTH, look_ms, 1.0) < 0.1 + 0.02);
		assert_true(part_of_storm(TENTH, look_ms, 1.0) > 0.1 - 0.02);
		assert_true(part_of_storm(TENTH / 10, look_ms, 0.5) < 0.01 + 0.02);
	}
}

/* Nobody who keeps to the share is ever turned off. */
static void
test_within(void **state)
{
	(void)state;
	assert_true(part_of_storm(TENTH, 50, 0.099) > 0.0989);
	assert_true(part_of_storm(SAMPLE_SHARE_ALL, 50, 1.0) > 0.999);
}

static void
test_time_off(void **state)
{
	struct sample_account a = { 0 };

	(void)state;
	assert_true(sample_account_pay(&a, TENTH, 1000 * MS, 0));
	assert_false(sample_account_pay(&a, TENTH, 1100 * MS, 70 * MS));
	sample_account_turn(&a, false, 1100 * MS);
	assert_int_equal(sample_account_off_ns(&a, 1150 * MS), 50 * MS);
	assert_false(sample_account_pay(&a, TENTH, 1400 * MS, 0));
	assert_true(sample_account_pay(&a, TENTH, 1600 * MS, 0));
	sample_account_turn(&a, true, 1600 * MS);
	assert_int_equal(sample_account_off_ns(&a, 9000 * MS), 500 * MS);
}

/* What ends before it has paid owes: until its account is as full as it was. */
static void
test_owed(void **state)
{
	struct sample_account a = { 0 };

	(void)state;
	assert_int_equal(sample_account_owed_ns(&a, TENTH), 0);
	assert_true(sample_account_pay(&a, TENTH, 1000 * MS, 0));
	assert_int_equal(sample_account_owed_ns(&a, TENTH), 0);
	assert_true(sample_account_pay(&a, TENTH, 1000 * MS, 30 * MS));
	assert_int_equal(sample_account_owed_ns(&a, TENTH), 300 * MS);
	assert_false(sample_account_pay(&a, TENTH, 1100 * MS, 70 * MS));
	assert_int_equal(sample_account_owed_ns(&a, TENTH), 900 * MS);
	assert_false(sample_account_pay(&a, TENTH, 1300 * MS, 0));
	assert_int_equal(sample_account_owed_ns(&a, TENTH), 700 * MS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frequencies), cmocka_unit_test(test_terms),
		cmocka_unit_test(test_measured),    cmocka_unit_test(test_traces),
		cmocka_unit_test(test_periods),	    cmocka_unit_test(test_too_many_events),
		cmocka_unit_test(test_stacks),	    cmocka_unit_test(test_unwound_stacks),
		cmocka_unit_test(test_storms),	    cmocka_unit_test(test_within),
		cmocka_unit_test(test_time_off),    cmocka_unit_test(test_hits),
		cmocka_unit_test(test_owed),
	};

	return cmocka_run_group_tests_name("sample_bound", tests, NULL, NULL);
}

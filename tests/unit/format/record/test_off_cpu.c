/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The event off-cpu: its terms, and what is no such event. */
#include "format/record/off_cpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <linux/perf_event.h>

static const struct row {
	const char *name;
	int result;
	uint64_t min_ns, freq_hz;
	const char *bad;
} rows[] = {
	{ "off-cpu", 0, 0, 0, NULL },
	{ "off-cpu/min=1ms/", 0, 1000000, 0, NULL },
	{ "off-cpu/freq=100/", 0, 0, 100, NULL },
	{ "off-cpu/min=10us,freq=2000/", 0, 10000, 2000, NULL },
	{ "off-cpu/min=0/", 0, 0, 0, NULL },
	{ "off-cpus", -FMT_E_UNSUPPORTED, 0, 0, NULL },
	{ "off", -FMT_E_UNSUPPORTED, 0, 0, NULL },
	{ "", -FMT_E_UNSUPPORTED, 0, 0, NULL },
	{ "context-switches", -FMT_E_UNSUPPORTED, 0, 0, NULL },
	{ "off-cpu:u", -FMT_E_CORRUPT, 0, 0, ":u" },
	{ "off-cpu:blocked", -FMT_E_CORRUPT, 0, 0, ":blocked" },
	{ "off-cpu/", -FMT_E_CORRUPT, 0, 0, "" },
	{ "off-cpu//", -FMT_E_CORRUPT, 0, 0, "" },
	{ "off-cpu/min=1ms", -FMT_E_CORRUPT, 0, 0, "" },
	{ "off-cpu/min=1ms/u", -FMT_E_CORRUPT, 0, 0, "/u" },
	{ "off-cpu/min=1ms,/", -FMT_E_CORRUPT, 0, 0, "" },
	{ "off-cpu/min=soon/", -FMT_E_CORRUPT, 0, 0, "min=soon" },
	{ "off-cpu/min=1ms,freq=0/", -FMT_E_CORRUPT, 0, 0, "freq=0" },
	{ "off-cpu/freq=-1/", -FMT_E_CORRUPT, 0, 0, "freq=-1" },
	{ "off-cpu/freq=1x/", -FMT_E_CORRUPT, 0, 0, "freq=1x" },
	{ "off-cpu/freq=99999999999999999999/", -FMT_E_CORRUPT, 0, 0, "freq=99999999999999999999" },
	{ "off-cpu/period=5/", -FMT_E_CORRUPT, 0, 0, "period=5" },
	{ "off-cpu/min=1111111111111111111111111111111111111111111111ms/", -FMT_E_CORRUPT, 0, 0,
	  "min=1111111111111111111111111111111111111111111111ms" },
};

static void
test_parse(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		struct off_cpu_terms terms = { .min_ns = 1, .freq_hz = 1 };
		const char *bad = NULL;
		size_t len = 0;

		assert_int_equal(off_cpu_parse(row->name, &terms, &bad, &len), row->result);
		if (row->bad) {
			assert_int_equal(len, strlen(row->bad));
			assert_memory_equal(bad, row->bad, len);
		}
		assert_int_equal(terms.min_ns, row->result ? 1 : row->min_ns);
		assert_int_equal(terms.freq_hz, row->result ? 1 : row->freq_hz);
	}
}

static void
test_event(void **state)
{
	struct event e = { .attr = { .type = PERF_TYPE_SOFTWARE,
				     .config = PERF_COUNT_SW_CONTEXT_SWITCHES,
				     .flags = UINT64_C(1) << EVENT_ATTR_context_switch },
			   .name = "off-cpu/min=2s/" };
	struct off_cpu_terms terms;

	(void)state;
	assert_true(off_cpu_event(&e, &terms));
	assert_int_equal(terms.min_ns, 2000000000);
	assert_false(terms.no_wakeups);
	assert_false(terms.waker);
	e.name = "off-cpu/no-wakeups,waker,min=1s/";
	assert_true(off_cpu_event(&e, &terms));
	assert_true(terms.waker);
	assert_true(terms.no_wakeups);
	assert_false(off_cpu_wakeups(&e));
	e.attr.flags = 0;
	assert_false(off_cpu_event(&e, &terms));
	e.attr.flags = UINT64_C(1) << EVENT_ATTR_context_switch;
	e.attr.config = PERF_COUNT_SW_DUMMY; /* perf's --switch-events */
	assert_false(off_cpu_event(&e, &terms));
	e.attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	e.name = "context-switches";
	assert_false(off_cpu_event(&e, &terms));
	e.name = OFF_CPU_WAKEUPS;
	assert_false(off_cpu_wakeups(&e));
	e.attr.type = PERF_TYPE_TRACEPOINT;
	assert_true(off_cpu_wakeups(&e));
	assert_false(off_cpu_event(&e, &terms));
}

static void
test_names(void **state)
{
	(void)state;
	assert_string_equal(off_cpu_name(OFF_CPU_BLOCKED), "off-cpu:blocked");
	assert_string_equal(off_cpu_name(OFF_CPU_IO), "off-cpu:io");
	assert_string_equal(off_cpu_name(OFF_CPU_PREEMPTED), "off-cpu:preempted");
	for (int why = 0; why < OFF_CPU_WHYS_MAX; why++)
		assert_true(off_cpu_is_name(off_cpu_name((enum off_cpu_why)why)));
	assert_string_equal(off_cpu_name(OFF_CPU_RUNNABLE), "off-cpu:runnable");
	assert_false(off_cpu_is_name("off-cpu2"));
	assert_false(off_cpu_is_name(OFF_CPU_WAKEUPS));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_event),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

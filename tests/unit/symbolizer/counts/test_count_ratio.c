/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What counts say beside each other: by what the attrs count, and only where they can. */
#include "symbolizer/counts/count_ratio.h"

#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)
#define L1D_LOADS 0x0
#define L1D_LOAD_MISSES 0x10000
#define LLC_LOAD_MISSES 0x10002

static struct event_attr attrs[8];
static struct counted all[8];
static size_t nr;

/* Of all that were added so far, as they are now. */
static size_t
ratios(size_t which, uint64_t ns, struct count_ratio ret[static COUNT_RATIOS_MAX])
{
	struct counted_list list = { 0 };
	size_t n;

	for (size_t i = 0; i < nr; i++)
		assert_int_equal(counted_list_add(&list, &all[i]), 0);
	n = count_ratios(&list, which, ns, ret);
	counted_list_done(&list);
	return n;
}

static void
add(uint32_t type, uint64_t config, uint64_t value, uint64_t enabled_ns, uint64_t running_ns)
{
	attrs[nr] = (struct event_attr){ .type = type, .config = config };
	all[nr] = (struct counted){
		.name = "e",
		.attr = &attrs[nr],
		.total = { .known = true,
			   .value = value,
			   .enabled_ns = enabled_ns,
			   .running_ns = running_ns },
	};
	nr++;
}

static void
assert_ratio(size_t which, size_t i, double value, const char *unit)
{
	struct count_ratio ret[COUNT_RATIOS_MAX];

	assert_true(ratios(which, 2 * SECOND, ret) > i);
	assert_true(ret[i].value > value * 0.999999 && ret[i].value < value * 1.000001);
	assert_string_equal(ret[i].unit, unit);
}

static void
assert_number(size_t which, size_t wanted)
{
	struct count_ratio ret[COUNT_RATIOS_MAX];

	assert_int_equal(ratios(which, 2 * SECOND, ret), wanted);
}

static void
test_hardware(void **state)
{
	(void)state;
	nr = 0;
	add(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 1000, 8, 8);
	/* Had a counter half of the time. */
	add(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 1000, 8, 4);
	add(PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 400, 8, 8);
	add(PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, 6, 8, 8);
	add(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 3, 8, 8);
	assert_ratio(0, 0, 500, "a second");
	assert_ratio(1, 0, 2, "per cycle");
	assert_ratio(2, 0, 200, "a second");
	assert_ratio(3, 0, 1.5, "% of all branches");
	assert_ratio(3, 1, 3, "per 1000 instructions");
	assert_ratio(4, 0, 1.5, "per 1000 instructions");
	assert_number(1, 1);
	assert_number(4, 1);
	/* Nothing to divide by. */
	all[0].total.value = 0;
	assert_ratio(1, 0, 1000, "a second");
}

static void
test_caches(void **state)
{
	(void)state;
	nr = 0;
	add(PERF_TYPE_HW_CACHE, L1D_LOAD_MISSES, 5, 1, 1);
	add(PERF_TYPE_HW_CACHE, L1D_LOADS, 50, 1, 1);
	add(PERF_TYPE_HW_CACHE, LLC_LOAD_MISSES, 2, 1, 1);
	assert_ratio(0, 0, 10, "% of all accesses");
	assert_number(0, 1);
	assert_ratio(1, 0, 25, "a second");
	assert_ratio(2, 0, 1, "a second");
	add(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 10000, 1, 1);
	assert_ratio(0, 1, 0.5, "per 1000 instructions");
	assert_ratio(2, 0, 0.2, "per 1000 instructions");
}

/* Other CPUs, or another side of the same: what the quotient would be of, nobody can say. */
static void
test_not_comparable(void **state)
{
	(void)state;
	nr = 0;
	add(PERF_TYPE_HARDWARE, UINT64_C(10) << 32 | PERF_COUNT_HW_CPU_CYCLES, 100, 1, 1);
	add(PERF_TYPE_HARDWARE, UINT64_C(4) << 32 | PERF_COUNT_HW_INSTRUCTIONS, 100, 1, 1);
	assert_ratio(1, 0, 50, "a second");
	attrs[1].config = UINT64_C(10) << 32 | PERF_COUNT_HW_INSTRUCTIONS;
	assert_ratio(1, 0, 1, "per cycle");
	attrs[1].flags = UINT64_C(1) << EVENT_ATTR_exclude_kernel;
	assert_ratio(1, 0, 50, "a second");
	attrs[0].flags = attrs[1].flags;
	assert_ratio(1, 0, 1, "per cycle");
	/* A raw number may be anything. */
	attrs[1].type = PERF_TYPE_RAW;
	assert_ratio(1, 0, 50, "a second");
}

static void
test_software(void **state)
{
	struct count_ratio ret[COUNT_RATIOS_MAX];

	(void)state;
	nr = 0;
	add(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 3 * SECOND, 1, 1);
	add(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 7, 1, 1);
	assert_true(counted_is_time(&all[0]));
	assert_false(counted_is_time(&all[1]));
	assert_ratio(0, 0, 1.5, "CPUs");
	assert_ratio(1, 0, 3.5, "a second");
	assert_int_equal(ratios(0, 0, ret), 0);
	assert_int_equal(ratios(1, 0, ret), 0);
}

/* In the unit; of a level there is no rate. */
static void
test_units(void **state)
{
	char text[COUNT_RATIO_UNIT_BYTES];
	struct count_ratio ret[COUNT_RATIOS_MAX];

	(void)state;
	nr = 0;
	add(77, 2, UINT64_C(1) << 34, 1, 1);
	all[0].unit = (struct count_unit){ .scale = 0x1p-32, .name = "Joules" };
	assert_ratio(0, 0, 2, "a second");
	assert_int_equal(ratios(0, 2 * SECOND, ret), 1);
	count_ratio_unit(&ret[0], text);
	assert_string_equal(text, "Joules a second");
	all[0].total.level = true;
	assert_number(0, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hardware),       cmocka_unit_test(test_caches),
		cmocka_unit_test(test_not_comparable), cmocka_unit_test(test_software),
		cmocka_unit_test(test_units),
	};

	return cmocka_run_group_tests_name("count_ratio", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which PMU counts an event on which CPU, as a made sysfs tells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bsd/string.h>

#include "recorder/event/event.h"
#include "recorder/event/event_def.h"
#include "tests/lab/sysfs_lab.h"

static const char *root;

/* A PMU with files as "type=4 cpus=0-3". */
static void
pmu(const char *name, const char *files)
{
	char copy[256], *word, *rest = copy;

	assert_true(strlcpy(copy, files, sizeof(copy)) < sizeof(copy));
	while ((word = strsep(&rest, " "))) {
		char *text = strchr(word, '=');

		assert_non_null(text);
		*text++ = '\0';
		sysfs_lab_pmu_file(name, word, text);
	}
}

static int
setup(void **state)
{
	(void)state;
	sysfs_lab_clear();
	root = sysfs_lab_root();
	return 0;
}

/* What a CPU opens, "TYPE:CONFIG"; "-": nothing. */
static const char *
opens(const struct event_def *def, uint32_t cpu)
{
	static char text[64];
	struct perf_event_attr attr;

	if (!event_def_attr(def, cpu, &attr))
		return "-";
	snprintf(text, sizeof(text), "%u:0x%llx", attr.type, (unsigned long long)attr.config);
	return text;
}

static struct event_def
def_of(uint32_t type, uint64_t config, const char *named)
{
	struct event_def def = { .attr = { .type = type, .config = config, .sample_freq = 99 } };

	assert_int_equal(event_def_kinds(&def, root, named), 0);
	return def;
}

static void
test_hybrid(void **state)
{
	struct event_def def;
	struct perf_event_attr attr;

	pmu("cpu_core", "type=4 cpus=0-3");
	pmu("cpu_atom", "type=10 cpus=4,5");
	pmu("power", "type=23 cpumask=0");
	pmu("software", "type=1");
	pmu("broken", "type=x cpus=0-9");
	pmu("empty", "type=30 cpus=");

	def = def_of(PERF_TYPE_HARDWARE, 1, "");
	assert_int_equal(def.nr_kinds, 2);
	assert_string_equal(opens(&def, 0), "0:0x400000001");
	assert_string_equal(opens(&def, 5), "0:0xa00000001");
	/* Of no kind that is known: what every kernel takes. */
	assert_string_equal(opens(&def, 6), "0:0x1");
	/* What is not of the kind comes from the event, now and later. */
	def.attr.sample_freq = 7;
	assert_true(event_def_attr(&def, 4, &attr));
	assert_int_equal(attr.sample_freq, 7);
	event_def_done(&def);

	def = def_of(PERF_TYPE_HW_CACHE, 0x10002, "");
	assert_string_equal(opens(&def, 4), "3:0xa00010002");
	event_def_done(&def);
	def = def_of(PERF_TYPE_RAW, 0x3c, "");
	assert_string_equal(opens(&def, 0), "4:0x3c");
	assert_string_equal(opens(&def, 4), "10:0x3c");
	event_def_done(&def);

	def = def_of(10, 0x3c, "cpu_atom");
	assert_string_equal(opens(&def, 0), "-");
	assert_string_equal(opens(&def, 4), "10:0x3c");
	assert_false(def.for_all);
	event_def_done(&def);
	def = def_of(23, 2, "power");
	assert_string_equal(opens(&def, 0), "23:0x2");
	assert_string_equal(opens(&def, 1), "-");
	assert_true(def.for_all);
	event_def_done(&def);

	def = def_of(PERF_TYPE_SOFTWARE, 0, "");
	assert_int_equal(def.nr_kinds, 0);
	assert_string_equal(opens(&def, 4), "1:0x0");
	def = def_of(1, 0, "software");
	assert_int_equal(def.nr_kinds, 0);
	def = def_of(77, 0, "gone");
	assert_int_equal(def.nr_kinds, 0);
}

/* One kind, or none that is told: the event as it is. */
static void
test_alike(void **state)
{
	struct event_def def = def_of(PERF_TYPE_HARDWARE, 0, "");

	assert_int_equal(def.nr_kinds, 0);
	pmu("cpu", "type=4");
	pmu("armv8_cortex_a72", "type=8 cpus=0-3");
	def = def_of(PERF_TYPE_HARDWARE, 0, "");
	assert_int_equal(def.nr_kinds, 0);
	assert_string_equal(opens(&def, 9), "0:0x0");
}

/* A CPU that was offline is in no list until it has come. */
static void
test_look(void **state)
{
	struct event_def def;

	pmu("cpu_core", "type=4 cpus=0-3");
	pmu("cpu_atom", "type=10 cpus=4");
	def = def_of(PERF_TYPE_HARDWARE, 0, "");
	assert_string_equal(opens(&def, 5), "0:0x0");
	pmu("cpu_atom", "type=10 cpus=4-5");
	assert_int_equal(event_def_look(&def, root), 0);
	assert_string_equal(opens(&def, 5), "0:0xa00000000");
	/* A list that cannot be read is no reason to forget the last. */
	pmu("cpu_atom", "cpus=");
	assert_int_equal(event_def_look(&def, root), 0);
	assert_string_equal(opens(&def, 5), "0:0xa00000000");
	event_def_done(&def);
}

/* Where the kernel has them, whatever headers this was built with; and how much of it goes to the kernel. */
static void
test_attr(void **state)
{
	struct perf_event_attr attr = { .defer_output = 1, .build_id = 1, .disabled = 1 };

	(void)state;
	assert_int_equal(sizeof(attr), PERF_ATTR_SIZE_VER9);
	assert_int_equal(offsetof(struct perf_event_attr, config3), PERF_ATTR_SIZE_VER7);
	assert_int_equal(offsetof(struct perf_event_attr, config4), PERF_ATTR_SIZE_VER8);
	assert_int_equal(offsetof(struct perf_event_attr, sample_max_stack), 108);
	assert_int_equal(offsetof(struct perf_event_attr, aux_sample_size), 112);
	assert_int_equal(offsetof(struct perf_event_attr, sig_data), 120);
	assert_true(event_attr_bits(&attr) ==
		    (UINT64_C(1) | UINT64_C(1) << 34 | UINT64_C(1) << 39));
	assert_int_equal(event_attr_size(&attr), 128);
	attr.config3 = 1;
	assert_int_equal(event_attr_size(&attr), 136);
	attr.config4 = 1;
	assert_int_equal(event_attr_size(&attr), 144);
	pmu("newer", "type=40");
	sysfs_lab_pmu_file("newer", "format/third", "config3:0-7");
	sysfs_lab_pmu_file("newer", "format/fourth", "config4:32-39");
	assert_int_equal(pmu_term(root, "newer", "third", 0x5a, &attr), 0);
	assert_int_equal(pmu_term(root, "newer", "fourth", 0xa5, &attr), 0);
	assert_true(attr.config3 == 0x5a);
	assert_true(attr.config4 == (UINT64_C(0xa5) << 32 | 1));
	assert_int_equal(pmu_term(root, "newer", "config3", 7, &attr), 0);
	assert_true(attr.config3 == 7);
}

/* Of a plan with one event of each kind: whose samples are more than where it was. */
static void
test_contents(void **state)
{
	static const struct {
		uint64_t sample_type;
		bool contents;
	} kinds[] = {
		{ PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN |
			  PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_IDENTIFIER |
			  PERF_SAMPLE_CGROUP | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_BRANCH_STACK,
		  false },
		{ PERF_SAMPLE_STACK_USER, true },
		{ PERF_SAMPLE_REGS_USER, true },
		{ PERF_SAMPLE_REGS_INTR, true },
		{ PERF_SAMPLE_RAW, true },
		{ PERF_SAMPLE_ADDR, true },
		{ PERF_SAMPLE_PHYS_ADDR, true },
	};
	struct event_def defs[3] = { { .sideband = true }, { .attr.sample_type = PERF_SAMPLE_IP } };
	struct event_plan plan = { .defs = defs, .nr = 3 };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		defs[2] = (struct event_def){ .attr.sample_type = kinds[i].sample_type };
		assert_int_equal(event_plan_contents(&plan), kinds[i].contents);
	}
	/* What only counts has no samples; who woke whom is told of every thread anyway; a trace is all that ran. */
	defs[2] = (struct event_def){ .attr.sample_type = PERF_SAMPLE_ADDR, .counts = true };
	assert_false(event_plan_contents(&plan));
	defs[2] = (struct event_def){ .attr.sample_type = PERF_SAMPLE_RAW, .wakeups = true };
	assert_false(event_plan_contents(&plan));
	defs[2].attr.sample_type |= PERF_SAMPLE_STACK_USER;
	assert_true(event_plan_contents(&plan));
	defs[2] = (struct event_def){ .attr.sample_type = PERF_SAMPLE_IP, .aux = true };
	assert_true(event_plan_contents(&plan));
}

static void
cpu(unsigned cpu, const char *package, const char *die)
{
	char path[96];

	snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/topology/physical_package_id", cpu);
	sysfs_lab_file(path, package);
	snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/topology/die_id", cpu);
	sysfs_lab_file(path, die);
}

/* The CPUs of 0 to 7 on which it is opened, as digits. */
static const char *
opened(const struct event_def *def)
{
	static char text[16];
	char *end = text;

	for (uint32_t c = 0; c < 8; c++)
		if (strcmp(opens(def, c), "-") != 0)
			*end++ = (char)('0' + c);
	*end = '\0';
	return text;
}

/* Each CPU of a package counts for all of it: one of them is opened. */
static void
test_packages(void **state)
{
	struct event_def def = { .attr = { .type = 50, .config = 1 }, .per_package = true };

	(void)state;
	sysfs_lab_file("devices/system/cpu/online", "1-7");
	/* Two packages whose CPUs alternate, and of the first one two dies. */
	for (unsigned c = 0; c < 6; c++)
		cpu(c, c % 2 ? "1" : "0", c == 4 ? "1" : "0");
	pmu("cache", "type=50");
	pmu("core", "type=50 cpus=2,3,5");
	pmu("socket", "type=50 cpumask=3,5");
	assert_int_equal(event_def_kinds(&def, root, "cache"), 0);
	/* 6 and 7 tell nothing of theirs, and are one. */
	assert_string_equal(opened(&def), "1246");
	assert_true(def.for_all);
	sysfs_lab_file("devices/system/cpu/online", "0-7");
	/* 1 counts its package already. */
	assert_int_equal(event_def_look(&def, root), 0);
	assert_string_equal(opened(&def), "1246");
	event_def_done(&def);

	def = (struct event_def){ .attr = { .type = 50, .config = 1 }, .per_package = true };
	assert_int_equal(event_def_kinds(&def, root, "core"), 0);
	assert_string_equal(opened(&def), "23");
	event_def_done(&def);

	def = (struct event_def){ .attr = { .type = 50, .config = 1 }, .per_package = true };
	assert_int_equal(event_def_kinds(&def, root, "socket"), 0);
	/* The kernel chose those, and may choose others. */
	assert_string_equal(opened(&def), "35");
	sysfs_lab_pmu_file("socket", "cpumask", "2,5");
	assert_int_equal(event_def_look(&def, root), 0);
	assert_string_equal(opened(&def), "25");
	event_def_done(&def);
	def = (struct event_def){ .attr = { .type = 50, .config = 1 } };
	assert_int_equal(event_def_kinds(&def, root, "cache"), 0);
	assert_string_equal(opened(&def), "01234567");
	event_def_done(&def);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup(name, setup)
	const struct CMUnitTest tests[] = { T(test_hybrid), T(test_alike),    T(test_look),
					    T(test_attr),   T(test_contents), T(test_packages) };

	return cmocka_run_group_tests_name("event_def", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events that trace, by a made sysfs: what they have by default, and what decoders are told. */
#include "recorder/event/event_aux.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/sys/endian.h>
#include <cmocka.h>

#include "tests/lab/sysfs_lab.h"

static const char *root;

static int
setup(void **state)
{
	static const char *const terms[][2] = {
		{ "pt", "0" },
		{ "cyc", "1" },
		{ "mtc", "9" },
		{ "tsc", "10" },
		{ "branch", "13" },
		{ "noretcomp", "11" },
		{ "mtc_period", "14-17" },
		{ "psb_period", "24-27" },
	};

	(void)state;
	root = sysfs_lab_root();
	for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++) {
		char path[64], bits[64];

		snprintf(path, sizeof(path), "format/%s", terms[i][0]);
		snprintf(bits, sizeof(bits), "config:%s", terms[i][1]);
		sysfs_lab_pmu_file("intel_pt", path, bits);
		if (i < 4)
			sysfs_lab_pmu_file("intel_pt_old", path, bits);
	}
	sysfs_lab_pmu_file("intel_pt", "caps/mtc_periods", "9");
	sysfs_lab_pmu_file("intel_pt", "caps/psb_periods", "7");
	sysfs_lab_pmu_file("intel_pt", "max_nonturbo_ratio", "24");
	sysfs_lab_pmu_file("intel_pt_old", "caps/mtc", "0");
	sysfs_lab_pmu_file("intel_pt_old", "caps/mtc_periods", "9");
	sysfs_lab_pmu_file("arm_spe_0", "format/ts_enable", "config:0");
	sysfs_lab_pmu_file("arm_spe_0", "caps/min_interval", "1024");
	return 0;
}

static void
test_which(void **state)
{
	assert_int_equal(event_aux_tracer("intel_pt"), AUX_TRACER_INTEL_PT);
	assert_int_equal(event_aux_tracer("intel_bts"), AUX_TRACER_INTEL_BTS);
	assert_int_equal(event_aux_tracer("arm_spe_0"), AUX_TRACER_ARM_SPE);
	assert_int_equal(event_aux_tracer("hisi_ptt0_2") | event_aux_tracer("hisi_ptt_0"),
			 AUX_TRACER_HISI_PTT);
	assert_int_equal(event_aux_tracer("cs_etm"), AUX_TRACER_CS_ETM);
	assert_int_equal(
		event_aux_tracer("cpu") | event_aux_tracer("") | event_aux_tracer("intel_ptx"), 0);
}

/* What perf record has on a CPU with these caps: of periods the third, or the next lower one. */
static void
test_defaults(void **state)
{
	struct perf_event_attr attr = { .type = 30 };

	event_aux_defaults(root, "intel_pt", &attr);
	assert_int_equal(attr.config, 1 << 0 | 1 << 9 | 1 << 10 | 1 << 13 | 3 << 14 | 2 << 24);
	attr.config = 0;
	event_aux_defaults(root, "intel_pt_old", &attr);
	assert_int_equal(attr.config, 1 << 10);
	attr.config = 0;
	event_aux_defaults(root, "arm_spe_0", &attr);
	assert_int_equal(attr.config, 1);
	attr.config = 0;
	event_aux_defaults(root, "intel_bts", &attr);
	event_aux_defaults(root, "cpu", &attr);
	assert_int_equal(attr.config, 0);
}

/* Nothing of what is for samples is left, and the period is the tracer's. */
static void
test_attr(void **state)
{
	const struct perf_event_attr asked = { .freq = 1,
					       .sample_freq = 999,
					       .sample_type = UINT64_MAX >> 39,
					       .branch_sample_type = 1,
					       .sample_regs_user = 1,
					       .sample_stack_user = 8192,
					       .sample_max_stack = 5,
					       .exclude_callchain_user = 1 };
	struct perf_event_attr attr = asked;

	event_aux_attr(root, "intel_pt", false, &attr);
	assert_int_equal(attr.freq, 0);
	assert_int_equal(attr.sample_period, 1);
	assert_int_equal(attr.sample_type,
			 PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				 PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
				 PERF_SAMPLE_CGROUP);
	assert_int_equal(attr.branch_sample_type | attr.sample_regs_user | attr.sample_stack_user |
				 attr.sample_max_stack | attr.exclude_callchain_user,
			 0);
	attr = asked;
	event_aux_attr(root, "arm_spe_0", false, &attr);
	assert_int_equal(attr.sample_period, 1024);
	event_aux_attr(root, "arm_spe_1", false, &attr);
	assert_int_equal(attr.sample_period, 4096);
	attr.sample_period = 77;
	event_aux_attr(root, "arm_spe_0", true, &attr);
	assert_int_equal(attr.sample_period, 77);
}

static uint64_t
word(const struct event_aux *a, size_t i)
{
	assert_true(8 * i + 8 <= a->about.words.len);
	return le64dec(a->about.words.p + 8 * i);
}

/* In the places that perf's decoders have them in; the clock is that of the page, or none. */
static void
test_words(void **state)
{
	const struct perf_event_attr attr = { .type = 30 };
	struct event_aux pt = { AUX_TRACER_INTEL_PT, "intel_pt", { 0 }, { 0 } };
	struct event_aux spe = { AUX_TRACER_ARM_SPE, "arm_spe_0", { 0 }, { 0 } };
	const struct event_aux_scope whole = { .cpu_wide = true, .per_cpu = true };
	const struct event_aux_scope tasks = { .snapshot = true };

	assert_int_equal(event_aux_describe(&pt, root, &attr, &whole, NULL), 0);
	assert_int_equal(pt.about.tracer, AUX_TRACER_INTEL_PT);
	assert_int_equal(pt.about.words.len, 18 * 8);
	assert_int_equal(word(&pt, 0), 30);
	assert_int_equal(word(&pt, 1), pt.about.time_shift);
	assert_int_equal(word(&pt, 2), pt.about.time_mult);
	assert_int_equal(word(&pt, 3), pt.about.time_zero);
	assert_int_equal(word(&pt, 4), pt.about.time_mult != 0);
	assert_int_equal(word(&pt, 5), 1 << 10);
	assert_int_equal(word(&pt, 6), 1 << 11);
	assert_int_equal(word(&pt, 7), 3);
	assert_int_equal(word(&pt, 8), 0);
	assert_int_equal(word(&pt, 9), 1);
	assert_int_equal(word(&pt, 10), 1 << 9);
	assert_int_equal(word(&pt, 11), 0xf << 14);
	assert_int_equal(word(&pt, 14), 1 << 1);
	assert_int_equal(word(&pt, 15), 24);
	assert_int_equal(word(&pt, 16) | word(&pt, 17), 0);
	assert_int_equal(event_aux_describe(&pt, root, &attr, &tasks, NULL), 0);
	assert_int_equal(pt.about.words.len, 18 * 8);
	assert_int_equal(word(&pt, 7), 2);
	assert_int_equal(word(&pt, 8), 1);
	assert_int_equal(word(&pt, 9), 0);
	assert_int_equal(event_aux_describe(&spe, root, &attr, &whole, NULL), 0);
	assert_int_equal(spe.about.words.len, 16);
	assert_int_equal(word(&spe, 0), 30);
	assert_int_equal(word(&spe, 1), 1);
	buf_done(&pt.bytes);
	buf_done(&spe.bytes);
}

/* As perf_event_open(2) converts: zero + whole * mult + (rest * mult >> shift). */
static void
test_clock(void **state)
{
	const uint64_t cycles = UINT64_C(0x123456789abcdef), now_ns = UINT64_C(9000000000000);
	const uint32_t shift = 31, mult = 1431655765;
	uint64_t zero = event_aux_time_zero(shift, mult, cycles, now_ns);
	/* A second later, of a clock of 1.5 GHz. */
	__uint128_t product = (__uint128_t)(cycles + 1500000000) * mult >> shift;

	assert_in_range((uint64_t)product + zero, now_ns + 999999998, now_ns + 1000000002);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_which), cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_attr),  cmocka_unit_test(test_words),
		cmocka_unit_test(test_clock),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Trace units and sinks of CoreSight by a made sysfs: what decoders are told, and what is refused. */
#include "recorder/event/coresight.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/sys/endian.h>
#include <cmocka.h>

#include "format/block/aux_trace.h"
#include "recorder/event/event_aux.h"
#include "recorder/event/event_spec.h"
#include "tests/lab/sysfs_lab.h"

static const char *root;

static void
shell(const char *format, const char *path, const char *text)
{
	char command[512];

	snprintf(command, sizeof(command), "cd %s/bus/event_source/devices/cs_etm; f=%s t='%s'; %s",
		 root, path, text, format);
	assert_int_equal(system(command), 0);
}

static void
file(const char *path, const char *text)
{
	sysfs_lab_pmu_file("cs_etm", path, text);
}

static int
setup(void **state)
{
	(void)state;
	root = sysfs_lab_root();
	file("type", "9");
	file("format/timestamp", "config:28");
	file("format/contextid", "config:14");
	file("format/sinkid", "config2:0-31");
	file("format/configid", "config2:32-63");
	file("sinks/tmc_etr0", "0x8f2f9c0e");
	file("sinks/odd", "0x100000001");
	/* ETMv4, with all of it; ETE; PTM. CPU 3 has none. */
	file("cpu0/trcidr/trcidr0", "0x28000ea1");
	file("cpu0/trcidr/trcidr1", "0x4100f403");
	file("cpu0/trcidr/trcidr2", "0x20001088");
	file("cpu0/trcidr/trcidr8", "0x0");
	file("cpu0/mgmt/trcauthstatus", "0xcc");
	file("cpu0/mgmt/trcdevarch", "0x47704a13");
	file("cpu0/ts_source", "-1");
	file("cpu1/trcidr/trcidr0", "0x28000ea1");
	file("cpu1/trcidr/trcidr1", "0x4100fff0");
	file("cpu1/trcidr/trcidr2", "0xc0001088");
	file("cpu1/trcidr/trcidr8", "0x1");
	file("cpu1/mgmt/trcauthstatus", "0x3");
	file("cpu1/mgmt/trcdevarch", "0x47705a13");
	file("cpu1/ts_source", "1");
	file("cpu2/mgmt/etmccer", "0x344008f2");
	file("cpu2/mgmt/etmidr", "0x4114f310");
	return 0;
}

static void
check(const struct buf *b, const uint64_t *words, size_t nr)
{
	assert_int_equal(b->len, nr * 8);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(le64dec(b->p + 8 * i), words[i]);
}

/* In the order of perf's enums: what is traced of each CPU, and what its unit is. */
static void
test_words(void **state)
{
	static const uint64_t config = 1u << 8 | 1u << 12 | 1u << 14 | 1u << 28 | 1u << 29;
	static const uint64_t configr = 1 << 3 | 1 << 4 | 1 << 6 | 1 << 11 | 1 << 12;
	const uint64_t fixed[] = { 1, UINT64_C(9) << 32 | 2, 0,
				   /* ETMv4 */
				   UINT64_C(0x4040404040404040), 0, 8, configr, 0x10, 0x28000ea1,
				   0x4100f403, 0x20001088, 0, 0xcc, UINT64_MAX,
				   /* ETE */
				   UINT64_C(0x5050505050505050), 1, 9, configr, 0x12, 0x28000ea1,
				   0x4100fff0, 0xc0001088, 1, 3, 0x47705a13, 1 };
	const uint64_t told[] = { 2, UINT64_C(9) << 32 | 1, 1,
				  /* PTM */
				  UINT64_C(0x3030303030303030), 2, 4, 1 << 12,
				  0x14 | UINT64_C(1) << 31, 0x344008f2, 0x4114f310 };
	struct perf_event_attr attr = { .type = 9, .config = config };
	uint32_t cpus[] = { 0, 1, 3 }, third[] = { 2 };
	struct session_error error = { 0 };
	struct cpu_list list = { cpus, 3 }, ptm = { third, 1 };
	struct buf b;

	buf_init(&b);
	assert_int_equal(coresight_words(root, &list, &attr, true, false, &b, &error), 0);
	check(&b, fixed, sizeof(fixed) / 8);
	buf_clear(&b);
	attr.config = 1 << 12;
	assert_int_equal(coresight_words(root, &ptm, &attr, false, true, &b, &error), 0);
	check(&b, told, sizeof(told) / 8);
	buf_done(&b);
	assert_true(coresight_ids_are_fixed("6.1.0-18-arm64"));
	assert_true(coresight_ids_are_fixed("5.10.0"));
	assert_false(coresight_ids_are_fixed("6.4.0"));
	assert_false(coresight_ids_are_fixed("7.0-rc1"));
	assert_false(coresight_ids_are_fixed("?"));
}

static void
refused(uint32_t cpu, uint64_t config, int r, const char *text)
{
	struct perf_event_attr attr = { .type = 9, .config = config };
	struct cpu_list list = { &cpu, 1 };
	struct session_error error = { 0 };
	struct buf b;

	buf_init(&b);
	assert_int_equal(coresight_words(root, &list, &attr, true, false, &b, &error), r);
	if (r < 0)
		assert_non_null(strstr(error.text, text));
	buf_done(&b);
}

/* The kernel would open it, and trace something else. */
static void
test_refused(void **state)
{
	refused(2, 1u << 28, -EOPNOTSUPP, "unit of CPU 2 cannot trace timestamps");
	refused(2, 1u << 14, -EOPNOTSUPP, "the term contextid=0");
	refused(0, 1u << 15, 0, "");
	file("cpu0/trcidr/trcidr2", "0x20000c88");
	refused(0, 1u << 15, -EOPNOTSUPP, "contextid2=0");
	file("cpu0/trcidr/trcidr2", "0x00001088");
	refused(0, 1u << 15, -EOPNOTSUPP, "contextid2=0");
	refused(0, 1u << 14, 0, "");
	file("cpu0/trcidr/trcidr2", "0x20001008");
	refused(0, 1u << 14, -EOPNOTSUPP, "cannot trace context IDs:");
	file("cpu0/trcidr/trcidr2", "0x20001088");
	file("cpu0/trcidr/trcidr0", "0x00000ea1");
	refused(0, 1u << 28, -EOPNOTSUPP, "timestamps");
	file("cpu0/trcidr/trcidr0", "0x28000ea1");
	refused(3, 0, -ENODEV, "no CPU that is to be traced has a trace unit");
	file("cpu1/trcidr/trcidr8", "what");
	refused(1, 0, -EINVAL, "cpu1/trcidr/trcidr8, which decoders need");
	shell("rm $f", "cpu1/trcidr/trcidr8", "");
	refused(1, 0, -ENOENT, "cpu1/trcidr/trcidr8, which decoders need");
	file("cpu1/trcidr/trcidr8", "0x1");
	shell("mv $f $t", "cpu0/ts_source", "cpu0/none");
	refused(0, 0, 0, "");
	shell("mv $t $f", "cpu0/ts_source", "cpu0/none");
}

/* One CPU more than a record has room for. */
static void
test_many(void **state)
{
	enum { MANY = (AUX_TRACE_WORDS_MAX - 3) / 7 + 1 };
	static uint32_t cpus[MANY];
	struct perf_event_attr attr = { .type = 9 };
	struct session_error error = { 0 };
	struct buf b;

	buf_init(&b);
	for (uint32_t i = 0; i < MANY; i++)
		cpus[i] = 2;
	assert_int_equal(coresight_words(root, &(struct cpu_list){ cpus, MANY - 1 }, &attr, false,
					 false, &b, &error),
			 0);
	buf_clear(&b);
	assert_int_equal(coresight_words(root, &(struct cpu_list){ cpus, MANY }, &attr, false,
					 false, &b, &error),
			 -E2BIG);
	buf_done(&b);
}

/* Parsed, an event has this attr, or the error tells that. */
static void
parsed(const char *text, uint64_t config, uint64_t config2, const char *says)
{
	const struct event_spec_roots roots = { .sysfs = root };
	struct event_spec_list list = { 0 };
	char err[EVENT_SPEC_ERROR_BYTES] = "";
	int r = event_spec_parse(text, &roots, &list, err, sizeof(err));

	if (says) {
		assert_int_equal(r, -EINVAL);
		assert_non_null(strstr(err, says));
	} else {
		assert_int_equal(r, 0);
		assert_int_equal(list.specs[0].attr.config, config);
		assert_int_equal(list.specs[0].attr.config2, config2);
	}
	event_spec_list_done(&list);
}

static void
test_sink(void **state)
{
	const uint64_t by_default = 1 << 28 | 1 << 14;

	parsed("cs_etm//u", by_default, 0, NULL);
	parsed("cs_etm/@tmc_etr0/u", by_default, 0x8f2f9c0e, NULL);
	parsed("cs_etm/@tmc_etr0,timestamp=0,configid=5/", 1 << 14, UINT64_C(0x58f2f9c0e), NULL);
	parsed("cs_etm/sinkid=7,@tmc_etr0/", by_default, 7, NULL);
	parsed("cs_etm/@tmc_etr1/", 0, 0, "no sink 'tmc_etr1'");
	parsed("cs_etm/@../type/", 0, 0, "no sink '../type'");
	parsed("cs_etm/@..,@tmc_etr0/", 0, 0, "no sink '..'");
	parsed("cs_etm/@odd/", 0, 0, "no number of the sink 'odd'");
	parsed("cs_etm/@/", 0, 0, "the name of a sink");
	parsed("cs_etm/@tmc_etr0=1/", 0, 0, "the name of a sink");
	parsed("cycles/@tmc_etr0/", 0, 0, "only cs_etm");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_sink),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}

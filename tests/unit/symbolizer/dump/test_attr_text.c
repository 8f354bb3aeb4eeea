/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attrs in the words of perf evlist -v. */
#include "symbolizer/dump/attr_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void
check(const struct perf_event_attr *attr, const char *expected)
{
	struct buf out;

	buf_init(&out);
	attr_text(attr, &out);
	buf_u8(&out, 0);
	assert_false(buf_failed(&out));
	assert_string_equal((const char *)out.p, expected);
	buf_done(&out);
}

static void
test_words(void **state)
{
	/* As perf evlist -v shows perf record -d -e mem:0x1000/8:w:u -c 1. */
	struct perf_event_attr attr = { .type = PERF_TYPE_BREAKPOINT,
					.size = 128,
					.sample_period = 1,
					.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
						PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
						PERF_SAMPLE_DATA_SRC,
					.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST,
					.disabled = 1,
					.inherit = 1,
					.exclude_kernel = 1,
					.exclude_hv = 1,
					.sample_id_all = 1,
					.exclude_guest = 1,
					.bp_type = 2,
					.bp_addr = 0x1000,
					.bp_len = 8 };

	check(&attr,
	      "type: 5, size: 128, { sample_period, sample_freq }: 1, "
	      "sample_type: IP|TID|TIME|ADDR|DATA_SRC, read_format: ID|LOST, disabled: 1, inherit: 1, "
	      "exclude_kernel: 1, exclude_hv: 1, sample_id_all: 1, exclude_guest: 1, bp_type: 2, "
	      "{ bp_addr, config1 }: 0x1000, { bp_len, config2 }: 0x8");
}

static void
test_all(void **state)
{
	struct perf_event_attr attr;
	struct buf out;

	memset(&attr, 0xff, sizeof(attr));
	buf_init(&out);
	attr_text(&attr, &out);
	buf_u8(&out, 0);
	/* Bits that nobody knows yet are told by number; one field is of two bits. */
	assert_non_null(strstr((const char *)out.p, "|WEIGHT_STRUCT|0xfffffffffe000000, "));
	assert_non_null(strstr((const char *)out.p, "watermark: 1, precise_ip: 3, mmap_data: 1"));
	assert_non_null(strstr((const char *)out.p, "defer_output: 1, bit 40: 1, "));
	assert_non_null(strstr((const char *)out.p, ", bit 63: 1, { wakeup_events"));
	assert_non_null(strstr((const char *)out.p, "config4: 0xffffffffffffffff"));
	buf_done(&out);
	memset(&attr, 0, sizeof(attr));
	check(&attr, "");
}

static void
test_precise(void **state)
{
	struct perf_event_attr attr = { .precise_ip = 2, .sigtrap = 1, .clockid = 1, .config3 = 5 };

	check(&attr, "precise_ip: 2, sigtrap: 1, clockid: 1, config3: 0x5");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_precise),
	};

	return cmocka_run_group_tests_name("attr_text", tests, NULL, NULL);
}

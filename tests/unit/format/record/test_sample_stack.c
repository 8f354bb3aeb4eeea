/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/record/sample_stack.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "format/bytes/buf.h"
#include "format/record/perf_record.h"

static const struct event_attr attr = { .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
						PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
						PERF_SAMPLE_STACK_USER | PERF_SAMPLE_CGROUP,
					.sample_regs_user = 3 };

static struct buf in;

static int
setup(void **state)
{
	buf_init(&in);
	return 0;
}

static int
teardown(void **state)
{
	buf_done(&in);
	return 0;
}

static void
make(uint64_t asked, uint64_t dyn)
{
	buf_u32(&in, REC_SAMPLE);
	buf_u16(&in, PERF_RECORD_MISC_USER);
	buf_u16(&in, 0);
	buf_u64(&in, 77);
	buf_u64(&in, 0x1000);
	buf_u64(&in, 1);
	buf_u64(&in, 0x1000);
	buf_u64(&in, PERF_SAMPLE_REGS_ABI_64);
	buf_u64(&in, 1);
	buf_u64(&in, 2);
	buf_u64(&in, asked);
	for (uint64_t i = 0; i < asked; i++)
		buf_u8(&in, (uint8_t)(i % 251));
	if (asked)
		buf_u64(&in, dyn);
	buf_u64(&in, 4242);
	le16enc(in.p + 6, (uint16_t)in.len);
}

/* It parses, and has what it had but for the bytes that mean nothing. */
static void
check_trimmed(uint64_t asked, uint64_t dyn, size_t want)
{
	struct perf_record r;
	size_t before, len;

	uint8_t *copy;

	buf_clear(&in);
	make(asked, dyn);
	before = in.len;
	copy = malloc(before);
	assert_non_null(copy);
	assert_int_equal(sample_stack_trim(copy, in.p, in.len, &attr), before - (asked - want));
	len = sample_stack_trim(in.p, in.p, in.len, &attr);
	assert_int_equal(len, before - (asked - want));
	assert_memory_equal(copy, in.p, len);
	free(copy);
	assert_int_equal(le16dec(in.p + 6), len);
	assert_int_equal(perf_record_parse(span_of(in.p, len), &attr, &r), 0);
	assert_int_equal(r.sample.stack_user.len, want);
	assert_int_equal(r.sample.stack_user_dyn_size, dyn);
	for (uint64_t i = 0; i < dyn; i++)
		assert_int_equal(r.sample.stack_user.p[i], i % 251);
	assert_int_equal(r.sample.cgroup, 4242);
	assert_int_equal(le64dec(r.sample.regs_user.words.p + 8), 2);
}

static void
test_trim(void **state)
{
	check_trimmed(8192, 1000, 1008);
	check_trimmed(64512, 1001, 1016);
	check_trimmed(8192, 0, 8);
	/* All was copied: what it says of itself stays. */
	check_trimmed(8192, 8192, 8192);
	check_trimmed(8192, 8184, 8192);
	check_trimmed(8192, 8176, 8184);
	check_trimmed(8, 3, 8);
}

static void
test_nothing_to_trim(void **state)
{
	const struct event_attr other = { .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP };

	make(0, 0);
	assert_int_equal(sample_stack_trim(in.p, in.p, in.len, &attr), in.len);
	buf_clear(&in);
	make(8192, 100);
	assert_int_equal(sample_stack_trim(in.p, in.p, in.len, &other), in.len);
	/* Not of the kernel. */
	buf_clear(&in);
	make(8192, 8193);
	assert_int_equal(sample_stack_trim(in.p, in.p, in.len, &attr), in.len);
	le64enc(in.p + 8 + 7 * 8, UINT64_MAX);
	assert_int_equal(sample_stack_trim(in.p, in.p, in.len, &attr), in.len);
	assert_int_equal(le16dec(in.p + 6), in.len);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trim),
		cmocka_unit_test(test_nothing_to_trim),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/record/event_attr.h"

#include <linux/perf_event.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "format/bytes/fmt_error.h"
#include "tests/lab/wire.h"

static struct wire wire;

/* The attr with a value of its own in each field, `size` bytes of it. */
static void
put_attr(uint32_t size)
{
	wire_clear(&wire);
	wire_u32(&wire, 0x01010101);
	wire_u32(&wire, size);
	wire_u64(&wire, 0x0202020202020202);
	wire_u64(&wire, 0x0303030303030303);
	wire_u64(&wire, 0x0404040404040404);
	wire_u64(&wire, 0x0505050505050505);
	wire_u64(&wire, 0x0606060606060606);
	wire_u32(&wire, 0x07070707);
	wire_u32(&wire, 0x08080808);
	wire_u64(&wire, 0x0909090909090909);
	wire_u64(&wire, 0x0a0a0a0a0a0a0a0a);
	wire_u64(&wire, 0x0b0b0b0b0b0b0b0b);
	wire_u64(&wire, 0x0c0c0c0c0c0c0c0c);
	wire_u32(&wire, 0x0d0d0d0d);
	wire_u32(&wire, 0xfffffff1);
	wire_u64(&wire, 0x0f0f0f0f0f0f0f0f);
	wire_u32(&wire, 0x10101010);
	wire_u16(&wire, 0x1111);
	wire_u16(&wire, 0x1212);
	wire_u32(&wire, 0x13131313);
	wire_u32(&wire, 0x14141414);
	wire_u64(&wire, 0x1515151515151515);
	wire_u64(&wire, 0x1616161616161616);
	wire_u64(&wire, 0x1717171717171717);
	assert_int_equal(wire.len, 144);
	while (wire.len < size)
		wire_u8(&wire, 0x99);
	wire.len = size ? size : 64;
}

static void
check_attr(const struct event_attr *a, uint32_t size)
{
	assert_int_equal(a->size, size);
	assert_int_equal(a->type, 0x01010101);
	assert_int_equal(a->config, 0x0202020202020202);
	assert_int_equal(a->sample_period, 0x0303030303030303);
	assert_int_equal(a->sample_type, 0x0404040404040404);
	assert_int_equal(a->read_format, 0x0505050505050505);
	assert_int_equal(a->flags, 0x0606060606060606);
	assert_int_equal(a->branch_sample_type, size >= 80 ? 0x0b0b0b0b0b0b0b0b : 0);
	assert_int_equal(a->sample_regs_user, size >= 88 ? 0x0c0c0c0c0c0c0c0c : 0);
	assert_true(a->clockid == (size >= 96 ? -15 : 0));
	assert_int_equal(a->sample_regs_intr, size >= 104 ? 0x0f0f0f0f0f0f0f0f : 0);
}

static void
test_each_size(void **state)
{
	for (uint32_t size = 64; size <= EVENT_ATTR_SIZE_MAX; size += 8) {
		struct event_attr a;
		struct span s;

		put_attr(size);
		s = wire_guard(wire.bytes, wire.len);
		assert_int_equal(event_attr_parse(&s, &a), 0);
		assert_int_equal(s.len, 0);
		check_attr(&a, size);
	}
}

static void
test_size_zero_is_the_first_published(void **state)
{
	struct event_attr a;
	struct span s;

	put_attr(0);
	s = wire_guard(wire.bytes, wire.len);
	assert_int_equal(event_attr_parse(&s, &a), 0);
	check_attr(&a, 64);
}

static void
test_wrong_sizes(void **state)
{
	struct event_attr a = { 0 };

	for (uint32_t size = 1; size < 8192; size++) {
		struct span s;

		if (size >= 64 && size <= EVENT_ATTR_SIZE_MAX && size % 8 == 0)
			continue;
		put_attr(EVENT_ATTR_SIZE_MAX);
		wire.bytes[4] = (uint8_t)size;
		wire.bytes[5] = (uint8_t)(size >> 8);
		s = wire_guard(wire.bytes, wire.len);
		assert_int_equal(event_attr_parse(&s, &a), -FMT_E_CORRUPT);
		assert_int_equal(s.len, wire.len);
	}
}

static void
test_cut(void **state)
{
	struct event_attr a = { .type = 7 };

	put_attr(128);
	for (size_t n = 0; n < 128; n++) {
		struct span s = wire_guard(wire.bytes, n);

		assert_int_equal(event_attr_parse(&s, &a), -FMT_E_TRUNCATED);
		assert_int_equal(s.len, n);
		assert_int_equal(a.type, 7);
	}
}

/* Our bits against the compiler's layout of the kernel's own struct. */
static void
test_flags_are_the_kernels(void **state)
{
#define CHECK(name)                                                                                \
	do {                                                                                       \
		struct perf_event_attr theirs = { .size = sizeof(theirs), .name = 1 };             \
		struct span s = span_of(&theirs, sizeof(theirs));                                  \
		struct event_attr a;                                                               \
                                                                                                   \
		assert_int_equal(event_attr_parse(&s, &a), 0);                                     \
		assert_int_equal(a.flags, UINT64_C(1) << EVENT_ATTR_##name);                       \
		assert_true(event_attr_has(&a, EVENT_ATTR_##name));                                \
	} while (0)

	CHECK(exclude_user);
	CHECK(exclude_kernel);
	CHECK(exclude_hv);
	CHECK(mmap);
	CHECK(comm);
	CHECK(freq);
	CHECK(task);
	CHECK(sample_id_all);
	CHECK(exclude_host);
	CHECK(exclude_guest);
	CHECK(mmap2);
	CHECK(comm_exec);
	CHECK(use_clockid);
	CHECK(namespaces);
/* Those that the headers of this machine know. */
#ifdef PERF_ATTR_SIZE_VER6
	CHECK(ksymbol);
	CHECK(bpf_event);
#endif
#ifdef PERF_ATTR_SIZE_VER7
	CHECK(cgroup);
	CHECK(text_poke);
	CHECK(build_id);
#endif
#undef CHECK
}

/* And the places of the fields. */
static void
test_fields_are_the_kernels(void **state)
{
	struct perf_event_attr theirs = { 0 };
	struct event_attr a;
	struct span s = span_of(&theirs, sizeof(theirs));

	theirs.type = 1;
	theirs.size = sizeof(theirs);
	theirs.config = 2;
	theirs.sample_freq = 3;
	theirs.sample_type = 4;
	theirs.read_format = 5;
	theirs.wakeup_watermark = 6;
	theirs.bp_type = 7;
	theirs.config1 = 8;
	theirs.config2 = 9;
	theirs.branch_sample_type = 10;
	theirs.sample_regs_user = 11;
	theirs.sample_stack_user = 12;
	theirs.clockid = 13;
	theirs.sample_regs_intr = 14;
	theirs.aux_watermark = 15;
	theirs.sample_max_stack = 16;
#ifdef PERF_ATTR_SIZE_VER6
	theirs.aux_sample_size = 17;
#endif
#ifdef PERF_ATTR_SIZE_VER7
	theirs.sig_data = 18;
#endif
	assert_int_equal(event_attr_parse(&s, &a), 0);
	assert_int_equal(a.type, 1);
	assert_int_equal(a.config, 2);
	assert_int_equal(a.sample_period, 3);
	assert_int_equal(a.sample_type, 4);
	assert_int_equal(a.read_format, 5);
	assert_int_equal(a.branch_sample_type, 10);
	assert_int_equal(a.sample_regs_user, 11);
	assert_int_equal(a.clockid, 13);
	assert_int_equal(a.sample_regs_intr, 14);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_size),
		cmocka_unit_test(test_size_zero_is_the_first_published),
		cmocka_unit_test(test_wrong_sizes),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_flags_are_the_kernels),
		cmocka_unit_test(test_fields_are_the_kernels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/bytes/buf.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void
test_appends(void **state)
{
	static const uint8_t want[] = { 1, 3, 2, 7, 6, 5, 4, 15,  14,  13, 12, 11, 10, 9,  8,
					0, 0, 0, 2, 0, 0, 0, 'o', 'k', 0,  0,  0,  0,  'x' };
	struct buf b;

	buf_init(&b);
	assert_int_equal(buf_span(&b).len, 0);
	buf_u8(&b, 0x01);
	buf_u16(&b, 0x0203);
	buf_u32(&b, 0x04050607);
	buf_u64(&b, 0x08090a0b0c0d0e0f);
	buf_zero(&b, 3);
	buf_string(&b, "ok");
	buf_string(&b, NULL);
	buf_append(&b, "x", 1);
	buf_append(&b, NULL, 0);
	assert_false(buf_failed(&b));
	assert_int_equal(b.len, sizeof(want));
	assert_memory_equal(buf_span(&b).p, want, sizeof(want));
	buf_clear(&b);
	assert_int_equal(b.len, 0);
	buf_done(&b);
	buf_done(&b);
}

static void
test_grows(void **state)
{
	struct buf b;

	buf_init(&b);
	for (uint32_t i = 0; i < 100000; i++)
		buf_u32(&b, i);
	for (uint32_t i = 0; i < 100000; i++)
		assert_int_equal(le32dec(b.p + i * 4), i);
	buf_done(&b);
	buf_u8(&b, 1); /* and again after done */
	assert_int_equal(b.len, 1);
	buf_done(&b);
}

static void
test_reserve_moves_nothing(void **state)
{
	struct buf b;
	uint8_t *p;

	buf_init(&b);
	buf_u8(&b, 9);
	p = buf_reserve(&b, 1000);
	assert_non_null(p);
	assert_ptr_equal(p, b.p + 1);
	assert_int_equal(b.len, 1);
	memset(p, 7, 1000);
	b.len += 1000;
	assert_int_equal(b.p[1000], 7);
	assert_non_null(buf_reserve(&b, 0));
	buf_done(&b);
}

static void
test_failure_is_sticky(void **state)
{
	struct buf b;

	buf_init(&b);
	buf_u32(&b, 1);
	assert_null(buf_reserve(&b, SIZE_MAX));
	assert_true(buf_failed(&b));
	buf_u32(&b, 2);
	buf_zero(&b, 1);
	buf_string(&b, "x");
	assert_null(buf_reserve(&b, 1));
	assert_int_equal(b.len, 4);
	buf_clear(&b);
	assert_false(buf_failed(&b));
	buf_u32(&b, 3);
	assert_int_equal(b.len, 4);
	buf_done(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_appends),
		cmocka_unit_test(test_grows),
		cmocka_unit_test(test_reserve_moves_nothing),
		cmocka_unit_test(test_failure_is_sticky),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "format/bytes/buf.h"
#include "format/columns/columns_ints.h"

#define NR 600

/* What was put is taken, and nothing is left. */
static void
round_trip(const uint64_t *v, size_t n)
{
	struct buf b;
	struct columns_out out = { .buf = &b };
	struct columns_ints c = { 0 };
	struct span s;
	uint64_t x;

	buf_init(&b);
	columns_ints_put(&out, v, n);
	assert_false(buf_failed(&b));
	s = buf_span(&b);
	assert_int_equal(columns_ints_take(&s, n, &c), 0);
	assert_int_equal(s.len, 0);
	for (size_t i = 0; i < n; i++) {
		assert_true(columns_ints_next(&c, &x));
		assert_int_equal(x, v[i]);
	}
	assert_false(columns_ints_next(&c, &x));
	columns_ints_done(&c);
	buf_done(&b);
}

/* Around what the bytes of a width can say: all bits set is the mark of an exception. */
static void
test_escape(void **state)
{
	uint64_t v[NR];

	(void)state;
	for (unsigned int width = 1; width < 8; width++) {
		const uint64_t escape = (UINT64_C(1) << (8 * width)) - 1;

		for (uint64_t d = 0; d < 4; d++) {
			for (uint64_t far = 0; far < 2; far++) {
				/* Most are narrow; a few stand at the mark, and one is far above it, or none. */
				for (size_t i = 0; i < NR; i++)
					v[i] = 1000 + (i * 7919) % escape;
				v[17] = v[404] = 1000 + escape - 2 + d;
				if (far)
					v[99] = UINT64_MAX;
				round_trip(v, NR);
				round_trip(v + 17, 1);
			}
		}
	}
}

static void
test_ends(void **state)
{
	const uint64_t all[] = { 0, UINT64_MAX, 0, UINT64_MAX - 1, 1 };
	const uint64_t same[] = { UINT64_MAX, UINT64_MAX, UINT64_MAX };

	(void)state;
	round_trip(all, 5);
	round_trip(all, 0);
	round_trip(same, 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_escape),
		cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests_name("columns_ints", tests, NULL, NULL);
}

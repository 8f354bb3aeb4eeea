/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the flight recorder tells of itself; that it records is tests/daemon/spoord_flight.t's. */
#include "daemon/stream/flight.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "format/bytes/time_text.h"

#define GIB (UINT64_C(1) << 30)

static void
test_held(void **state)
{
	static const struct {
		uint64_t span_ns, ring_bytes, hz, sample_bytes, want_ns;
	} rows[] = {
		/* All of it, and no more, however large the ring. */
		{ 30 * SECOND_NS, 32 << 20, 2000, 320, 30 * SECOND_NS },
		{ 3600 * SECOND_NS, 4 * GIB, 999, 320, 3600 * SECOND_NS },
		/* The largest ring: 1342 s, 419 s; with stacks 8.1 s, 650 ms. */
		{ 3600 * SECOND_NS, 4 * GIB, 9999, 320, 22 * 60 * SECOND_NS },
		{ 3600 * SECOND_NS, 4 * GIB, 32000, 320, 419 * SECOND_NS },
		{ 3600 * SECOND_NS, 4 * GIB, 62500, 8512, 8073 * (SECOND_NS / 1000) },
		{ 3600 * SECOND_NS, 4 * GIB, 100000, 65856, 652 * (SECOND_NS / 1000) },
		/* The kernel took another frequency: then it lasts longer. */
		{ 3600 * SECOND_NS, 4 * GIB, 5000, 320, 44 * 60 * SECOND_NS },
		{ 10 * SECOND_NS, 4096, 0, 320, 10 * SECOND_NS },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(flight_held_ns(rows[i].span_ns, rows[i].ring_bytes, rows[i].hz,
						rows[i].sample_bytes),
				 rows[i].want_ns);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_held),
	};

	return cmocka_run_group_tests_name("flight", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/bytes/crc32c.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* RFC 3720, B.4 */
static void
test_known_values(void **state)
{
	uint8_t b[32];

	assert_int_equal(crc32c(0, "", 0), 0);
	assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283);
	memset(b, 0, sizeof(b));
	assert_int_equal(crc32c(0, b, sizeof(b)), 0x8a9136aa);
	memset(b, 0xff, sizeof(b));
	assert_int_equal(crc32c(0, b, sizeof(b)), 0x62a8ab43);
	for (int i = 0; i < 32; i++)
		b[i] = (uint8_t)i;
	assert_int_equal(crc32c(0, b, sizeof(b)), 0x46dd794e);
	assert_int_equal(crc32c_portable(0, b, sizeof(b)), 0x46dd794e);
}

/* Bit by bit, as the polynomial says. */
static uint32_t
slow(uint32_t crc, const uint8_t *p, size_t n)
{
	crc = ~crc;
	while (n-- > 0) {
		crc ^= *p++;
		for (int i = 0; i < 8; i++)
			crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
	}
	return ~crc;
}

static void
test_all_ways_agree(void **state)
{
	uint8_t b[600];
	uint32_t x = 1;

	for (size_t i = 0; i < sizeof(b); i++) {
		x = x * 1664525 + 1013904223;
		b[i] = (uint8_t)(x >> 24);
	}
	for (size_t from = 0; from < 9; from++) {
		for (size_t n = 0; n <= 300; n++) {
			uint32_t want = slow((uint32_t)n, b + from, n);

			assert_int_equal(crc32c((uint32_t)n, b + from, n), want);
			assert_int_equal(crc32c_portable((uint32_t)n, b + from, n), want);
		}
	}
}

static void
test_continues(void **state)
{
	const uint8_t text[] = "a trail that an animal leaves";
	uint32_t whole = crc32c(0, text, sizeof(text));

	for (size_t i = 0; i <= sizeof(text); i++) {
		uint32_t crc = crc32c(0, text, i);

		assert_int_equal(crc32c(crc, text + i, sizeof(text) - i), whole);
		assert_int_equal(crc32c_portable(crc, text + i, sizeof(text) - i), whole);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_values),
		cmocka_unit_test(test_all_ways_agree),
		cmocka_unit_test(test_continues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Against the vectors of the reference implementation. */
#include "format/bytes/siphash.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Of the bytes 0, 1, 2..., with the key 0 to 15: vectors_sip64 of github.com/veorq/SipHash. */
static void
vectors(void **state)
{
	static const struct {
		size_t n;
		uint64_t hash;
	} known[] = {
		{ 0, UINT64_C(0x726fdb47dd0e0e31) }, { 1, UINT64_C(0x74f839c593dc67fd) },
		{ 2, UINT64_C(0x0d6c8009d9a94f5a) }, { 7, UINT64_C(0xab0200f58b01d137) },
		{ 8, UINT64_C(0x93f5f5799a932462) }, { 15, UINT64_C(0xa129ca6149be45e5) },
	};
	const struct siphash_key key = { { UINT64_C(0x0706050403020100),
					   UINT64_C(0x0f0e0d0c0b0a0908) } };
	uint8_t bytes[16];

	for (uint8_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = i;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		assert_int_equal(siphash(&key, bytes, known[i].n), known[i].hash);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/bytes/crc32c.h"

#include <bsd/sys/endian.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

/*
 * A table made by the preprocessor: the CRC is linear, so that an entry is the XOR of the entries of
 * its index's single bits.
 */
#define BIT(x, k, value) ((((x) >> (k)) & 1u) * (value##u))
#define ENTRY(x)                                                                                   \
	(BIT(x, 0, 0xf26b8303) ^ BIT(x, 1, 0xe13b70f7) ^ BIT(x, 2, 0xc79a971f) ^                   \
	 BIT(x, 3, 0x8ad958cf) ^ BIT(x, 4, 0x105ec76f) ^ BIT(x, 5, 0x20bd8ede) ^                   \
	 BIT(x, 6, 0x417b1dbc) ^ BIT(x, 7, 0x82f63b78))
#define ROW_4(x) ENTRY(x), ENTRY((x) + 1u), ENTRY((x) + 2u), ENTRY((x) + 3u)
#define ROW_16(x) ROW_4(x), ROW_4((x) + 4u), ROW_4((x) + 8u), ROW_4((x) + 12u)
#define ROW_64(x) ROW_16(x), ROW_16((x) + 16u), ROW_16((x) + 32u), ROW_16((x) + 48u)

static const uint32_t table[256] = { ROW_64(0u), ROW_64(64u), ROW_64(128u), ROW_64(192u) };

/* CPUs without the instruction are few, and checksums little beside what is done to the bytes. */
uint32_t
crc32c_portable(uint32_t crc, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	crc = ~crc;
	for (; n > 0; p++, n--)
		crc = (crc >> 8) ^ table[(crc ^ *p) & 0xff];
	return ~crc;
}

#if defined(__x86_64__)

__attribute__((target("sse4.2"))) static uint32_t
crc32c_cpu(uint32_t crc, const uint8_t *p, size_t n)
{
	uint64_t c = ~crc;

	for (; n >= 8; p += 8, n -= 8)
		c = _mm_crc32_u64(c, le64dec(p));
	for (; n > 0; p++, n--)
		c = _mm_crc32_u8((uint32_t)c, *p);
	return ~(uint32_t)c;
}

static int
cpu_has_crc32c(void)
{
	return __builtin_cpu_supports("sse4.2");
}

#elif defined(__aarch64__)

__attribute__((target("+crc"))) static uint32_t
crc32c_cpu(uint32_t crc, const uint8_t *p, size_t n)
{
	crc = ~crc;
	for (; n >= 8; p += 8, n -= 8)
		crc = __crc32cd(crc, le64dec(p));
	for (; n > 0; p++, n--)
		crc = __crc32cb(crc, *p);
	return ~crc;
}

static int
cpu_has_crc32c(void)
{
	return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
}

#else

#define crc32c_cpu crc32c_portable
#define cpu_has_crc32c() 0

#endif

uint32_t
crc32c(uint32_t crc, const void *p, size_t n)
{
	return cpu_has_crc32c() ? crc32c_cpu(crc, p, n) : crc32c_portable(crc, p, n);
}

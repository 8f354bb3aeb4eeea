/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/bytes/crc32c.h"

#include <bsd/sys/endian.h>
#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

/*
 * Slice-by-8 tables, made by the preprocessor: the CRC is linear, so that an entry is the
 * XOR of the entries of its index's single bits. That keeps them constant without 2048 numbers.
 */
#define BIT(x, k, value) ((((x) >> (k)) & 1u) * (value##u))
#define ENTRY(x, b0, b1, b2, b3, b4, b5, b6, b7)                                                   \
	(BIT(x, 0, b0) ^ BIT(x, 1, b1) ^ BIT(x, 2, b2) ^ BIT(x, 3, b3) ^ BIT(x, 4, b4) ^           \
	 BIT(x, 5, b5) ^ BIT(x, 6, b6) ^ BIT(x, 7, b7))
#define SLICE_0(x)                                                                                 \
	ENTRY(x, 0xf26b8303, 0xe13b70f7, 0xc79a971f, 0x8ad958cf, 0x105ec76f, 0x20bd8ede,           \
	      0x417b1dbc, 0x82f63b78)
#define SLICE_1(x)                                                                                 \
	ENTRY(x, 0x13a29877, 0x274530ee, 0x4e8a61dc, 0x9d14c3b8, 0x3fc5f181, 0x7f8be302,           \
	      0xff17c604, 0xfbc3faf9)
#define SLICE_2(x)                                                                                 \
	ENTRY(x, 0xa541927e, 0x4f6f520d, 0x9edea41a, 0x38513ec5, 0x70a27d8a, 0xe144fb14,           \
	      0xc76580d9, 0x8b277743)
#define SLICE_3(x)                                                                                 \
	ENTRY(x, 0xdd45aab8, 0xbf672381, 0x7b2231f3, 0xf64463e6, 0xe964b13d, 0xd725148b,           \
	      0xaba65fe7, 0x52a0c93f)
#define SLICE_4(x)                                                                                 \
	ENTRY(x, 0x38116fac, 0x7022df58, 0xe045beb0, 0xc5670b91, 0x8f2261d3, 0x1ba8b557,           \
	      0x37516aae, 0x6ea2d55c)
#define SLICE_5(x)                                                                                 \
	ENTRY(x, 0xef306b19, 0xdb8ca0c3, 0xb2f53777, 0x6006181f, 0xc00c303e, 0x85f4168d,           \
	      0x0e045beb, 0x1c08b7d6)
#define SLICE_6(x)                                                                                 \
	ENTRY(x, 0x68032cc8, 0xd0065990, 0xa5e0c5d1, 0x4e2dfd53, 0x9c5bfaa6, 0x3d5b83bd,           \
	      0x7ab7077a, 0xf56e0ef4)
#define SLICE_7(x)                                                                                 \
	ENTRY(x, 0x493c7d27, 0x9278fa4e, 0x211d826d, 0x423b04da, 0x847609b4, 0x0d006599,           \
	      0x1a00cb32, 0x34019664)
#define ROW_4(slice, x) slice(x), slice((x) + 1u), slice((x) + 2u), slice((x) + 3u)
#define ROW_16(slice, x)                                                                           \
	ROW_4(slice, x), ROW_4(slice, (x) + 4u), ROW_4(slice, (x) + 8u), ROW_4(slice, (x) + 12u)
#define ROW_64(slice, x)                                                                           \
	ROW_16(slice, x), ROW_16(slice, (x) + 16u), ROW_16(slice, (x) + 32u),                      \
		ROW_16(slice, (x) + 48u)
#define TABLE(slice)                                                                               \
	{                                                                                          \
		ROW_64(slice, 0u), ROW_64(slice, 64u), ROW_64(slice, 128u), ROW_64(slice, 192u)    \
	}

static const uint32_t table[8][256] = {
	TABLE(SLICE_0), TABLE(SLICE_1), TABLE(SLICE_2), TABLE(SLICE_3),
	TABLE(SLICE_4), TABLE(SLICE_5), TABLE(SLICE_6), TABLE(SLICE_7),
};

uint32_t
crc32c_portable(uint32_t crc, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	crc = ~crc;
	for (; n >= 8; p += 8, n -= 8) {
		uint32_t low = le32dec(p) ^ crc;
		uint32_t high = le32dec(p + 4);

		crc = table[7][low & 0xff] ^ table[6][(low >> 8) & 0xff] ^
			table[5][(low >> 16) & 0xff] ^ table[4][low >> 24] ^ table[3][high & 0xff] ^
			table[2][(high >> 8) & 0xff] ^ table[1][(high >> 16) & 0xff] ^
			table[0][high >> 24];
	}
	for (; n > 0; p++, n--)
		crc = (crc >> 8) ^ table[0][(crc ^ *p) & 0xff];
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

static uint32_t
crc32c_cpu(uint32_t crc, const uint8_t *p, size_t n)
{
	return crc32c_portable(crc, p, n);
}

static int
cpu_has_crc32c(void)
{
	return 0;
}

#endif

uint32_t
crc32c(uint32_t crc, const void *p, size_t n)
{
	return cpu_has_crc32c() ? crc32c_cpu(crc, p, n) : crc32c_portable(crc, p, n);
}

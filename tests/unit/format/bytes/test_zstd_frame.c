/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A frame in parts is one frame, of its own length, with the same bytes in it. */
#include "format/bytes/zstd_frame.h"

#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define BYTES 30000

static uint8_t bytes[BYTES], frame[2 * BYTES], back[BYTES];

/* A third of noise, a third of text, a third of one letter. */
static void
fill(void)
{
	uint32_t x = 1;

	for (size_t i = 0; i < BYTES; i++) {
		x = x * 1664525 + 1013904223;
		bytes[i] = i < BYTES / 3    ? (uint8_t)(x >> 24)
			: i < BYTES / 3 * 2 ? (uint8_t)("tracks"[x >> 29 & 3])
					    : 'a';
	}
}

static size_t
expect_back(ZSTD_CCtx *zstd, size_t n, const size_t *cuts, size_t nr_cuts, bool numbers)
{
	const struct zstd_parts parts = { cuts, nr_cuts, numbers };
	size_t bound = zstd_frame_bound(n, nr_cuts), got;

	assert_true(bound <= sizeof(frame));
	got = zstd_frame_pack(zstd, span_of(bytes, n), &parts, frame, bound);
	assert_uint_in_range(got, 1, bound);
	assert_int_equal(ZSTD_getFrameContentSize(frame, got), n);
	assert_int_equal(ZSTD_findFrameCompressedSize(frame, got), got);
	memset(back, 0, sizeof(back));
	assert_int_equal(ZSTD_decompress(back, n, frame, got), n);
	assert_memory_equal(back, bytes, n);
	/* In one byte less it has no room, and says so. */
	assert_int_equal(zstd_frame_pack(zstd, span_of(bytes, n), &parts, frame, got - 1), 0);
	return got;
}

static void
test_parts(void **state)
{
	const size_t thirds[] = { BYTES / 3, BYTES / 3 * 2 }, end[] = { BYTES };
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	size_t whole, parts, many[96];

	assert_non_null(zstd);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, 1);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
	fill();
	whole = expect_back(zstd, BYTES, NULL, 0, false);
	parts = expect_back(zstd, BYTES, thirds, 2, false);
	assert_true(parts + 100 < whole);
	expect_back(zstd, BYTES, end, 1, false);
	for (size_t i = 0; i < 96; i++)
		many[i] = i + 1;
	for (size_t n = 96; n < 400; n += 7)
		expect_back(zstd, n, many, 96, n & 1);
	/* And whole again, after a frame that found no room. */
	assert_int_equal(expect_back(zstd, BYTES, NULL, 0, false), whole);
	ZSTD_freeCCtx(zstd);
}

/* What comes again far behind is not found among numbers, and found again in the next frame. */
static void
test_numbers(void **state)
{
	const size_t middle[] = { BYTES / 2 };
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	size_t found, numbers;

	assert_non_null(zstd);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, 1);
	fill();
	memcpy(bytes + BYTES / 2, bytes, BYTES / 3);
	found = expect_back(zstd, BYTES, middle, 1, false);
	numbers = expect_back(zstd, BYTES, middle, 1, true);
	assert_true(numbers > found + BYTES / 6);
	assert_int_equal(expect_back(zstd, BYTES, middle, 1, false), found);
	ZSTD_freeCCtx(zstd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_parts),
					    cmocka_unit_test(test_numbers) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

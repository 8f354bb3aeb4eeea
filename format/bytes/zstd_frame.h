/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zstd_frame: bytes as one zstd frame, in parts that are unlike each other.
 *
 * zstd makes one table of code lengths for up to 128 KiB of literals. Where one kind of bytes
 * ends and another begins, a table for each is worth more than it costs.
 */
#ifndef FORMAT_BYTES_ZSTD_FRAME_H
#define FORMAT_BYTES_ZSTD_FRAME_H

#include <stdbool.h>

#include <zstd.h>

#include "format/bytes/span.h"

/* Bytes that a frame of n bytes in nr_cuts + 1 parts has at most. */
size_t zstd_frame_bound(size_t n, size_t nr_cuts);

/* The parts of a frame. */
struct zstd_parts {
	const size_t *cuts; /* ascending offsets */
	size_t nr_cuts;
	bool numbers; /* hardly a sequence of bytes comes twice: it is not worth looking far */
};

/*
 * Writes bytes as a frame of zstd's settings, but for its ZSTD_c_hashLog, that gives their number.
 * Returns the frame's length, or 0: it cannot be made, or has more than cap bytes.
 */
size_t zstd_frame_pack(ZSTD_CCtx *zstd, struct span bytes, const struct zstd_parts *parts,
		       uint8_t *to, size_t cap);

#endif

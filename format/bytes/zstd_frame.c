/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/bytes/zstd_frame.h"

#define PART_BYTES 16 /* more than a part adds */
/*
 * Of the table of places where zstd looks for what came before; its own would be 2^14. In columns
 * of numbers what is found there is by chance, so that they even become smaller by 0.5 %, and a
 * quarter of the time is saved that filling and missing a large table takes.
 */
#define NUMBERS_HASH_LOG 8

size_t
zstd_frame_bound(size_t n, size_t nr_cuts)
{
	return ZSTD_compressBound(n) + nr_cuts * PART_BYTES;
}

size_t
zstd_frame_pack(ZSTD_CCtx *zstd, struct span bytes, const struct zstd_parts *parts, uint8_t *to,
		size_t cap)
{
	ZSTD_outBuffer out = { to, cap, 0 };
	ZSTD_inBuffer in = { bytes.p, 0, 0 };
	size_t left;

	ZSTD_CCtx_reset(zstd, ZSTD_reset_session_only);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_hashLog, parts->numbers ? NUMBERS_HASH_LOG : 0);
	if (parts->nr_cuts == 0) {
		left = ZSTD_compress2(zstd, to, cap, bytes.p, bytes.len);
		return ZSTD_isError(left) ? 0 : left;
	}
	if (ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(zstd, bytes.len)))
		return 0;
	for (size_t i = 0; i <= parts->nr_cuts; i++) {
		in.size = i < parts->nr_cuts ? parts->cuts[i] : bytes.len;
		left = ZSTD_compressStream2(zstd, &out, &in,
					    i < parts->nr_cuts ? ZSTD_e_flush : ZSTD_e_end);
		if (ZSTD_isError(left) || left > 0)
			return 0;
	}
	return out.pos;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/zstd_frame.h"

#define PART_BYTES 16 /* more than a part adds */

size_t
zstd_frame_bound(size_t n, size_t nr_cuts)
{
	return ZSTD_compressBound(n) + nr_cuts * PART_BYTES;
}

size_t
zstd_frame_pack(ZSTD_CCtx *zstd, struct span bytes, const size_t *cuts, size_t nr_cuts, uint8_t *to,
		size_t cap)
{
	ZSTD_outBuffer out = { to, cap, 0 };
	ZSTD_inBuffer in = { bytes.p, 0, 0 };
	size_t left;

	if (nr_cuts == 0) {
		left = ZSTD_compress2(zstd, to, cap, bytes.p, bytes.len);
		return ZSTD_isError(left) ? 0 : left;
	}
	ZSTD_CCtx_reset(zstd, ZSTD_reset_session_only);
	if (ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(zstd, bytes.len)))
		return 0;
	for (size_t i = 0; i <= nr_cuts; i++) {
		in.size = i < nr_cuts ? cuts[i] : bytes.len;
		left = ZSTD_compressStream2(zstd, &out, &in,
					    i < nr_cuts ? ZSTD_e_flush : ZSTD_e_end);
		if (ZSTD_isError(left) || left > 0)
			return 0;
	}
	return out.pos;
}

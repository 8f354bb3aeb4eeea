/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/perfdata/perfdata_inflate.h"

#include <stdlib.h>

#include <zstd.h>

#include "format/record/perf_record.h"

/* More than the largest record, so that there is always room to unpack into. */
#define ROOM_BYTES (256u << 10)
#define FRAME_MAGIC 0xfd2fb528u
/* Of all that was packed. What samples become is ten to fifty times as much; what they are read into is on a disk. */
#define UNPACKED_RATIO 256
#define UNPACKED_FREE (UINT64_C(64) << 20)

struct perfdata_inflate {
	ZSTD_DCtx *zstd;
	ZSTD_inBuffer in;
	bool broken;		   /* until a frame begins */
	uint64_t packed, unpacked; /* bytes so far */
	size_t at, end;		   /* unpacked and not yet taken: room[at..end) */
	uint8_t room[ROOM_BYTES];
};

struct perfdata_inflate *
perfdata_inflate_new(void)
{
	struct perfdata_inflate *z = calloc(1, sizeof(*z));

	if (z)
		z->zstd = ZSTD_createDCtx();
	if (!z || !z->zstd) {
		free(z);
		return NULL;
	}
	/* A stream that began in another file (-z --switch-output) is as good as broken. */
	z->broken = true;
	return z;
}

void
perfdata_inflate_free(struct perfdata_inflate *z)
{
	if (!z)
		return;
	ZSTD_freeDCtx(z->zstd);
	free(z);
}

size_t
perfdata_inflate_rest(const struct perfdata_inflate *z)
{
	return z->end - z->at;
}

int
perfdata_inflate_put(struct perfdata_inflate *z, struct span payload)
{
	if (z->broken) {
		if (payload.len < 4 || le32dec(payload.p) != FRAME_MAGIC)
			return -FMT_E_DECOMPRESS;
		ZSTD_DCtx_reset(z->zstd, ZSTD_reset_session_only);
		z->broken = false;
	}
	z->in = (ZSTD_inBuffer){ payload.p, payload.len, 0 };
	z->packed += payload.len;
	return 0;
}

/* Gives up what is left: nobody can know what it means. */
static int
perfdata_inflate_fail(struct perfdata_inflate *z, int error)
{
	z->broken = true;
	z->in.pos = z->in.size;
	z->at = z->end = 0;
	return error;
}

/* 1: there is more in the room now; 0: the input is used up. */
static int
unpack(struct perfdata_inflate *z)
{
	ZSTD_outBuffer out = { z->room, ROOM_BYTES, 0 };
	size_t result, before;

	memmove(z->room, z->room + z->at, z->end - z->at);
	z->end -= z->at;
	z->at = 0;
	before = out.pos = z->end;
	do {
		size_t pos = z->in.pos;

		result = ZSTD_decompressStream(z->zstd, &out, &z->in);
		if (ZSTD_isError(result))
			return perfdata_inflate_fail(z, -FMT_E_DECOMPRESS);
		if (out.pos == before && z->in.pos == pos)
			break;
	} while (out.pos == before);
	z->end = out.pos;
	z->unpacked += out.pos - before;
	if (z->unpacked > UNPACKED_FREE + UNPACKED_RATIO * z->packed)
		return perfdata_inflate_fail(z, -FMT_E_TOO_BIG);
	return out.pos > before;
}

int
perfdata_inflate_next(struct perfdata_inflate *z, struct span *ret)
{
	for (;;) {
		size_t have = z->end - z->at, size = 0;
		int more;

		if (have >= PERF_RECORD_HEADER_BYTES) {
			size = le16dec(z->room + z->at + 6);
			if (size < PERF_RECORD_HEADER_BYTES || size % 8)
				return perfdata_inflate_fail(z, -FMT_E_CORRUPT);
			if (size <= have) {
				*ret = span_of(z->room + z->at, size);
				z->at += size;
				return 1;
			}
		}
		more = unpack(z);
		if (more <= 0)
			return more;
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * packed: files that name what a recording sampled, inside of the recording.
 *
 * An OBJECT block tells of one file: which build it belongs to, what it is to that build, how long it is.
 * PIECE blocks behind it have its bytes; what no piece has is zeros. A piece names its OBJECT block by the
 * number of that block (seq), so that a piece of another file is never taken for one of this.
 *
 * OBJECT:
 *       0  u8   kind       PACKED_*
 *       1  u8   id_kind    which build (enum buildid_kind)
 *       2  u8   id_size
 *       3  u8   flags      1: the code of what was sampled is in it; 2: symbols alone are
 *       4  u32  pieces     PIECE blocks behind it
 *       8  u64  size       of the file
 *      16  u64  changed    ns since 1970: when the file that it was made of was changed last
 *      24  u8   id[20]
 *      44  u32  path_len
 *      48  the path of the file that it was made of, for people
 *
 * PIECE:
 *       0  u64  object     seq of the OBJECT block
 *       8  u64  at         where in the file the bytes belong
 *      16  the bytes, PACKED_PIECE_BYTES at most
 */
#ifndef FORMAT_BLOCK_PACKED_H
#define FORMAT_BLOCK_PACKED_H

#include <stdbool.h>
#include <stdint.h>

#include "format/bytes/buf.h"
#include "format/bytes/buildid.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/span.h"

#define PACKED_PIECE_BYTES (1u << 20)
#define PACKED_FILE_MAX (UINT64_C(4) << 30)
#define PACKED_PATH_MAX 4096

enum packed_kind {
	PACKED_OBJECT = 1, /* what was mapped */
	PACKED_DEBUG = 2,  /* the file with its symbols and its debug information */
	PACKED_ALT = 3,	   /* the file that dwz(1) moved a part of that to; id: its own */
};

struct packed_object {
	enum packed_kind kind;
	struct buildid id;
	bool code;
	bool names_only; /* a file of a host that has more comes before it */
	uint32_t pieces;
	uint64_t size, changed_ns;
	const char *path; /* borrowed; no NUL at its end */
	size_t path_len;
};

/* Appends the payload. */
void packed_object_put(struct buf *out, const struct packed_object *o);
/* 0; -FMT_E_CORRUPT: no such payload, or one whose file would be too long. */
int packed_object_read(struct span payload, struct packed_object *ret);

struct packed_piece {
	uint64_t object, at;
	struct span bytes;
};

void packed_piece_put(struct buf *out, const struct packed_piece *p);
/* 0, -FMT_E_CORRUPT. */
int packed_piece_read(struct span payload, struct packed_piece *ret);

#endif

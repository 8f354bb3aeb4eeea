/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording_parts: a window of an archive as one file: a recording without records, and behind its END the
 * recordings of the window, byte for byte, one after another. The meta of the first one says which they are.
 *
 *       0  u64  since   the window, ns since 1970; 0: from the beginning
 *       8  u64  until   later than since; 2^64-1: to the end
 *      16  of each part:
 *          u64  bytes   its length
 *          u32  length  of its name
 *          the name that its file had, relative to the archive
 */
#ifndef FORMAT_BLOCK_RECORDING_PARTS_H
#define FORMAT_BLOCK_RECORDING_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include "format/bytes/buf.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/span.h"

#define RECORDING_PARTS_MAX 4096
#define RECORDING_PART_NAME_MAX 512

struct recording_part {
	uint64_t bytes;
	struct span name; /* no NUL in it, nor at its end */
};

/* Appends the window, and then each part. */
void recording_parts_begin(struct buf *out, uint64_t since_ns, uint64_t until_ns);
void recording_parts_add(struct buf *out, const struct recording_part *part);

/* Takes the window off the front of *s: parts are behind it. 0, -FMT_E_CORRUPT. */
int recording_parts_window(struct span *s, uint64_t *ret_since_ns, uint64_t *ret_until_ns);
/* Takes one part off the front of *s. 1, 0 at the end, -FMT_E_CORRUPT. */
int recording_parts_next(struct span *s, struct recording_part *ret);
/*
 * Can all of it be read, does the window end after it begins, and do the lengths add up to a length of a file? 0,
 * -FMT_E_CORRUPT.
 */
int recording_parts_check(struct span s);

#endif

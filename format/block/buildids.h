/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buildids: payload of a BUILDIDS block: build-ids that the recorder read itself, for
 * mapped files whose MMAP2 came without one (the kernel was not asked, or had none to tell),
 * and for kernel modules and the vDSO.
 *
 *   u32 count, u32 0, then count x { u32 maj, u32 min, u64 ino, u64 ino_generation,
 *   u8 size, u8 kind, u8 0[2], u8 id[20], string path }   (string: u32 length and bytes)
 */
#ifndef FORMAT_BLOCK_BUILDIDS_H
#define FORMAT_BLOCK_BUILDIDS_H

#include <stdint.h>

#include "format/bytes/buf.h"
#include "format/bytes/buildid.h"
#include "format/bytes/fmt_error.h"

struct buildid_entry {
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	struct buildid id; /* not empty */
	const char *path;  /* not NUL-terminated when it comes from a payload */
	size_t path_len;
};

void buildids_begin(struct buf *out);
void buildids_add(struct buf *out, const struct buildid_entry *e);
/* Iterates: *cursor is 0 at first. 1 an entry, 0 the end, -FMT_E_CORRUPT. */
int buildids_next(struct span payload, size_t *cursor, struct buildid_entry *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jitsyms: payload of a JIT block: names of code that processes made at run time and that samples
 * hit, as perf maps and jitdumps told them while the process was there. Such a block may come after
 * the records that need it: some runtimes tell the names when they end.
 *
 *   u32 count, u32 0, then count x { u32 pid, u32 0, u64 began, u64 time, u64 order, u64 start,
 *   u64 size, string name } (string: u32 length and bytes).
 */
#ifndef FORMAT_BLOCK_JITSYMS_H
#define FORMAT_BLOCK_JITSYMS_H

#include <stdint.h>

#include "format/bytes/buf.h"
#include "format/bytes/fmt_error.h"

struct jitsym {
	uint32_t pid;
	uint64_t began_ns;    /* when the process began, or executed its program; 0: not known */
	uint64_t time_ns;     /* from when on it is called so; 0: since the process began */
	uint64_t order;	      /* of two with one time the one with the greater order is right */
	uint64_t start, size; /* size at least 1; start + size does not wrap */
	const char *name;     /* not NUL-terminated when it comes from a payload */
	size_t name_len;      /* 0: nothing is there any more */
};

void jitsyms_begin(struct buf *out);
void jitsyms_add(struct buf *out, const struct jitsym *symbol);

/* Iterates: *cursor is 0 at first. 1 an entry, 0 the end, -FMT_E_CORRUPT. */
int jitsyms_next(struct span payload, size_t *cursor, struct jitsym *ret);

#endif

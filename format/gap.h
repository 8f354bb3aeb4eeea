/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gap: payload of a GAP block: times without samples, and why.
 *
 *   u32 count, u32 entry_size (40), then count x { u32 cause, u32 cpu, u64 from, u64 until,
 *   u64 samples, u64 0 }. A cause is one of the loss ledger's (LOSS_*). cpu 0xffffffff: all.
 *   until 0: it had not ended when this was written; a later entry with the same cause, cpu
 *   and from tells more. samples: that are known to be missing for it.
 */
#ifndef FORMAT_GAP_H
#define FORMAT_GAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/buf.h"
#include "format/span.h"

#define GAP_HEADER_BYTES 8
#define GAP_ENTRY_BYTES 40
#define GAP_CPU_ALL UINT32_MAX

struct gap {
	uint32_t cause; /* enum loss_cause, or one that this version does not know */
	uint32_t cpu;
	uint64_t from_ns, until_ns;
	uint64_t samples;
};

void gap_begin(struct buf *out);
void gap_add(struct buf *out, const struct gap *gap);

/* Iterates: *cursor is 0 at first. 1 an entry, 0 the end, -FMT_E_CORRUPT. */
int gap_next(struct span payload, size_t *cursor, struct gap *ret);

/* Does b tell of the same gap as a? */
bool gap_same(const struct gap *a, const struct gap *b);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gap: payload of a GAP block: times without samples, and why.
 *
 *   u32 count, u32 entry_size (40), then count x { u32 cause, u32 cpu, u64 from, u64 until,
 *   u64 samples, u64 0 }. A cause is one of the loss ledger's (LOSS_*). cpu 0xffffffff: all.
 *   until 0: it had not ended when this was written; a later entry with the same cause, cpu
 *   and from tells more. samples: that are known to be missing for it.
 */
#ifndef FORMAT_BLOCK_GAP_H
#define FORMAT_BLOCK_GAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bytes/buf.h"
#include "format/bytes/span.h"

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

/* The gaps of a file, each once, in the order in which they were first told. */
struct gap_list {
	struct gap *gaps;
	size_t nr, cap;
	uint64_t more; /* that there was no room for */
};

#define GAP_LIST_MAX 4096

void gap_list_done(struct gap_list *l);
/* Adds what a payload tells, as far as it can be read. 0, -FMT_E_NOMEM. */
int gap_list_add(struct gap_list *l, struct span payload);
/* Adds those of another list, as they are but for shift_ns more (modulo 2^64). */
int gap_list_merge(struct gap_list *l, const struct gap_list *other, uint64_t shift_ns);
/* Forgets those that do not reach into [from, until) ns. */
void gap_list_clip(struct gap_list *l, uint64_t from_ns, uint64_t until_ns);

#endif

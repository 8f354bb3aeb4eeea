/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rate: payload of a RATE block: from when on the events with a frequency, but none of their own (freq=),
 * have which one.
 *
 *   u32 count, u32 entry_size (32), then count x { u64 time, u64 asked_hz, u64 effective_hz,
 *   u32 reason, u32 0 }. Until the first one the meta's FREQUENCY holds. Samples carry their
 *   period, so that shares need none of this.
 */
#ifndef FORMAT_BLOCK_RATE_H
#define FORMAT_BLOCK_RATE_H

#include <stddef.h>
#include <stdint.h>

#include "format/bytes/buf.h"
#include "format/bytes/span.h"

#define RATE_ENTRY_BYTES 32

/* number on disk, name in code, key in JSON, text. Never reuse a number. */
#define RATE_REASONS(X)                                                                            \
	X(1, ASKED, "asked", "as asked for")                                                       \
	X(2, LIMIT, "limit", "kernel.perf_event_max_sample_rate changed")

enum rate_reason {
#define X(number, name, key, text) RATE_##name = number,
	RATE_REASONS(X)
#undef X
};

struct rate {
	uint64_t time_ns;
	uint64_t asked_hz, effective_hz;
	uint32_t reason; /* RATE_*, or one that this version does not know */
};

void rate_begin(struct buf *out);
void rate_add(struct buf *out, const struct rate *rate);

/* Iterates: *cursor is 0 at first. 1 an entry, 0 the end, -FMT_E_CORRUPT. */
int rate_next(struct span payload, size_t *cursor, struct rate *ret);

/* The changes of a file, in its order. */
struct rate_list {
	struct rate *rates;
	size_t nr, cap;
	uint64_t more; /* that there was no room for */
};

#define RATE_LIST_MAX 4096

void rate_list_done(struct rate_list *l);
/* Adds what a payload tells, as far as it can be read. 0, -FMT_E_NOMEM. */
int rate_list_add(struct rate_list *l, struct span payload);

const char *rate_reason_key(uint32_t reason); /* "unknown" for one from a later version */
const char *rate_reason_text(uint32_t reason);

#endif

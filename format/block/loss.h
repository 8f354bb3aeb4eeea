/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loss: the ledger of what a recording does not have, per CPU and per cause.
 *
 * The recorder counts into it, LOSS blocks carry it (cumulative since the start of the
 * file, so that the last one read is the whole truth), reports print it first.
 * A plain growing table; no clock, no locks: one owner.
 */
#ifndef FORMAT_BLOCK_LOSS_H
#define FORMAT_BLOCK_LOSS_H

#include <stddef.h>
#include <stdint.h>

#include "format/bytes/buf.h"
#include "format/bytes/span.h"

enum loss_cause {
#define LOSS_ROW(number, name, key, unit, text) LOSS_##name = number,
#include "format/block/loss_tbl.h"
#undef LOSS_ROW
	LOSS_CAUSES
};

struct loss; /* opaque */

struct loss *loss_new(void);
void loss_free(struct loss *l);
/* Adds n to a CPU's account (cpu UINT32_MAX: not of one CPU). -FMT_E_NOMEM. */
int loss_add(struct loss *l, uint32_t cpu, enum loss_cause cause, uint64_t n);
/* Sets an account that is itself a counter (PERF_FORMAT_LOST); never lowers it. */
int loss_set(struct loss *l, uint32_t cpu, enum loss_cause cause, uint64_t n);
/* Adds all accounts of another ledger. -FMT_E_NOMEM: of some. */
int loss_merge(struct loss *l, const struct loss *other);
/* What l has more than it had at an earlier time (NULL: at none). NULL: out of memory. */
struct loss *loss_since(const struct loss *l, const struct loss *earlier);
uint64_t loss_get(const struct loss *l, uint32_t cpu, enum loss_cause cause);
uint64_t loss_total(const struct loss *l, enum loss_cause cause);
/* Samples known to be missing: the causes whose unit is samples. */
uint64_t loss_samples(const struct loss *l);
/* CPUs with an account, ascending; i from 0; returns -1 past the end. UINT32_MAX comes last. */
int loss_cpu_at(const struct loss *l, size_t i, uint32_t *ret_cpu);

/* What a PERF_RECORD_AUX of these flags says is missing; how many causes that are. */
#define LOSS_AUX_CAUSES 3
size_t loss_of_aux(uint64_t flags, enum loss_cause ret[LOSS_AUX_CAUSES]);

const char *loss_key(enum loss_cause cause);  /* "kernel_samples" */
const char *loss_unit(enum loss_cause cause); /* "samples" */
const char *loss_text(enum loss_cause cause);

/* Payload of a LOSS block: u32 count, then count x {u32 cpu, u32 cause, u64 n}. */
void loss_encode(const struct loss *l, struct buf *out);
/* Merges a payload by loss_set(); causes this reader does not know are skipped. */
int loss_decode(struct loss *l, struct span payload);

#endif

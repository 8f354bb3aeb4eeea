/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample_detail: what a single sample has of its own, besides where it was taken: which memory it
 * touched and how, its weight, the branch that is counted. Rows may be told apart by it.
 *
 * The details that are asked for stand in a list of words, two of each (word_lists.h), in the order of
 * the table. Those that are addresses are places (raw_profile.h), and frames once they are named.
 */
#ifndef SYMBOLIZER_PROFILE_SAMPLE_DETAIL_H
#define SYMBOLIZER_PROFILE_SAMPLE_DETAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/record/perf_record.h"
#include "symbolizer/text/data_source.h"

/* Bits of the flags of a branch (struct perf_branch_entry). */
#define SAMPLE_BRANCH_MISPREDICTED UINT64_C(1)
#define SAMPLE_BRANCH_PREDICTED UINT64_C(2)

/*
 * name (the sort key's), which address it is of, of the sample s or of its branch b, or VALUE and a number:
 * 0 where the sample has none.
 */
#define SAMPLE_DETAILS(X)                                                                          \
	X(symbol_daddr, DATA, s->addr)                                                             \
	X(dso_daddr, DATA, s->addr)                                                                \
	X(mem, VALUE, s->data_src &data_source_bits(DATA_SOURCE_lvl))                              \
	X(snoop, VALUE, s->data_src &data_source_bits(DATA_SOURCE_snoop))                          \
	X(tlb, VALUE, s->data_src &data_source_bits(DATA_SOURCE_tlb))                              \
	X(locked, VALUE, s->data_src &data_source_bits(DATA_SOURCE_lock))                          \
	X(blocked, VALUE, s->data_src &data_source_bits(DATA_SOURCE_blk))                          \
	X(weight, VALUE, sample_weight(s))                                                         \
	X(local_weight, VALUE, sample_weight(s))                                                   \
	X(local_ins_lat, VALUE, sample_latency(s))                                                 \
	X(phys_daddr, VALUE, s->phys_addr)                                                         \
	X(data_page_size, VALUE, s->data_page_size)                                                \
	X(code_page_size, VALUE, s->code_page_size)                                                \
	X(transaction, VALUE, s->transaction)                                                      \
	X(symbol_from, CODE, b->from)                                                              \
	X(dso_from, CODE, b->from)                                                                 \
	X(mispredict, VALUE, b->flags &(SAMPLE_BRANCH_MISPREDICTED | SAMPLE_BRANCH_PREDICTED))     \
	X(cycles, VALUE, b->flags >> 4 & 0xffff)                                                   \
	X(in_tx, VALUE, b->flags >> 2 & 1)                                                         \
	X(abort, VALUE, b->flags >> 3 & 1)

enum sample_detail {
#define X(name, ...) SAMPLE_DETAIL_##name,
	SAMPLE_DETAILS(X)
#undef X
		SAMPLE_DETAILS_MAX
};
#define SAMPLE_DETAIL_WORDS (2 * SAMPLE_DETAILS_MAX)

enum sample_detail_kind {
	SAMPLE_DETAIL_VALUE,
	SAMPLE_DETAIL_DATA, /* an address of data: a place of data */
	SAMPLE_DETAIL_CODE, /* of an instruction */
};
enum sample_detail_kind sample_detail_kind(enum sample_detail detail);

/* What the weight is in both of its forms, and the latency of the instruction in the newer one. */
uint64_t sample_weight(const struct perf_sample *s);
uint64_t sample_latency(const struct perf_sample *s);

/* branch: NULL where samples are counted, and not branches. */
uint64_t sample_detail_of(enum sample_detail detail, const struct perf_sample *s,
			  const struct perf_branch *branch);

/* The set of details that are asked for: a bit for each. */
static inline bool
sample_details_have(uint32_t asked, enum sample_detail detail)
{
	return asked >> detail & 1;
}

/* Where a detail stands in the list, which has it. */
static inline size_t
sample_detail_at(uint32_t asked, enum sample_detail detail)
{
	return 2 * (size_t)__builtin_popcount(asked & ((UINT32_C(1) << detail) - 1));
}

static inline uint64_t
sample_detail_get(const uint32_t *words, size_t at)
{
	return words[at] | (uint64_t)words[at + 1] << 32;
}

static inline void
sample_detail_put(uint32_t *words, size_t at, uint64_t value)
{
	words[at] = (uint32_t)value;
	words[at + 1] = (uint32_t)(value >> 32);
}

_Static_assert(SAMPLE_DETAILS_MAX < 32, "a bit for each");

#endif

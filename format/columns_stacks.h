/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * columns_stacks: the distinct stacks of a block, collected, sorted and written.
 *
 * A stack is a head (COLUMNS_HEAD_*), the ip where the callchain does not tell it, and the
 * callchain, which stays where it is in the records until it is written.
 */
#ifndef FORMAT_COLUMNS_STACKS_H
#define FORMAT_COLUMNS_STACKS_H

#include "format/columns_sort.h"
#include "format/columns_tuples.h"

struct columns_stack {
	struct span chain; /* borrowed, until the block is written */
	uint64_t ip;	   /* with COLUMNS_HEAD_IP */
	uint64_t hash;
	uint32_t head;
};

struct columns_stacks {
	struct columns_stack *v;
	size_t n, cap;
	uint32_t *slots;
	size_t nr_slots, cap_slots;
	uint64_t key;

	struct columns_tuples frames;
	struct columns_sort_pair *pairs; /* of frames, then of stacks, twice */
	size_t cap_pairs;
	uint32_t *words; /* of all stacks, as ranks of frames */
	size_t cap_words;
	uint32_t *index; /* start, order, rank of stacks; what followed a frame */
	size_t cap_index;
	struct columns_words gaps, shared, length, first, runs, strays;
};

void columns_stacks_init(struct columns_stacks *t, uint64_t key);
void columns_stacks_done(struct columns_stacks *t);
bool columns_stacks_clear(struct columns_stacks *t);
/* The number of a stack; COLUMNS_TUPLES_NONE: out of memory. s->hash need not be set. */
uint32_t columns_stacks_add(struct columns_stacks *t, struct columns_stack *s);

/*
 * Sorts the stacks; false: out of memory. Then rank tells a stack's place in the order, by its
 * number, and columns_stacks_put() writes the columns that it made.
 */
bool columns_stacks_sort(struct columns_stacks *t, const uint32_t **ret_rank);
void columns_stacks_put(const struct columns_stacks *t, struct columns_out *out);

#endif

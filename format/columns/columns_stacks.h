/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * columns_stacks: the distinct stacks of a block, collected, sorted and written.
 *
 * A stack is a head (COLUMNS_HEAD_*), the ip where the callchain does not tell it, and the
 * callchain, which stays where it is in the records until it is written.
 */
#ifndef FORMAT_COLUMNS_COLUMNS_STACKS_H
#define FORMAT_COLUMNS_COLUMNS_STACKS_H

#include "format/columns/columns_sort.h"
#include "format/columns/columns_tuples.h"

struct columns_stack {
	struct span chain; /* borrowed, until the block is written */
	uint64_t ip;	   /* with COLUMNS_HEAD_IP */
	uint64_t hash;
	uint32_t head;
};

#define COLUMNS_STACKS_KEYS 16 /* for as many words of a callchain; then from the first again */

struct columns_stacks {
	struct columns_stack *v;
	struct columns_path *path; /* of each: where its words are */
	size_t n, cap, cap_path;
	struct columns_slots slots;
	uint64_t key, keys[COLUMNS_STACKS_KEYS];

	uint32_t *words; /* of all stacks: numbers of frames, and their ranks when sorted */
	size_t nr_words, cap_words;
	struct columns_tuples frames, regions;
	struct columns_sort_item *items; /* twice as many as there are stacks, or frames */
	size_t cap_items;
	uint32_t *rank, *frame_rank, *follower; /* of stacks, of frames, of frames */
	size_t cap_rank, cap_frame_rank, cap_follower;
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

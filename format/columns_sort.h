/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * columns_sort: the two orders that tables of columns stand in: numbers ascending, and stacks
 * word by word.
 */
#ifndef FORMAT_COLUMNS_SORT_H
#define FORMAT_COLUMNS_SORT_H

#include <stddef.h>
#include <stdint.h>

#include "format/span.h"

struct columns_sort_item {
	uint64_t key;
	uint32_t number;
};

/* Sorts v by key; scratch has room for n more. Time does not depend on the keys. */
void columns_sort_items(struct columns_sort_item *v, struct columns_sort_item *scratch, size_t n);

/* A head (COLUMNS_HEAD_*), the ip where the callchain does not tell it, the callchain. */
struct columns_stack {
	struct span chain; /* borrowed, until the block is written */
	uint64_t ip;	   /* with COLUMNS_HEAD_IP */
	uint64_t hash;
	uint32_t head;
	uint32_t lead; /* words before the callchain: 1, or 2 with an ip */
};

static inline size_t
columns_stack_words(const struct columns_stack *s)
{
	return s->lead + span_words(s->chain);
}

static inline uint64_t
columns_stack_word(const struct columns_stack *s, size_t i)
{
	if (i >= s->lead)
		return span_word(s->chain, i - s->lead);
	return i == 0 ? s->head : s->ip;
}

/*
 * Sorts items by the stacks whose numbers they have; keys need not be set, scratch has room for
 * n more. No two stacks are equal; one that another begins with is before it.
 */
void columns_sort_stacks(const struct columns_stack *stacks, struct columns_sort_item *items,
			 struct columns_sort_item *scratch, size_t n);

#endif

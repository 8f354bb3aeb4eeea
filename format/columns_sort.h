/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * columns_sort: the two orders that tables of columns stand in: numbers ascending, and
 * sequences of numbers word by word.
 */
#ifndef FORMAT_COLUMNS_SORT_H
#define FORMAT_COLUMNS_SORT_H

#include <stddef.h>
#include <stdint.h>

struct columns_sort_pair {
	uint64_t key;
	uint32_t number;
};

/* Sorts v by key; scratch has room for n more. Time does not depend on the keys. */
void columns_sort_pairs(struct columns_sort_pair *v, struct columns_sort_pair *scratch, size_t n);

/* Sequence i is words[start[i]] up to words[start[i + 1]]. */
struct columns_sequences {
	const uint32_t *words;
	const uint32_t *start;
	uint32_t limit; /* no word is as large */
};

/*
 * Makes order the numbers of n sequences, sorted. A sequence that another one begins with is first.
 * scratch has room for 2 n.
 */
void columns_sort_sequences(const struct columns_sequences *s, struct columns_sort_pair *scratch,
			    uint32_t *order, size_t n);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * columns_sort: the two orders that tables of columns stand in: numbers ascending, and paths
 * word by word.
 */
#ifndef FORMAT_COLUMNS_COLUMNS_SORT_H
#define FORMAT_COLUMNS_COLUMNS_SORT_H

#include <stddef.h>
#include <stdint.h>

struct columns_sort_item {
	uint64_t key;
	uint32_t number;
};

/* Sorts v by key; scratch has room for n more. Time does not depend on the keys' order. */
void columns_sort_items(struct columns_sort_item *v, struct columns_sort_item *scratch, size_t n);

/* Some of an array of words. */
struct columns_path {
	uint32_t start, n;
};

/* Paths, by number; each of their words is less than 1 << bits, with bits at most 31. */
struct columns_paths {
	const uint32_t *words;
	const struct columns_path *v;
	unsigned int bits;
};

/*
 * Sorts items by the paths whose numbers they have; keys need not be set, scratch has room for
 * n more. No two paths are equal; one that another begins with is before it.
 */
void columns_sort_paths(const struct columns_paths *paths, struct columns_sort_item *items,
			struct columns_sort_item *scratch, size_t n);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * columns_tuples: distinct tuples of words, numbered as they come.
 *
 * An open-addressing table, kept from block to block. What is hashed comes from whoever is
 * sampled (a stack without frame pointers is whatever a program left there), so the hash has a
 * key: nobody can make all his words fall on one slot.
 */
#ifndef FORMAT_COLUMNS_COLUMNS_TUPLES_H
#define FORMAT_COLUMNS_COLUMNS_TUPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bytes/product.h"
#include "format/columns/columns_ints.h"
#include "format/columns/columns_slots.h"

#define COLUMNS_TUPLES_NONE UINT32_MAX

struct columns_tuples {
	struct columns_words words; /* n tuples of width words */
	size_t n;
	size_t width;
	uint64_t key;
	struct columns_slots slots;
};

void columns_tuples_init(struct columns_tuples *t, size_t width, uint64_t key);
void columns_tuples_done(struct columns_tuples *t);
/* Forgets all tuples; false: out of memory. */
bool columns_tuples_clear(struct columns_tuples *t);
/* Makes the table larger; false: out of memory. Of columns_tuples_add() only. */
bool columns_tuples_grow(struct columns_tuples *t);

static inline uint64_t
columns_tuples_hash(const struct columns_tuples *t, const uint64_t *tuple)
{
	uint64_t h = t->key;

	for (size_t i = 0; i < t->width; i++)
		h = product_fold(h ^ tuple[i], t->key | 1);
	return h;
}

static inline bool
columns_tuples_same(const uint64_t *a, const uint64_t *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (a[i] != b[i])
			return false;
	}
	return true;
}

static inline bool
columns_tuples_equal(const struct columns_tuples *t, size_t number, const uint64_t *tuple)
{
	return columns_tuples_same(t->words.v + number * t->width, tuple, t->width);
}

/* The number of a tuple, new or not; COLUMNS_TUPLES_NONE: out of memory. */
static inline uint32_t
columns_tuples_add(struct columns_tuples *t, const uint64_t *tuple)
{
	struct columns_slots *s = &t->slots;
	size_t at = columns_slots_first(s, columns_tuples_hash(t, tuple));

	for (; s->v[at]; at = columns_slots_next(s, at)) {
		if (columns_tuples_equal(t, s->v[at] - 1, tuple))
			return s->v[at] - 1;
	}
	for (size_t i = 0; i < t->width; i++) {
		if (!columns_words_add(&t->words, tuple[i]))
			return COLUMNS_TUPLES_NONE;
	}
	s->v[at] = (uint32_t)++t->n;
	if (t->n * COLUMNS_SLOTS_SPARSE > s->nr && !columns_tuples_grow(t))
		return COLUMNS_TUPLES_NONE;
	return (uint32_t)t->n - 1;
}

/* Likewise of one word. Frames are by far the most of what is asked for, and most are known. */
static inline uint32_t
columns_tuples_add_word(struct columns_tuples *t, uint64_t word)
{
	size_t at = columns_slots_first(&t->slots, product_fold(t->key ^ word, t->key | 1));
	uint32_t slot = t->slots.v[at];

	if (slot && t->words.v[slot - 1] == word)
		return slot - 1;
	return columns_tuples_add(t, &word);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/bytes/word_lists.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"

struct word_list_key {
	const uint32_t *words;
	size_t n;
};

void
word_lists_done(struct word_lists *l)
{
	free(l->words);
	free(l->start);
	slots_done(&l->slots);
	*l = (struct word_lists){ 0 };
}

void
word_lists_clear(struct word_lists *l)
{
	l->nr = l->nr_words = 0;
	slots_clear(&l->slots);
}

size_t
word_lists_bytes(const struct word_lists *l)
{
	return l->cap_words * sizeof(*l->words) + l->cap * sizeof(*l->start) +
		(l->slots.v ? (l->slots.mask + 1) * sizeof(*l->slots.v) : 0);
}

static bool
word_list_same(const void *owner, uint32_t number, const void *arg)
{
	const struct word_list_key *key = arg;
	size_t n;
	const uint32_t *words = word_lists_at(owner, number, &n);

	return n == key->n && (n == 0 || memcmp(words, key->words, n * sizeof(*words)) == 0);
}

int
word_lists_number(struct word_lists *l, const uint32_t *words, size_t n, uint32_t *ret)
{
	const struct word_list_key key = { words, n };
	const uint32_t hash = (uint32_t)slots_mix_bytes(0, words, n * sizeof(*words));
	int error;

	*ret = slots_find(&l->slots, hash, word_list_same, l, &key);
	if (*ret != SLOTS_NONE)
		return 0;
	error = array_reserve(l->words, l->nr_words, l->cap_words, n);
	if (!error)
		error = array_reserve(l->start, l->nr, l->cap, 1);
	if (!error)
		error = slots_add(&l->slots, hash, l->nr);
	if (error)
		return error;
	if (n > 0)
		memcpy(l->words + l->nr_words, words, n * sizeof(*words));
	l->start[l->nr] = l->nr_words;
	l->nr_words += n;
	*ret = (uint32_t)l->nr++;
	return 0;
}

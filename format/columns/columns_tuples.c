/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/columns/columns_tuples.h"

void
columns_tuples_init(struct columns_tuples *t, size_t width, uint64_t key)
{
	*t = (struct columns_tuples){ .width = width, .key = key };
}

void
columns_tuples_done(struct columns_tuples *t)
{
	columns_words_done(&t->words);
	columns_slots_done(&t->slots);
	columns_tuples_init(t, t->width, t->key);
}

bool
columns_tuples_clear(struct columns_tuples *t)
{
	size_t had = t->n;

	t->n = 0;
	t->words.n = 0;
	return columns_slots_clear(&t->slots, had);
}

bool
columns_tuples_grow(struct columns_tuples *t)
{
	if (!columns_slots_make(&t->slots, t->slots.nr * 2))
		return false;
	for (size_t i = 0; i < t->n; i++)
		columns_slots_enter(&t->slots, columns_tuples_hash(t, t->words.v + i * t->width),
				    (uint32_t)i);
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/columns_tuples.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_MIN 256

void
columns_tuples_init(struct columns_tuples *t, size_t width, uint64_t key)
{
	*t = (struct columns_tuples){ .width = width, .key = key };
}

void
columns_tuples_done(struct columns_tuples *t)
{
	columns_words_done(&t->words);
	free(t->slots);
	columns_tuples_init(t, t->width, t->key);
}

/* Makes nr slots, all free. */
static bool
make_slots(struct columns_tuples *t, size_t nr)
{
	if (nr > t->cap_slots) {
		uint32_t *slots = calloc(nr, sizeof(*slots));

		if (!slots)
			return false;
		free(t->slots);
		t->slots = slots;
		t->cap_slots = nr;
	} else {
		memset(t->slots, 0, nr * sizeof(*t->slots));
	}
	t->nr_slots = nr;
	return true;
}

bool
columns_tuples_clear(struct columns_tuples *t)
{
	size_t nr = t->nr_slots > SLOTS_MIN ? t->nr_slots : SLOTS_MIN;

	/* The next block is like the last, more or less: growing costs more than a few free slots. */
	while (nr > SLOTS_MIN && nr > t->n * COLUMNS_TUPLES_SPARSE * COLUMNS_TUPLES_KEEP)
		nr /= 2;
	t->n = 0;
	t->words.n = 0;
	return make_slots(t, nr);
}

bool
columns_tuples_grow(struct columns_tuples *t)
{
	size_t at;

	if (!make_slots(t, t->nr_slots * 2))
		return false;
	for (size_t i = 0; i < t->n; i++) {
		at = columns_tuples_hash(t, t->words.v + i * t->width) & (t->nr_slots - 1);
		while (t->slots[at])
			at = (at + 1) & (t->nr_slots - 1);
		t->slots[at] = (uint32_t)i + 1;
	}
	return true;
}

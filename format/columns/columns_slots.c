/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/columns/columns_slots.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_MIN 256
#define KEEP 4 /* times as many as are needed are kept for the next block */

bool
columns_slots_make(struct columns_slots *s, size_t nr)
{
	if (nr > s->cap) {
		uint32_t *v = calloc(nr, sizeof(*v));

		if (!v)
			return false;
		free(s->v);
		s->v = v;
		s->cap = nr;
	} else {
		memset(s->v, 0, nr * sizeof(*s->v));
	}
	s->nr = nr;
	return true;
}

bool
columns_slots_clear(struct columns_slots *s, size_t n)
{
	size_t nr = s->nr > SLOTS_MIN ? s->nr : SLOTS_MIN;

	/* The next block is like the last, more or less: growing costs more than a few free slots. */
	while (nr > SLOTS_MIN && nr > n * COLUMNS_SLOTS_SPARSE * KEEP)
		nr /= 2;
	return columns_slots_make(s, nr);
}

void
columns_slots_done(struct columns_slots *s)
{
	free(s->v);
	*s = (struct columns_slots){ 0 };
}

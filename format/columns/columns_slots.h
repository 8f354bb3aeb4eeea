/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * columns_slots: what finds a number by a hash: the slots of an open-addressing table, kept from
 * block to block. What is numbered, and whether it is the same, the table knows that has them.
 */
#ifndef FORMAT_COLUMNS_COLUMNS_SLOTS_H
#define FORMAT_COLUMNS_COLUMNS_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COLUMNS_SLOTS_SPARSE 4 /* slots for each number, at least: others are hardly in the way */

struct columns_slots {
	uint32_t *v; /* 1 + a number; 0: free */
	size_t nr;   /* in use: a power of two */
	size_t cap;
};

/* nr slots, all free; nr is a power of two. False: out of memory, and all is as it was. */
bool columns_slots_make(struct columns_slots *s, size_t nr);
/* For the next block, after one that had n numbers. Likewise. */
bool columns_slots_clear(struct columns_slots *s, size_t n);
void columns_slots_done(struct columns_slots *s);

static inline size_t
columns_slots_first(const struct columns_slots *s, uint64_t hash)
{
	return hash & (s->nr - 1);
}

static inline size_t
columns_slots_next(const struct columns_slots *s, size_t at)
{
	return (at + 1) & (s->nr - 1);
}

/* Enters a number that is not there, in slots that have one free. */
static inline void
columns_slots_enter(struct columns_slots *s, uint64_t hash, uint32_t number)
{
	size_t at = columns_slots_first(s, hash);

	while (s->v[at])
		at = columns_slots_next(s, at);
	s->v[at] = number + 1;
}

#endif

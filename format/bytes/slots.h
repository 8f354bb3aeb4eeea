/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots: a hash of the indexes of an array whose elements its owner keeps; the way from a
 * key to "which one of mine". Open addressing, at most half full, indexes in order of
 * arrival.
 */
#ifndef FORMAT_BYTES_SLOTS_H
#define FORMAT_BYTES_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bytes/product.h"

struct slots {
	struct slot {
		uint32_t hash;
		uint32_t index; /* + 1; 0: free */
	} * v;
	size_t mask; /* number of slots - 1 */
	size_t used;
};

#define SLOTS_NONE UINT32_MAX

void slots_done(struct slots *s); /* all zero is an empty one */
/* All are free again; the memory stays. */
void slots_clear(struct slots *s);

/* The index whose element is the same as key in owner's eyes; SLOTS_NONE. */
uint32_t slots_find(const struct slots *s, uint32_t hash,
		    bool (*same)(const void *owner, uint32_t index, const void *key),
		    const void *owner, const void *key);
/* Enters index; 0, -FMT_E_NOMEM. */
int slots_add(struct slots *s, uint32_t hash, size_t index);

/* Others in each process: no file can be made whose keys all have one slot. Both are odd. */
extern uint64_t slots_key[2];

/*
 * Stirs v into a hash; take the low 32 bits in the end. Turned first, because h and v may be
 * the same string: that of a BPF program is its object too.
 */
static inline uint64_t
slots_mix(uint64_t h, uint64_t v)
{
	/* One product spreads numbers that differ in a few neighbouring bits unevenly. */
	h = product_fold((h << 23 | h >> 41) ^ v ^ slots_key[0], slots_key[1]);
	return product_fold(h ^ slots_key[1], slots_key[0]);
}

#endif

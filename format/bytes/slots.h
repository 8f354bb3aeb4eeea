/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots: a hash of the indexes of an array whose elements its owner keeps; the way from a
 * key to "which one of mine". Open addressing, at most half full, or three quarters where that
 * saves megabytes; indexes in order of arrival.
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

/*
 * The index whose element is the same as key in owner's eyes; SLOTS_NONE. Inline, so that same is, where
 * the compiler sees it.
 */
static inline uint32_t
slots_find(const struct slots *s, uint32_t hash,
	   bool (*same)(const void *owner, uint32_t index, const void *key), const void *owner,
	   const void *key)
{
	if (!s->v)
		return SLOTS_NONE;
	for (size_t i = hash & s->mask; s->v[i].index; i = (i + 1) & s->mask)
		if (s->v[i].hash == hash && same(owner, s->v[i].index - 1, key))
			return s->v[i].index - 1;
	return SLOTS_NONE;
}
/* Enters index; 0, -FMT_E_NOMEM. */
int slots_add(struct slots *s, uint32_t hash, size_t index);

/*
 * The index of the element of the array v (with n and cap, see array.h) that is the same as *key, or
 * else of a copy of *key behind the last one: then it is the n of before. 0, -FMT_E_NOMEM. A
 * compiler warns of a key of another type.
 */
#define slots_keep(s, hash, same, owner, key, v, n, cap, ret)                                      \
	slots_keep_bytes(s, hash, same, owner, key, sizeof(*(v)) + 0 * sizeof((v) == (key)), &(v), \
			 &(n), &(cap), ret)

int slots_keep_bytes(struct slots *s, uint32_t hash,
		     bool (*same)(const void *owner, uint32_t index, const void *key),
		     const void *owner, const void *key, size_t size, void *v, size_t *n,
		     size_t *cap, uint32_t *ret);

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

/* Stirs bytes into a hash. */
uint64_t slots_mix_bytes(uint64_t h, const void *p, size_t n);

#endif

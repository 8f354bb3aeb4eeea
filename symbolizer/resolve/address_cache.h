/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * address_cache: what an address of an object was resolved to.
 *
 * Open addressing with linear probing over one flat array: a hit costs one hash and, nearly
 * always, one cache line. Addresses repeat: a million samples have some ten thousand.
 */
#ifndef SYMBOLIZER_RESOLVE_ADDRESS_CACHE_H
#define SYMBOLIZER_RESOLVE_ADDRESS_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct resolved {
	const char *symbol; /* NULL: none */
	const char *dso;    /* NULL: the object's */
	uint64_t vaddr;
	uint64_t symbol_offset;
	uint8_t miss;  /* enum resolve_miss */
	uint8_t doubt; /* enum resolve_doubt */
};

struct address_cache_entry {
	uint64_t address;
	uint64_t key;	/* object << 1 | is_return */
	uint64_t epoch; /* free unless it is the cache's */
	struct resolved value;
};

struct address_cache {
	struct address_cache_entry *entries; /* all zero is an empty cache */
	size_t mask;			     /* number of entries - 1 */
	size_t used;
	uint64_t seed, epoch;
};

void address_cache_done(struct address_cache *c);
/* Forgets everything; costs nothing, as often as kernel symbols come and go. */
void address_cache_clear(struct address_cache *c);
/* NULL: not known. Good until the next call that is not a find. */
const struct resolved *address_cache_find(const struct address_cache *c, uint32_t object,
					  uint64_t address, bool is_return);
/* Adds what is not there yet. 0, -FMT_E_NOMEM. */
int address_cache_add(struct address_cache *c, uint32_t object, uint64_t address, bool is_return,
		      const struct resolved *value);

#endif

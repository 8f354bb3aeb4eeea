/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/resolve/address_cache.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/stdlib.h>

#include "format/bytes/fmt_error.h"

#define ENTRIES_FIRST 4096

void
address_cache_done(struct address_cache *c)
{
	free(c->entries);
	*c = (struct address_cache){ 0 };
}

void
address_cache_clear(struct address_cache *c)
{
	c->epoch++;
	c->used = 0;
}

static inline uint64_t
key_of(uint32_t object, bool is_return)
{
	return (uint64_t)object << 1 | is_return;
}

/* The seed, so that no file can be made whose addresses all have one home. */
static inline size_t
home(const struct address_cache *c, uint64_t address, uint64_t key)
{
	uint64_t h = address ^ c->seed;

	h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
	h = (h ^ h >> 33) + key * UINT64_C(0x9e3779b97f4a7c15);
	h *= UINT64_C(0xc4ceb9fe1a85ec53);
	return (size_t)(h ^ h >> 33);
}

const struct resolved *
address_cache_find(const struct address_cache *c, uint32_t object, uint64_t address, bool is_return)
{
	uint64_t key = key_of(object, is_return);

	if (c->entries == NULL)
		return NULL;
	for (size_t at = home(c, address, key) & c->mask; c->entries[at].epoch == c->epoch;
	     at = (at + 1) & c->mask)
		if (c->entries[at].address == address && c->entries[at].key == key)
			return &c->entries[at].value;
	return NULL;
}

static void
address_cache_put(struct address_cache *c, const struct address_cache_entry *e)
{
	size_t at = home(c, e->address, e->key) & c->mask;

	while (c->entries[at].epoch == c->epoch)
		at = (at + 1) & c->mask;
	c->entries[at] = *e;
}

static int
address_cache_grow(struct address_cache *c)
{
	struct address_cache grown = *c;
	size_t n = c->entries ? (c->mask + 1) * 2 : ENTRIES_FIRST;

	grown.entries = calloc(n, sizeof(*grown.entries));
	if (grown.entries == NULL)
		return -FMT_E_NOMEM;
	grown.mask = n - 1;
	if (c->entries == NULL) {
		arc4random_buf(&grown.seed, sizeof(grown.seed));
		grown.epoch = 1;
	}
	for (size_t i = 0; c->entries != NULL && i <= c->mask; i++)
		if (c->entries[i].epoch == c->epoch)
			address_cache_put(&grown, &c->entries[i]);
	free(c->entries);
	*c = grown;
	return 0;
}

int
address_cache_add(struct address_cache *c, uint32_t object, uint64_t address, bool is_return,
		  const struct resolved *value)
{
	struct address_cache_entry e = {
		.address = address,
		.key = key_of(object, is_return),
		.value = *value,
	};

	if (c->entries == NULL || c->used * 2 > c->mask) {
		int error = address_cache_grow(c);

		if (error)
			return error;
	}
	e.epoch = c->epoch;
	address_cache_put(c, &e);
	c->used++;
	return 0;
}

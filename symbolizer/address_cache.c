/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/address_cache.h"

#include <stdlib.h>
#include <string.h>

#include "format/fmt_error.h"

#define ENTRIES_FIRST 4096

void
address_cache_done(struct address_cache *c)
{
	free(c->entries);
	*c = (struct address_cache){ NULL, 0, 0 };
}

void
address_cache_clear(struct address_cache *c)
{
	if (c->used != 0)
		memset(c->entries, 0, (c->mask + 1) * sizeof(*c->entries));
	c->used = 0;
}

static inline uint64_t
key_of(uint32_t object, bool is_return)
{
	return ((uint64_t)object << 1 | is_return) + 1;
}

static inline size_t
home(uint64_t address, uint64_t key)
{
	uint64_t h = (address ^ key << 40) * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)((h ^ key) * UINT64_C(0xff51afd7ed558ccd) >> 20);
}

const struct resolved *
address_cache_find(const struct address_cache *c, uint32_t object, uint64_t address, bool is_return)
{
	uint64_t key = key_of(object, is_return);

	if (c->entries == NULL)
		return NULL;
	for (size_t at = home(address, key) & c->mask; c->entries[at].key != 0;
	     at = (at + 1) & c->mask)
		if (c->entries[at].address == address && c->entries[at].key == key)
			return &c->entries[at].value;
	return NULL;
}

static void
put(struct address_cache_entry *entries, size_t mask, const struct address_cache_entry *e)
{
	size_t at = home(e->address, e->key) & mask;

	while (entries[at].key != 0)
		at = (at + 1) & mask;
	entries[at] = *e;
}

static int
grow(struct address_cache *c)
{
	size_t n = c->entries ? (c->mask + 1) * 2 : ENTRIES_FIRST;
	struct address_cache_entry *entries = calloc(n, sizeof(*entries));

	if (entries == NULL)
		return -FMT_E_NOMEM;
	for (size_t i = 0; c->entries != NULL && i <= c->mask; i++)
		if (c->entries[i].key != 0)
			put(entries, n - 1, &c->entries[i]);
	free(c->entries);
	c->entries = entries;
	c->mask = n - 1;
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
		int error = grow(c);

		if (error)
			return error;
	}
	put(c->entries, c->mask, &e);
	c->used++;
	return 0;
}

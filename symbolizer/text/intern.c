/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/text/intern.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/fair_part.h"
#include "format/bytes/slots.h"

#define ARENA_BYTES (64u << 10)
#define SLOTS_FIRST 1024

static const char left_out[] = INTERN_LEFT_OUT;

struct entry {
	const char *note;
	uint32_t hash;
	uint32_t len;
	char s[];
};

struct arena {
	struct arena *next;
	size_t used, size;
	_Alignas(struct entry) char bytes[];
};

struct intern {
	struct entry **slots; /* open addressing, linear probing; NULL: free */
	size_t nr_slots;      /* a power of two */
	size_t used;
	struct arena *arena; /* newest first */
	size_t bytes;	     /* of the strings, with what is kept of each */
	size_t bytes_max;
	size_t long_bytes; /* of those that are longer than INTERN_SHORT_MAX, */
	size_t long_max;   /* and may be */
	uint64_t left_out;
};

struct intern *
intern_new(size_t bytes_max)
{
	struct intern *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->slots = calloc(SLOTS_FIRST, sizeof(*t->slots));
	if (t->slots == NULL) {
		free(t);
		return NULL;
	}
	t->nr_slots = SLOTS_FIRST;
	t->bytes_max = t->long_max = bytes_max;
	return t;
}

void
intern_keep_short(struct intern *t)
{
	t->long_max = t->bytes_max / 2;
}

void
intern_free(struct intern *t)
{
	if (t == NULL)
		return;
	while (t->arena != NULL) {
		struct arena *next = t->arena->next;

		free(t->arena);
		t->arena = next;
	}
	free(t->slots);
	free(t);
}

static uint32_t
hash_of(const char *s, size_t len)
{
	return (uint32_t)slots_mix_bytes(0, s, len);
}

static size_t
entry_bytes(size_t len)
{
	return (sizeof(struct entry) + len + 1 + _Alignof(struct entry) - 1) &
		~(_Alignof(struct entry) - 1);
}

static struct entry *
entry_new(struct intern *t, size_t len)
{
	const size_t need = entry_bytes(len);
	struct arena *a = t->arena;
	struct entry *e;

	if (a == NULL || a->size - a->used < need) {
		size_t size = need > ARENA_BYTES ? need : ARENA_BYTES;

		a = malloc(sizeof(*a) + size);
		if (a == NULL)
			return NULL;
		a->used = 0;
		a->size = size;
		a->next = t->arena;
		t->arena = a;
	}
	e = (struct entry *)(void *)(a->bytes + a->used);
	a->used += need;
	t->bytes += need;
	return e;
}

static bool
intern_grow(struct intern *t)
{
	size_t n = t->nr_slots * 2;
	struct entry **slots = calloc(n, sizeof(struct entry *));

	if (slots == NULL)
		return false;
	for (size_t i = 0; i < t->nr_slots; i++) {
		struct entry *e = t->slots[i];
		size_t at;

		if (e == NULL)
			continue;
		for (at = e->hash & (n - 1); slots[at] != NULL; at = (at + 1) & (n - 1))
			;
		slots[at] = e;
	}
	free(t->slots);
	t->slots = slots;
	t->nr_slots = n;
	return true;
}

/* Is there room for a string of len bytes more, of an owner and a group that took what they have? */
static bool
intern_has_room(const struct intern *t, size_t len, const size_t *owner, const size_t *group)
{
	const bool is_long = len > INTERN_SHORT_MAX;
	const size_t need = entry_bytes(len);
	/* What stands for those left out may have come on top. */
	const size_t left = t->bytes < t->bytes_max ? t->bytes_max - t->bytes : 0;

	if (need > left || (is_long && t->long_bytes + need > t->long_max))
		return false;
	if (owner && !fair_part_has(left, *owner, need))
		return false;
	return !group || *group + need <= (left + *group) / INTERN_GROUP_PART;
}

/* The one copy of a string, or of what stands for those that there is no room for. */
static const char *
intern_insert(struct intern *t, const char *s, size_t len, size_t *owner, size_t *group)
{
	const size_t before = t->bytes;
	uint32_t hash;
	size_t at;
	struct entry *e;

	hash = hash_of(s, len);
	if (t->used * 4 >= t->nr_slots * 3 && !intern_grow(t))
		return NULL;
	for (at = hash & (t->nr_slots - 1); t->slots[at] != NULL;
	     at = (at + 1) & (t->nr_slots - 1)) {
		e = t->slots[at];
		if (e->hash == hash && e->len == len && memcmp(e->s, s, len) == 0)
			return e->s;
	}
	if (s != left_out && !intern_has_room(t, len, owner, group)) {
		t->left_out++;
		return intern_insert(t, left_out, sizeof(left_out) - 1, NULL, NULL);
	}
	e = entry_new(t, len);
	if (e == NULL)
		return NULL;
	e->note = NULL;
	e->hash = hash;
	e->len = (uint32_t)len;
	memcpy(e->s, s, len);
	e->s[len] = '\0';
	t->slots[at] = e;
	t->used++;
	if (len > INTERN_SHORT_MAX)
		t->long_bytes += t->bytes - before;
	if (owner)
		*owner += t->bytes - before;
	if (group)
		*group += t->bytes - before;
	return e->s;
}

const char *
intern_add_for(struct intern *t, const char *s, size_t len, size_t *owner, size_t *group)
{
	/* The address of an empty buffer may be NULL. memcmp() and memcpy() take no NULL, even for 0 bytes. */
	if (len == 0)
		s = "";
	len = strnlen(s, len < INTERN_LENGTH_MAX ? len : INTERN_LENGTH_MAX);
	return intern_insert(t, s, len, owner, group);
}

const char *
intern_add(struct intern *t, const char *s, size_t len)
{
	return intern_add_for(t, s, len, NULL, NULL);
}

const char *
intern_string(struct intern *t, const char *s)
{
	return intern_add(t, s, INTERN_LENGTH_MAX);
}

const char **
intern_note(struct intern *t, const char *interned)
{
	size_t mask = t->nr_slots - 1;

	/* Found again through the table rather than by casting const away from its string. */
	for (size_t at = hash_of(interned, strlen(interned)) & mask; t->slots[at] != NULL;
	     at = (at + 1) & mask)
		if (t->slots[at]->s == interned)
			return &t->slots[at]->note;
	assert(!"not a string of this table");
	return NULL;
}

size_t
intern_bytes(const struct intern *t)
{
	return t->bytes;
}

uint64_t
intern_left_out(const struct intern *t)
{
	return t->left_out;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/bytes/slots.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/stdlib.h>
#include <bsd/sys/endian.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"

#define SLOTS_MIN 256
#define SLOTS_MANY (1u << 20)

uint64_t slots_key[2];

__attribute__((constructor)) static void
make_key(void)
{
	arc4random_buf(slots_key, sizeof(slots_key));
	slots_key[0] |= 1;
	slots_key[1] |= 1;
}

uint64_t
slots_mix_bytes(uint64_t h, const void *p, size_t n)
{
	const uint8_t *bytes = p;
	uint64_t last = (uint64_t)n << 56;

	for (; n >= 8; bytes += 8, n -= 8)
		h = slots_mix(h, le64dec(bytes));
	for (size_t i = 0; i < n; i++)
		last |= (uint64_t)bytes[i] << 8 * i;
	return slots_mix(h, last);
}

void
slots_done(struct slots *s)
{
	free(s->v);
	*s = (struct slots){ NULL, 0, 0 };
}

void
slots_clear(struct slots *s)
{
	if (s->v)
		memset(s->v, 0, (s->mask + 1) * sizeof(*s->v));
	s->used = 0;
}

static void
slots_put(struct slot *v, size_t mask, struct slot slot)
{
	size_t i = slot.hash & mask;

	while (v[i].index)
		i = (i + 1) & mask;
	v[i] = slot;
}

/* How many of so many slots are in use at most. */
static size_t
most_used(size_t n)
{
	return n < SLOTS_MANY ? n / 2 : n / 4 * 3;
}

int
slots_add(struct slots *s, uint32_t hash, size_t index)
{
	size_t n = s->v ? s->mask + 1 : 0;

	if (index >= SLOTS_NONE - 1)
		return -FMT_E_NOMEM;
	if (s->used >= most_used(n)) {
		size_t grown = n ? n * 2 : SLOTS_MIN;
		struct slot *v = calloc(grown, sizeof(*v));

		if (!v)
			return -FMT_E_NOMEM;
		for (size_t i = 0; i < n; i++)
			if (s->v[i].index)
				slots_put(v, grown - 1, s->v[i]);
		free(s->v);
		s->v = v;
		s->mask = grown - 1;
	}
	slots_put(s->v, s->mask, (struct slot){ hash, (uint32_t)index + 1 });
	s->used++;
	return 0;
}

int
slots_keep_bytes(struct slots *s, uint32_t hash,
		 bool (*same)(const void *owner, uint32_t index, const void *key),
		 const void *owner, const void *key, size_t size, void *v, size_t *n, size_t *cap,
		 uint32_t *ret)
{
	uint32_t known = slots_find(s, hash, same, owner, key);
	uint8_t *elements;
	int error;

	if (known != SLOTS_NONE) {
		*ret = known;
		return 0;
	}
	error = array_reserve_bytes(v, *n, cap, 1, size);
	if (!error)
		error = slots_add(s, hash, *n);
	if (error)
		return error;
	memcpy(&elements, v, sizeof(elements));
	memcpy(elements + *n * size, key, size);
	*ret = (uint32_t)(*n)++;
	return 0;
}

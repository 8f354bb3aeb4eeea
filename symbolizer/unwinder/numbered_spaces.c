/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/unwinder/numbered_spaces.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"

struct space {
	struct unwind_map *maps; /* NULL: it is not known */
	size_t nr;
	uint32_t uid;
	uint64_t used;
};

struct numbered_spaces {
	struct space v[UNWIND_SPACES_MAX];
	uint64_t uses; /* so far */
	size_t bytes;
};

struct numbered_spaces *
numbered_spaces_new(void)
{
	return calloc(1, sizeof(struct numbered_spaces));
}

static void
forget(struct numbered_spaces *s, struct space *space)
{
	free(space->maps);
	s->bytes -= space->nr * sizeof(*space->maps);
	*space = (struct space){ .maps = NULL };
}

void
numbered_spaces_free(struct numbered_spaces *s)
{
	for (size_t i = 0; s && i < UNWIND_SPACES_MAX; i++)
		forget(s, &s->v[i]);
	free(s);
}

static struct space *
least_used(struct numbered_spaces *s)
{
	struct space *least = NULL;

	for (size_t i = 0; i < UNWIND_SPACES_MAX; i++)
		if (s->v[i].maps && (!least || s->v[i].used < least->used))
			least = &s->v[i];
	return least;
}

int
numbered_spaces_set(struct numbered_spaces *s, const struct unwind_space *space)
{
	const size_t nr = space->nr, bytes = nr * sizeof(struct unwind_map);
	struct space *at;

	if (space->number >= UNWIND_SPACES_MAX)
		return 0;
	at = &s->v[space->number];
	forget(s, at);
	if (bytes > NUMBERED_SPACES_BYTES_MAX)
		return -FMT_E_NOMEM;
	while (bytes > NUMBERED_SPACES_BYTES_MAX - s->bytes)
		forget(s, least_used(s));
	at->maps = malloc(bytes + 1);
	if (!at->maps)
		return -FMT_E_NOMEM;
	memcpy(at->maps, space + 1, bytes);
	at->nr = nr;
	at->uid = space->uid;
	at->used = ++s->uses;
	s->bytes += bytes;
	return 0;
}

bool
numbered_spaces_known(const struct numbered_spaces *s, uint32_t number)
{
	return number < UNWIND_SPACES_MAX && s->v[number].maps;
}

bool
numbered_spaces_use(struct numbered_spaces *s, uint32_t number)
{
	if (!numbered_spaces_known(s, number))
		return false;
	s->v[number].used = ++s->uses;
	return true;
}

uint32_t
numbered_spaces_user(const struct numbered_spaces *s, uint32_t number)
{
	return s->v[number].uid;
}

const struct unwind_map *
numbered_spaces_map(const struct numbered_spaces *s, uint32_t number, uint64_t address)
{
	const struct unwind_map *maps = s->v[number].maps;
	size_t low = 0, n = s->v[number].nr;

	while (n > 1) {
		const size_t half = n / 2;

		if (maps[low + half].start <= address)
			low += half;
		n -= half;
	}
	return n > 0 && address >= maps[low].start && address < maps[low].end ? &maps[low] : NULL;
}

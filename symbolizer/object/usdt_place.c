/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/usdt_place.h"

#include <stdlib.h>
#include <string.h>

#include "symbolizer/object/elf_object.h"
#include "symbolizer/object/elf_usdt.h"
#include "symbolizer/object/object_places.h"

struct search {
	const struct elf_object *object;
	const char *provider, *name;
	struct usdt_places found;
	enum usdt_place_result result;
};

static bool
offset_of(const struct elf_object *o, uint64_t vaddr, bool code, uint64_t *ret)
{
	const struct elf_segment *s;
	size_t nr = elf_object_segments(o, &s);

	return elf_segments_offset(s, nr, vaddr, code, ret);
}

/* A compiler may have noted the same instruction twice, which is hit once. */
static bool
is_known(const struct usdt_places *places, uint64_t offset)
{
	for (size_t i = 0; i < places->nr; i++)
		if (places->p[i].offset == offset)
			return true;
	return false;
}

static enum usdt_place_result
add_place(struct usdt_places *places, struct usdt_place place)
{
	struct usdt_place *p;

	if (is_known(places, place.offset))
		return USDT_PLACE_FOUND;
	if (places->nr == USDT_PLACES_MAX)
		return USDT_PLACE_TOO_MANY;
	p = reallocarray(places->p, places->nr + 1, sizeof(*p));
	if (!p)
		return USDT_PLACE_NO_MEMORY;
	places->p = p;
	p[places->nr++] = place;
	return USDT_PLACE_FOUND;
}

static bool
see_probe(void *arg, const struct elf_usdt *probe)
{
	struct search *s = arg;
	struct usdt_place place = { 0 };

	if (s->result == USDT_PLACE_NONE)
		s->result = USDT_PLACE_UNKNOWN;
	if (strcmp(probe->provider, s->provider) != 0 || strcmp(probe->name, s->name) != 0)
		return true;
	if (!offset_of(s->object, probe->vaddr, true, &place.offset))
		s->result = USDT_PLACE_NO_CODE;
	else if (probe->semaphore_vaddr &&
		 !offset_of(s->object, probe->semaphore_vaddr, false, &place.semaphore))
		s->result = USDT_PLACE_NO_SEMAPHORE;
	else
		s->result = add_place(&s->found, place);
	return s->result == USDT_PLACE_FOUND;
}

enum usdt_place_result
usdt_place_find(const char *path, const char *provider, const char *name, struct usdt_places *ret)
{
	struct search s = { .provider = provider, .name = name, .result = USDT_PLACE_NONE };
	struct elf_object *o;
	struct stat st;
	int fd = object_places_open(path, &st);

	if (fd < 0)
		return USDT_PLACE_NO_FILE;
	if (elf_object_open(fd, &o) < 0)
		return USDT_PLACE_NO_ELF;
	s.object = o;
	elf_usdt_each(o, see_probe, &s);
	elf_object_close(o);
	if (s.result == USDT_PLACE_FOUND)
		*ret = s.found;
	else
		usdt_places_done(&s.found);
	return s.result;
}

void
usdt_places_done(struct usdt_places *places)
{
	free(places->p);
	*places = (struct usdt_places){ 0 };
}

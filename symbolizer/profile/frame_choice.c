/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/frame_choice.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/slots.h"
#include "symbolizer/profile/value_list.h"

#define BIT(kind) (1u << (kind))

/* A name, and by kind whether it was found in it. */
struct known_name {
	const char *name; /* interned: equal ones are one pointer */
	unsigned found;
};

struct chosen_place {
	unsigned found; /* BIT(FRAME_FOCUS), FRAME_IGNORE, FRAME_SHOW_FROM */
	uint32_t nr;	/* that are shown */
	size_t first;	/* of them, in shown */
};

struct frame_choice {
	const struct frame_filter *filter;
	struct known_name *names;
	size_t nr_names, cap_names;
	struct slots name_slots;
	struct chosen_place *places;
	size_t cap_places;
	uint32_t *shown;
	size_t nr_shown, cap_shown;
};

struct frame_choice *
frame_choice_new(const struct frame_filter *filter)
{
	struct frame_choice *c = calloc(1, sizeof(*c));

	if (c)
		c->filter = filter;
	return c;
}

void
frame_choice_free(struct frame_choice *c)
{
	if (!c)
		return;
	free(c->names);
	slots_done(&c->name_slots);
	free(c->places);
	free(c->shown);
	free(c);
}

int
frame_choice_begin(struct frame_choice *c, size_t nr_places)
{
	c->nr_shown = 0;
	if (array_reserve(c->places, 0, c->cap_places, nr_places + 1) != 0)
		return -FMT_E_NOMEM;
	memset(c->places, 0, nr_places * sizeof(*c->places));
	return 0;
}

/* --- names ------------------------------------------------------------------------------- */

static bool
name_same(const void *owner, uint32_t index, const void *key)
{
	return ((const struct frame_choice *)owner)->names[index].name ==
		((const struct known_name *)key)->name;
}

static unsigned
search(const struct frame_filter *f, const char *name)
{
	unsigned found = 0;

	for (size_t i = 0; i < f->n; i++) {
		struct frame_pattern *p = &f->v[i];

		if (((found & BIT(p->kind)) && p->met) ||
		    regexec(&p->compiled, name, 0, NULL, 0) != 0)
			continue;
		found |= BIT(p->kind);
		value_meet(&p->met);
	}
	return found;
}

/* Adds what was found in a name (NULL: nothing) to *found. 0, -FMT_E_NOMEM. */
static int
find_in(struct frame_choice *c, const char *name, unsigned *found)
{
	const size_t known = c->nr_names;
	const struct known_name key = { .name = name };
	uint32_t i;
	int err;

	if (!name)
		return 0;
	err = slots_keep(&c->name_slots, (uint32_t)slots_mix((uintptr_t)name, 0), name_same, c,
			 &key, c->names, c->nr_names, c->cap_names, &i);
	if (err)
		return err;
	if (i == known)
		c->names[i].found = search(c->filter, name);
	*found |= c->names[i].found;
	return 0;
}

/* --- places ------------------------------------------------------------------------------ */

static bool
is_shown(const struct frame_choice *c, unsigned object, unsigned frame)
{
	const unsigned given = c->filter->given;

	if ((object | frame) & BIT(FRAME_HIDE))
		return false;
	return !(given & BIT(FRAME_SHOW)) || ((object | frame) & BIT(FRAME_SHOW));
}

/* As in pprof, what is outside of the last match at an address goes in every stack. */
int
frame_choice_place(struct frame_choice *c, uint32_t place, const struct frame *frames, size_t nr)
{
	struct chosen_place p = { .first = c->nr_shown };
	unsigned object = 0, found;
	uint32_t from = 0;
	int err = find_in(c, frames[nr - 1].dso_path, &object);

	if (err == 0)
		err = array_reserve(c->shown, c->nr_shown, c->cap_shown, nr);
	for (uint32_t i = 0; err == 0 && i < nr; i++) {
		found = 0;
		err = find_in(c, frame_label(&frames[i]), &found);
		if (err == 0)
			err = find_in(c, frames[i].file, &found);
		p.found |= found & ~BIT(FRAME_SHOW_FROM);
		if (err || !is_shown(c, object, found))
			continue;
		c->shown[p.first + p.nr++] = i;
		if (found & BIT(FRAME_SHOW_FROM))
			from = p.nr;
	}
	if (err)
		return err;
	p.found |= object;
	if (from > 0) {
		p.found |= BIT(FRAME_SHOW_FROM);
		if (!(object & BIT(FRAME_SHOW_FROM)))
			p.nr = from;
	}
	c->nr_shown += p.nr;
	c->places[place] = p;
	return 0;
}

/* --- stacks ------------------------------------------------------------------------------ */

size_t
frame_choice_stack(const struct frame_choice *c, const uint32_t *places, size_t nr)
{
	const unsigned given = c->filter->given;
	bool focus = !(given & BIT(FRAME_FOCUS)), any = false;
	size_t left = given & BIT(FRAME_SHOW_FROM) ? 0 : nr;

	for (size_t i = 0; i < nr; i++) {
		const struct chosen_place *p = &c->places[places[i]];

		/* At one address pprof asks about --ignore first. */
		if (p->found & BIT(FRAME_IGNORE))
			return 0;
		focus |= (p->found & BIT(FRAME_FOCUS)) != 0;
		any |= p->nr > 0;
		if (p->nr > 0 && (p->found & BIT(FRAME_SHOW_FROM)))
			left = i + 1;
	}
	return focus && any ? left : 0;
}

const uint32_t *
frame_choice_shown(const struct frame_choice *c, uint32_t place, size_t *ret_nr)
{
	*ret_nr = c->places[place].nr;
	return &c->shown[c->places[place].first];
}

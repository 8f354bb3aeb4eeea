/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/counts/count_totals.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"

/* A name that events of the recording have. */
struct totals_name {
	const char *name; /* the set's */
	size_t nr;	  /* of those that count alone, so far */
};

/* Of an event in all recordings. */
struct totals_event {
	char *name;
	size_t nth; /* of those of one recording with that name, from 0 */
	struct event_attr attr;
	struct count_unit unit;
	struct read_total sum;
};

struct count_totals {
	struct totals_event *events;
	size_t nr, cap;
	struct slots slots;
	/* Of the recording: its names; and of each of its events, which one of its name it is. */
	struct totals_name *names;
	size_t nr_names, cap_names;
	struct slots name_slots;
	size_t *nths;
	size_t nr_nths, cap_nths;
	struct counted_list all; /* for who asks */
	bool left_out;
};

struct count_totals *
count_totals_new(void)
{
	return calloc(1, sizeof(struct count_totals));
}

void
count_totals_free(struct count_totals *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nr; i++)
		free(t->events[i].name);
	free(t->events);
	slots_done(&t->slots);
	free(t->names);
	slots_done(&t->name_slots);
	free(t->nths);
	counted_list_done(&t->all);
	free(t);
}

void
count_totals_begin(struct count_totals *t)
{
	t->nr_names = t->nr_nths = 0;
	slots_clear(&t->name_slots);
}

static uint32_t
hash_of(const char *name, size_t nth)
{
	return (uint32_t)slots_mix_bytes(nth, name, strlen(name));
}

static bool
same_name(const void *owner, uint32_t index, const void *key)
{
	return strcmp(((const struct count_totals *)owner)->names[index].name,
		      ((const struct totals_name *)key)->name) == 0;
}

/* Which ones of their names events are, up to this one. */
static int
count_names(struct count_totals *t, const struct event_set *events, size_t event)
{
	while (t->nr_nths <= event) {
		const struct event *e = event_set_at(events, t->nr_nths);
		const struct totals_name name = { .name = e->name };
		uint32_t at;

		if (array_reserve(t->nths, t->nr_nths, t->cap_nths, 1) != 0 ||
		    slots_keep(&t->name_slots, hash_of(e->name, 0), same_name, t, &name, t->names,
			       t->nr_names, t->cap_names, &at) != 0)
			return -FMT_E_NOMEM;
		t->nths[t->nr_nths++] = t->names[at].nr;
		t->names[at].nr += read_counts_alone(&e->attr);
	}
	return 0;
}

/* What was counted in another unit, as before an update or on another machine, is another sum. */
static bool
same_event(const void *owner, uint32_t index, const void *key)
{
	const struct totals_event *a = &((const struct count_totals *)owner)->events[index],
				  *b = key;

	return a->nth == b->nth && count_unit_same(&a->unit, &b->unit) &&
		strcmp(a->name, b->name) == 0;
}

/* It is not there yet. */
static int
keep_event(struct count_totals *t, const struct totals_event *key, uint32_t hash, uint32_t *ret)
{
	struct totals_event new = *key;

	if (array_reserve(t->events, t->nr, t->cap, 1) != 0)
		return -FMT_E_NOMEM;
	new.name = strdup(key->name);
	if (!new.name || slots_add(&t->slots, hash, t->nr) != 0) {
		free(new.name);
		return -FMT_E_NOMEM;
	}
	*ret = (uint32_t)t->nr;
	t->events[t->nr++] = new;
	return 0;
}

int
count_totals_add(struct count_totals *t, const struct event_set *events, size_t event,
		 const struct read_total *total)
{
	int error = count_names(t, events, event);
	const struct event *e = event_set_at(events, event);
	struct totals_event key = { .name = (char *)(uintptr_t)e->name,
				    .attr = e->attr,
				    .unit = e->unit };
	struct read_total *sum;
	uint32_t hash, at;

	if (error)
		return error;
	key.nth = t->nths[event];
	hash = hash_of(e->name, key.nth);
	at = slots_find(&t->slots, hash, same_event, t, &key);
	if (at == SLOTS_NONE && t->nr == COUNT_TOTALS_MAX) {
		t->left_out = true;
		return 0;
	}
	if (at == SLOTS_NONE && keep_event(t, &key, hash, &at) != 0)
		return -FMT_E_NOMEM;
	sum = &t->events[at].sum;
	sum->known = true;
	sum->level = total->level;
	sum->value = total->level ? total->value : sum->value + total->value;
	sum->enabled_ns += total->enabled_ns;
	sum->running_ns += total->running_ns;
	return 0;
}

bool
count_totals_left_out(const struct count_totals *t)
{
	return t->left_out;
}

const struct counted_list *
count_totals_all(struct count_totals *t)
{
	counted_list_clear(&t->all);
	for (size_t i = 0; i < t->nr; i++) {
		const struct counted c = { t->events[i].name, &t->events[i].attr, t->events[i].sum,
					   t->events[i].unit };

		if (counted_list_add(&t->all, &c) != 0)
			return NULL;
	}
	return &t->all;
}

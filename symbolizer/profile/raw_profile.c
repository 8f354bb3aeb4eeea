/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/raw_profile.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "symbolizer/profile/kept_values.h"

#define PLACES_MIN 1024
#define MODES 8 /* numbers of modes are below it */

void
raw_profile_done(struct raw_profile *p)
{
	free(p->regions);
	slots_done(&p->region_slots);
	free(p->places);
	free(p->place_slots);
	free(p->whos);
	slots_done(&p->who_slots);
	word_lists_done(&p->details);
	word_lists_done(&p->stacks);
	free(p->rows);
	slots_done(&p->row_slots);
	free(p->times);
	free(p->log);
	buf_done(&p->bytes);
	*p = (struct raw_profile){ .leaf_only = p->leaf_only,
				   .row_times = p->row_times,
				   .logs = p->logs };
}

size_t
raw_profile_bytes(const struct raw_profile *p)
{
	return p->cap_regions * sizeof(*p->regions) + p->cap_places * sizeof(*p->places) +
		p->cap_whos * sizeof(*p->whos) +
		(p->region_slots.used + p->who_slots.used + p->row_slots.used) * 4 *
		sizeof(struct slot) +
		(p->place_slots ? (p->place_mask + 1) * sizeof(*p->place_slots) : 0) +
		(p->stacks.cap_words + p->details.cap_words) * sizeof(*p->stacks.words) +
		(p->stacks.nr + p->details.nr) *
		(sizeof(*p->stacks.start) + 4 * sizeof(struct slot)) +
		p->cap_rows * sizeof(*p->rows) + p->cap_times * sizeof(*p->times) +
		p->cap_log * sizeof(*p->log) + p->bytes.cap;
}

/* --- regions ----------------------------------------------------------------------------- */

static uint32_t
region_hash(const struct raw_region *r)
{
	const struct map_object *o = &r->object;
	uint64_t h = slots_mix((uintptr_t)o->path, o->ino);

	h = slots_mix(h, (uint64_t)o->maj << 32 | o->min);
	h = slots_mix(h, o->ino_generation);
	for (size_t i = 0; i < o->build_id.size; i++)
		h = slots_mix(h, o->build_id.bytes[i]);
	h = slots_mix(slots_mix(h, r->map.pgoff), r->map.end - r->map.start);
	h = slots_mix(h, (uint64_t)r->map.prot << 1 | (r->map.end < RAW_LOW_END));
	return (uint32_t)slots_mix(h, raw_region_is_file(r) ? 0 : r->map.start);
}

static bool
region_same(const void *owner, uint32_t index, const void *key)
{
	const struct raw_region *a = &((const struct raw_profile *)owner)->regions[index], *b = key;
	const struct map_object *oa = &a->object, *ob = &b->object;

	return oa->path == ob->path && oa->ino == ob->ino && oa->maj == ob->maj &&
		oa->min == ob->min && oa->ino_generation == ob->ino_generation &&
		buildid_cmp(&oa->build_id, &ob->build_id) == 0 && a->map.pgoff == b->map.pgoff &&
		a->map.end - a->map.start == b->map.end - b->map.start &&
		a->map.prot == b->map.prot &&
		(a->map.end < RAW_LOW_END) == (b->map.end < RAW_LOW_END) &&
		(raw_region_is_file(a) || a->map.start == b->map.start);
}

int
raw_profile_region(struct raw_profile *p, const struct task_map *map,
		   const struct buildid *build_id, const char *path, uint32_t *ret)
{
	struct raw_region key = { .map = *map, .object = *map->object };

	key.object.path = path;
	key.object.build_id = *build_id;
	key.map.object = NULL;
	return slots_keep(&p->region_slots, region_hash(&key), region_same, p, &key, p->regions,
			  p->nr_regions, p->cap_regions, ret);
}

/* --- places ------------------------------------------------------------------------------ */

/* Told from others by its name, too. */
static bool
has_name(const struct raw_place *key)
{
	return key->mode == CALLCHAIN_KERNEL || key->symbol;
}

static bool
place_is(const struct raw_profile *p, const struct raw_place_slot *slot,
	 const struct raw_place_slot *wanted, const struct raw_place *key)
{
	const struct raw_place *a;

	if (slot->address != wanted->address || slot->key != wanted->key)
		return false;
	if (!has_name(key))
		return true;
	a = &p->places[slot->number - 1];
	return a->mode == key->mode && a->symbol == key->symbol && a->dso == key->dso &&
		a->start == key->start && a->is_data == key->is_data;
}

/* Those with names are told from all others, and by their names: many may have one address. */
static uint32_t
place_key(const struct raw_place *key)
{
	uint32_t where = key->mode == CALLCHAIN_USER ? key->region + 1 + MODES : key->mode;
	uint64_t name;

	if (!has_name(key))
		return where << 1 | key->is_return | (uint32_t)key->is_data << 30;
	name = slots_mix(slots_mix((uintptr_t)key->symbol, key->start), (uintptr_t)key->dso);
	return UINT32_C(1) << 31 | ((uint32_t)name & ~UINT32_C(1)) | key->is_return;
}

static size_t
place_begin(const struct raw_place_slot *slot, size_t mask)
{
	return (uint32_t)slots_mix(slot->key, slot->address) & mask;
}

static int
grow_places(struct raw_profile *p)
{
	size_t n = p->place_slots ? p->place_mask + 1 : 0, mask = n ? n * 2 - 1 : PLACES_MIN - 1,
	       at;
	struct raw_place_slot *grown = calloc(mask + 1, sizeof(*grown));

	if (!grown)
		return -FMT_E_NOMEM;
	for (size_t i = 0; i < n; i++) {
		if (p->place_slots[i].number == 0)
			continue;
		at = place_begin(&p->place_slots[i], mask);
		while (grown[at].number)
			at = (at + 1) & mask;
		grown[at] = p->place_slots[i];
	}
	free(p->place_slots);
	p->place_slots = grown;
	p->place_mask = mask;
	return 0;
}

int
raw_profile_place(struct raw_profile *p, const struct raw_place *key, uint32_t *ret)
{
	struct raw_place_slot wanted = { key->address, place_key(key), 0 };
	size_t i;
	int err;

	if (2 * p->nr_places >= p->place_mask && grow_places(p) < 0)
		return -FMT_E_NOMEM;
	for (i = place_begin(&wanted, p->place_mask); p->place_slots[i].number;
	     i = (i + 1) & p->place_mask) {
		if (!place_is(p, &p->place_slots[i], &wanted, key))
			continue;
		*ret = p->place_slots[i].number - 1;
		return 0;
	}
	err = array_reserve(p->places, p->nr_places, p->cap_places, 1);
	if (err < 0)
		return err;
	*ret = (uint32_t)p->nr_places;
	p->places[p->nr_places++] = *key;
	wanted.number = *ret + 1;
	p->place_slots[i] = wanted;
	return 0;
}

const void *
raw_profile_place_slot(const struct raw_profile *p, const struct raw_place *key)
{
	const struct raw_place_slot wanted = { key->address, place_key(key), 0 };

	return p->place_slots ? &p->place_slots[place_begin(&wanted, p->place_mask)] : NULL;
}

/* --- whose ------------------------------------------------------------------------------- */

static bool
who_same(const void *owner, uint32_t index, const void *key)
{
	const struct raw_who *a = &((const struct raw_profile *)owner)->whos[index], *b = key;
	bool same = a->comm == b->comm && a->event == b->event && a->in_scope == b->in_scope &&
		a->wanted == b->wanted && a->detail == b->detail;

#define X(type, name) same &= a->name == b->name;
	PROFILE_KEYS(X)
#undef X
	return same;
}

int
raw_profile_who(struct raw_profile *p, const struct raw_who *key, uint32_t *ret)
{
	uint64_t h =
		slots_mix((uintptr_t)key->comm, (uint64_t)key->detail << 32 | (uint32_t)key->event);

#define X(type, name) h = slots_mix(h, (uintptr_t)key->name);
	PROFILE_KEYS(X)
#undef X
	return slots_keep(&p->who_slots, (uint32_t)h, who_same, p, key, p->whos, p->nr_whos,
			  p->cap_whos, ret);
}

/* --- rows -------------------------------------------------------------------------------- */

static bool
row_same(const void *owner, uint32_t index, const void *key)
{
	const struct raw_key *a = &((const struct raw_profile *)owner)->rows[index].key, *b = key;

	return a->stack == b->stack && a->who == b->who;
}

static int
new_row(struct raw_profile *p, const struct raw_sample *s)
{
	int err = array_reserve(p->rows, p->nr_rows, p->cap_rows, 1);

	if (err == 0 && p->row_times)
		err = array_reserve(p->times, p->nr_rows, p->cap_times, 1);
	if (err == 0)
		err = slots_add(&p->row_slots, s->hash, p->nr_rows);
	if (err < 0)
		return err;
	if (p->row_times)
		p->times[p->nr_rows] = (struct raw_times){ UINT64_MAX, 0 };
	p->rows[p->nr_rows++] = (struct raw_row){ .key = s->key };
	return 0;
}

static int
log_sample(struct raw_profile *p, const struct raw_sample *s, uint32_t row)
{
	int err = array_reserve(p->log, p->nr_log, p->cap_log, 1);

	if (err == 0)
		p->log[p->nr_log++] = (struct raw_logged){ .time_ns = s->time_ns,
							   .period = s->period,
							   .row = row };
	return err;
}

int
raw_profile_values_of(struct raw_profile *p, const struct perf_sample *sample)
{
	struct raw_logged *l = &p->log[p->nr_log - 1];

	if (!(sample->have & (KEPT_VALUES | PERF_SAMPLE_RAW)))
		return 0;
	l->bytes_at = p->bytes.len;
	kept_values_put(sample, &p->bytes);
	l->nr_bytes = (uint32_t)(p->bytes.len - l->bytes_at);
	return buf_failed(&p->bytes) ? -FMT_E_NOMEM : 0;
}

int
raw_profile_count(struct raw_profile *p, const struct raw_sample *s)
{
	uint32_t i = slots_find(&p->row_slots, s->hash, row_same, p, &s->key);

	if (i == SLOTS_NONE) {
		i = (uint32_t)p->nr_rows;
		if (new_row(p, s) < 0)
			return -FMT_E_NOMEM;
	}
	p->rows[i].weight.samples += s->samples;
	p->rows[i].weight.period += s->period;
	if (p->row_times)
		raw_times_add(&p->times[i], s->time_ns);
	return p->logs ? log_sample(p, s, i) : 0;
}

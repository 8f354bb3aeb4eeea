/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/resolve/mapped_objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "symbolizer/object/object_search.h"
#include "symbolizer/object/object_store.h"
#include "symbolizer/object/object_vdso.h"

void
mapped_objects_init(struct mapped_objects *m, const struct object_places *places,
		    struct intern *strings, size_t *labels)
{
	*m = (struct mapped_objects){ .places = places, .strings = strings, .labels = labels };
}

static void
forget_mapped(struct mapped_objects *m)
{
	for (size_t i = 0; i < m->nr_mapped; i++)
		free((char *)(uintptr_t)m->mapped[i].key.path);
	free(m->mapped);
	slots_done(&m->mapped_slots);
	m->mapped = NULL;
	m->nr_mapped = m->cap_mapped = 0;
}

static uint32_t
build_id_hash(const struct buildid *id)
{
	return (uint32_t)slots_mix_bytes(id->kind, id->bytes, id->size);
}

struct loaded_key {
	const struct buildid *id;
	int64_t owner;
};

static bool
same_build_and_owner(const void *owner, uint32_t index, const void *key)
{
	const struct object *o = ((const struct mapped_objects *)owner)->objects[index];
	const struct loaded_key *k = key;

	return o->owner == k->owner && buildid_cmp(&o->build_id, k->id) == 0;
}

static struct object *
find_loaded(const struct mapped_objects *m, const struct buildid *id, int64_t owner)
{
	const struct loaded_key key = { id, owner };
	uint32_t at = SLOTS_NONE;

	if (id->size != 0)
		at = slots_find(&m->by_build_id, build_id_hash(id), same_build_and_owner, m, &key);
	return at != SLOTS_NONE ? m->objects[at] : NULL;
}

int
mapped_objects_keep(struct mapped_objects *m, struct object *o)
{
	int error = array_reserve(m->objects, m->nr_objects, m->cap_objects, 1);

	if (!error && o->build_id.size != 0)
		error = slots_add(&m->by_build_id, build_id_hash(&o->build_id), m->nr_objects);
	if (!error)
		m->objects[m->nr_objects++] = o;
	return error;
}

int
mapped_objects_build_id(struct intern *strings, size_t *labels, const struct buildid *id,
			const char **ret)
{
	char hex[2 * BUILDID_MAX + 1] = "";

	*ret = NULL;
	if (id->size == 0 || id->kind != BUILDID_GNU)
		return 0;
	for (size_t i = 0; i < id->size && i < BUILDID_MAX; i++)
		snprintf(hex + 2 * i, 3, "%02x", id->bytes[i]);
	*ret = intern_add_for(strings, hex, sizeof(hex), NULL, labels);
	return *ret == NULL ? -FMT_E_NOMEM : 0;
}

static int
mapped_names(struct mapped_objects *m, struct mapped_object *s, const char *path)
{
	static const char deleted[] = " (deleted)";
	size_t len = strlen(path);
	const char *base = path;

	s->path = intern_add_for(m->strings, path, len, NULL, m->labels);
	if (len >= sizeof(deleted) && strcmp(path + len - (sizeof(deleted) - 1), deleted) == 0)
		len -= sizeof(deleted) - 1;
	/* "//anon" is a name as it is; "[anon:a/b]" has no directory. */
	if (path[0] == '/' && path[1] != '/')
		for (size_t i = 0; i + 1 < len; i++)
			if (path[i] == '/')
				base = path + i + 1;
	s->dso = len
		? intern_add_for(m->strings, base, len - (size_t)(base - path), NULL, m->labels)
		: intern_string(m->strings, MAPPED_OBJECTS_UNKNOWN);
	return s->path == NULL || s->dso == NULL ? -FMT_E_NOMEM : 0;
}

/* Another file of a build goes before: it serves all maps from here on. */
static void
replace_loaded(struct mapped_objects *m, struct object *loaded, struct object *better)
{
	for (size_t i = 0; i < m->nr_objects; i++)
		if (m->objects[i] == loaded)
			m->objects[i] = better;
		else if (m->objects[i] == better)
			m->objects[i] = loaded;
	for (size_t i = 0; i < m->nr_mapped; i++)
		if (m->mapped[i].object == loaded)
			m->mapped[i].object = better;
}

/* An object that is looked for, and the one that there is already. */
struct looked_for {
	const struct mapped_objects *m;
	const struct mapped_object *s;
	struct object *loaded;
};

/*
 * One of the build and the owner, if it is as good. What root or the reader has serves all maps of the build but those
 * of files of others, and goes before what came with the recording.
 */
static struct object *
find_known(void *arg, int64_t owner, bool has_symtab)
{
	struct looked_for *l = arg;
	const struct buildid *id = &l->s->key.build_id;
	struct object *trusted = find_loaded(l->m, id, OBJECT_TRUSTED);

	l->loaded = find_loaded(l->m, id, owner);
	if (owner == OBJECT_STORED && trusted)
		return l->loaded = trusted;
	/* Of one build there may be two files, one of them stripped. */
	return l->loaded && (l->loaded->has_symtab || !has_symtab) ? l->loaded : NULL;
}

/* Keeps a new object that was found for s, if it is better than that of its build and owner. */
static int
take_object(struct mapped_objects *m, struct mapped_object *s, struct object *loaded,
	    struct object *object)
{
	struct object *stored = find_loaded(m, &s->key.build_id, OBJECT_STORED);
	int error;

	if (loaded && !object->has_symtab) {
		object_free(object);
		s->object = loaded;
		return 0;
	}
	error = mapped_objects_keep(m, object);
	if (error) {
		object_free(object);
		return error;
	}
	s->object = object;
	if (loaded)
		replace_loaded(m, loaded, object);
	else if (stored && object->owner == OBJECT_TRUSTED)
		replace_loaded(m, stored, object);
	return 0;
}

static int
mapped_load(struct mapped_objects *m, struct mapped_object *s, const struct task_map *map)
{
	const struct map_object *wanted = map->object;
	/* By another path it may be there already. */
	struct object *loaded = find_loaded(m, &wanted->build_id, OBJECT_TRUSTED), *object;
	struct looked_for of = { .m = m, .s = s };
	const struct object_known known = { find_known, &of };
	const bool tried = s->tried;
	int error;

	s->tried = true;
	s->tried_at = m->nr_objects;
	if (tried ||
	    (loaded && loaded->has_symtab && !object_search_is_others(m->places, wanted))) {
		s->object = loaded;
		return 0;
	}
	error = object_store_load(m->places, wanted, map, &known, &object, &s->miss);
	s->object = loaded;
	if (error || object == NULL)
		return error;
	if (object != of.loaded)
		return take_object(m, s, of.loaded, object);
	s->object = object;
	return 0;
}

static uint32_t
mapped_hash(const struct map_object *o)
{
	uint64_t h = slots_mix(build_id_hash(&o->build_id), o->ino);

	h = slots_mix_bytes(h, o->path, strlen(o->path));
	return (uint32_t)slots_mix(h, (uint64_t)o->maj << 32 | o->min);
}

static bool
mapped_same(const void *owner, uint32_t index, const void *key)
{
	const struct map_object *a = &((const struct mapped_objects *)owner)->mapped[index].key,
				*b = key;

	return a->ino == b->ino && a->maj == b->maj && a->min == b->min &&
		a->ino_generation == b->ino_generation &&
		buildid_cmp(&a->build_id, &b->build_id) == 0 && strcmp(a->path, b->path) == 0;
}

/* Appends one. */
static int
mapped_new(struct mapped_objects *m, const struct map_object *wanted, uint32_t hash)
{
	const bool narrow = strcmp(wanted->path, OBJECT_VDSO32) == 0;
	struct mapped_object s = {
		.key = *wanted,
		.relative = narrow || strcmp(wanted->path, OBJECT_VDSO) == 0 ||
			strcmp(wanted->path, "[vsyscall]") == 0,
	};
	int error = mapped_names(m, &s, narrow ? OBJECT_VDSO : wanted->path);

	if (!error)
		error = mapped_objects_build_id(m->strings, m->labels, &s.key.build_id,
						&s.build_id);
	if (!error)
		error = array_reserve(m->mapped, m->nr_mapped, m->cap_mapped, 1);
	s.key.path = error ? NULL : strdup(wanted->path);
	if (s.key.path == NULL)
		return -FMT_E_NOMEM;
	error = slots_add(&m->mapped_slots, hash, m->nr_mapped);
	if (error)
		free((char *)(uintptr_t)s.key.path);
	else
		m->mapped[m->nr_mapped++] = s;
	return error;
}

int
mapped_objects_find(struct mapped_objects *m, const struct task_map *map,
		    struct mapped_object **ret)
{
	const struct map_object *wanted = map->object;
	const uint32_t hash = mapped_hash(wanted);
	uint32_t at = slots_find(&m->mapped_slots, hash, mapped_same, m, wanted);
	struct mapped_object *s;
	int error = 0;

	if (at == SLOTS_NONE) {
		at = (uint32_t)m->nr_mapped;
		error = mapped_new(m, wanted, hash);
	}
	if (error)
		return error;
	*ret = s = &m->mapped[at];
	if (!s->tried || (s->object == NULL && s->tried_at != m->nr_objects))
		error = mapped_load(m, s, map);
	return error;
}

/* The indexes of those that stay change with it. */
static int
drop_unidentified(struct mapped_objects *m)
{
	size_t nr = 0;
	int error = 0;

	slots_done(&m->by_build_id);
	for (size_t i = 0; i < m->nr_objects; i++) {
		struct object *o = m->objects[i];

		if (o->build_id.size == 0 && !m->places->keep_code) {
			object_free(o);
			continue;
		}
		if (!error && o->build_id.size != 0)
			error = slots_add(&m->by_build_id, build_id_hash(&o->build_id), nr);
		m->objects[nr++] = o;
	}
	m->nr_objects = nr;
	return error;
}

int
mapped_objects_begin(struct mapped_objects *m)
{
	int error = drop_unidentified(m);

	if (!error)
		forget_mapped(m);
	return error;
}

void
mapped_objects_done(struct mapped_objects *m)
{
	for (size_t i = 0; i < m->nr_objects; i++)
		object_free(m->objects[i]);
	free(m->objects);
	slots_done(&m->by_build_id);
	forget_mapped(m);
}

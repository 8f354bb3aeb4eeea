/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/model/map_objects.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/sys/tree.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"

#define SWEEP_MIN 64 /* unused objects that are worth a walk */

struct object {
	struct map_object o; /* first: what others point to */
	RB_ENTRY(object) node, by_path;
	struct map_objects *table;
	uint64_t refs;
	size_t bytes;
	bool twin; /* not in the tree: what others find is another one that says the same */
	char path[];
};

/* A build-id that came by inode, or by path alone, and not by a record. */
struct inode_id {
	struct map_object key; /* path is NULL, or all that is known */
	RB_ENTRY(inode_id) node;
	bool used;
	char path[];
};

RB_HEAD(object_tree, object);
RB_HEAD(path_tree, object);
RB_HEAD(inode_tree, inode_id);

struct map_objects {
	struct object_tree objects;
	struct path_tree paths; /* the same ones */
	struct inode_tree inodes;
	struct object **slots;
	size_t nr_slots, cap_slots, nr_objects, unused, nr_inodes;
	size_t hint;	  /* no slot below it is free */
	uint64_t serials; /* given so far */
	size_t bytes;
	uint64_t left_out;
	struct object *last; /* a program maps its file several times running */
};

static int
cmp_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int
inode_cmp(const struct map_object *a, const struct map_object *b)
{
	int c = cmp_u64(a->ino, b->ino);

	if (!c)
		c = cmp_u64((uint64_t)a->maj << 32 | a->min, (uint64_t)b->maj << 32 | b->min);
	return c ? c : cmp_u64(a->ino_generation, b->ino_generation);
}

/* By inode first, so that the objects of one inode stand together; a NULL path is before all. */
static int
key_cmp(const struct map_object *a, const struct map_object *b)
{
	int c = inode_cmp(a, b);

	if (!c)
		c = (a->path != NULL) - (b->path != NULL);
	if (c || !a->path)
		return c;
	c = strcmp(a->path, b->path);
	return c ? c : buildid_cmp(&a->build_id, &b->build_id);
}

static int
object_cmp(const struct object *a, const struct object *b)
{
	return key_cmp(&a->o, &b->o);
}

/* A NULL table is before all of the same path. */
static int
path_cmp(const struct object *a, const struct object *b)
{
	int c = strcmp(a->o.path, b->o.path);

	if (!c)
		c = (a->table != NULL) - (b->table != NULL);
	return c || !a->table ? c : cmp_u64(a->o.index, b->o.index);
}

static int
inode_id_cmp(const struct inode_id *a, const struct inode_id *b)
{
	int c = inode_cmp(&a->key, &b->key);

	if (!c)
		c = (a->key.path != NULL) - (b->key.path != NULL);
	return c || !a->key.path ? c : strcmp(a->key.path, b->key.path);
}

/* libbsd's RB_GENERATE_STATIC() needs a __unused that glibc's headers do not stand. */
RB_GENERATE_INTERNAL(object_tree, object, node, object_cmp, __attribute__((unused)) static)
RB_GENERATE_INTERNAL(path_tree, object, by_path, path_cmp, __attribute__((unused)) static)
RB_GENERATE_INTERNAL(inode_tree, inode_id, node, inode_id_cmp, __attribute__((unused)) static)

struct map_objects *
map_objects_new(void)
{
	struct map_objects *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	RB_INIT(&t->objects);
	RB_INIT(&t->paths);
	RB_INIT(&t->inodes);
	return t;
}

static void
object_free(struct map_objects *t, struct object *o)
{
	if (!o->twin)
		RB_REMOVE(object_tree, &t->objects, o);
	RB_REMOVE(path_tree, &t->paths, o);
	t->slots[o->o.index] = NULL;
	t->nr_objects--;
	t->bytes -= o->bytes;
	if (t->last == o)
		t->last = NULL;
	free(o);
}

static size_t
inode_id_bytes(const struct inode_id *i)
{
	return sizeof(*i) + (i->key.path ? strlen(i->key.path) + 1 : 0);
}

static void
inode_id_free(struct map_objects *t, struct inode_id *i)
{
	RB_REMOVE(inode_tree, &t->inodes, i);
	t->nr_inodes--;
	t->bytes -= inode_id_bytes(i);
	free(i);
}

void
map_objects_free(struct map_objects *t)
{
	struct inode_id *i, *next;

	if (!t)
		return;
	for (size_t n = 0; n < t->nr_slots; n++)
		if (t->slots[n])
			object_free(t, t->slots[n]);
	RB_FOREACH_SAFE(i, inode_tree, &t->inodes, next)
		inode_id_free(t, i);
	free(t->slots);
	free(t);
}

/* A free index, with room for it; SIZE_MAX: out of memory. */
static size_t
slot_get(struct map_objects *t)
{
	for (; t->hint < t->nr_slots; t->hint++)
		if (!t->slots[t->hint])
			return t->hint;
	if (array_reserve(t->slots, t->nr_slots, t->cap_slots, 1) < 0)
		return SIZE_MAX;
	t->slots[t->nr_slots] = NULL;
	return t->nr_slots++;
}

static struct object *
object_new(struct map_objects *t, const struct map_object *key)
{
	size_t len = strlen(key->path) + 1, slot;
	struct object *o;

	slot = slot_get(t);
	if (slot > UINT32_MAX)
		return NULL;
	o = calloc(1, sizeof(*o) + len);
	if (!o)
		return NULL;
	o->o = *key;
	memcpy(o->path, key->path, len);
	o->o.path = o->path;
	o->o.index = (uint32_t)slot;
	o->o.serial = ++t->serials;
	o->table = t;
	o->bytes = sizeof(*o) + len;
	t->slots[slot] = o;
	t->nr_objects++;
	t->unused++;
	t->bytes += o->bytes;
	RB_INSERT(object_tree, &t->objects, o);
	RB_INSERT(path_tree, &t->paths, o);
	return o;
}

static struct object *
object_find_or_new(struct map_objects *t, struct object *probe)
{
	struct object *o = RB_FIND(object_tree, &t->objects, probe);

	return o ? o : object_new(t, &probe->o);
}

/* One object for all files that there is no room for, by the kernel's own name of such. */
static struct object *
object_of_many(struct map_objects *t)
{
	struct object probe = { .o = { .path = MAP_OBJECTS_LEFT_OUT } };

	t->left_out++;
	return object_find_or_new(t, &probe);
}

/* Is there room for another object of this path? What nothing maps any more goes first. */
static bool
has_room(struct map_objects *t, const char *path)
{
	const size_t more = sizeof(struct object) + strlen(path) + 1;

	if (t->bytes + more > MAP_OBJECTS_BYTES_MAX)
		map_objects_sweep(t);
	return t->bytes + more <= MAP_OBJECTS_BYTES_MAX;
}

/* What came by the inode of this object, or by its path; NULL: nothing. */
static struct inode_id *
find_id(struct map_objects *t, const struct map_object *o)
{
	struct inode_id probe = { .key = *o }, *found = NULL;

	probe.key.path = NULL;
	if (o->ino)
		found = RB_FIND(inode_tree, &t->inodes, &probe);
	if (found)
		return found;
	probe.key = (struct map_object){ .path = o->path };
	return RB_FIND(inode_tree, &t->inodes, &probe);
}

static struct object
probe_of(struct map_objects *t, const struct perf_mmap *m)
{
	struct object probe = { 0 };
	const struct inode_id *known;

	probe.o = (struct map_object){ .maj = m->maj,
				       .min = m->min,
				       .ino = m->ino,
				       .ino_generation = m->ino_generation,
				       .build_id = m->build_id,
				       .path = m->filename };
	if (!m->build_id.size && t->nr_inodes) {
		known = find_id(t, &probe.o);
		if (known)
			probe.o.build_id = known->key.build_id;
	}
	return probe;
}

static struct object *
map_objects_lookup(struct map_objects *t, struct object *probe)
{
	if (!t->last || object_cmp(t->last, probe) != 0)
		return RB_FIND(object_tree, &t->objects, probe);
	return t->last;
}

struct map_object *
map_objects_find(struct map_objects *t, const struct perf_mmap *m)
{
	struct object probe = probe_of(t, m), *o = map_objects_lookup(t, &probe);

	return o ? &o->o : NULL;
}

struct map_object *
map_objects_get(struct map_objects *t, const struct perf_mmap *m)
{
	struct object probe = probe_of(t, m), *o = map_objects_lookup(t, &probe);

	if (!o)
		o = has_room(t, probe.o.path) ? object_new(t, &probe.o) : object_of_many(t);
	if (!o)
		return NULL;
	t->last = o;
	return &o->o;
}

void
map_object_ref(struct map_object *m)
{
	struct object *o = (struct object *)m;

	if (o->refs++ == 0)
		o->table->unused--;
}

void
map_object_unref(struct map_object *m)
{
	struct object *o = (struct object *)m;

	if (--o->refs == 0)
		o->table->unused++;
}

/* Gives the id to one object, unless that would make it the same as another. */
static void
object_give(struct map_objects *t, struct object *o, const struct buildid *id)
{
	RB_REMOVE(object_tree, &t->objects, o);
	o->o.build_id = *id;
	o->o.serial = ++t->serials;
	if (!RB_INSERT(object_tree, &t->objects, o))
		return;
	o->o.build_id = (struct buildid){ 0 };
	RB_INSERT(object_tree, &t->objects, o);
}

int
map_objects_give_build_id(struct map_objects *t, const struct map_object *file,
			  const struct buildid *id)
{
	struct object probe = { .o = *file }, *o;

	probe.o.build_id = (struct buildid){ 0 };
	o = RB_FIND(object_tree, &t->objects, &probe);
	if (!o)
		return 0;
	RB_REMOVE(object_tree, &t->objects, o);
	o->o.build_id = *id;
	o->o.serial = ++t->serials;
	o->twin = RB_INSERT(object_tree, &t->objects, o) != NULL;
	if (t->last == o)
		t->last = NULL;
	return 1;
}

/*
 * Keeps the id for what is to come: 1, 0 (there was one: those that are here already had
 * theirs then), -FMT_E_NOMEM.
 */
static int
keep_id(struct map_objects *t, const struct map_object *key, const struct buildid *id)
{
	struct inode_id probe = { .key = *key }, *i = RB_FIND(inode_tree, &t->inodes, &probe);
	size_t len = key->path ? strlen(key->path) + 1 : 0;

	if (i) {
		i->key.build_id = *id;
		return 0;
	}
	if (t->bytes + sizeof(*i) + len > MAP_OBJECTS_BYTES_MAX) {
		t->left_out++;
		return 0;
	}
	i = calloc(1, sizeof(*i) + len);
	if (!i)
		return -FMT_E_NOMEM;
	i->key = *key;
	if (key->path) {
		memcpy(i->path, key->path, len);
		i->key.path = i->path;
	}
	i->key.build_id = *id;
	RB_INSERT(inode_tree, &t->inodes, i);
	t->nr_inodes++;
	t->bytes += inode_id_bytes(i);
	return 1;
}

int
map_objects_set_build_id(struct map_objects *t, const struct map_object *inode,
			 const struct buildid *id)
{
	struct object from = { .o = *inode };
	struct object *o, *next;
	int kept;

	from.o.path = NULL;
	kept = keep_id(t, &from.o, id);
	if (kept <= 0)
		return kept;
	for (o = RB_NFIND(object_tree, &t->objects, &from); o && inode_cmp(&o->o, &from.o) == 0;
	     o = next) {
		next = RB_NEXT(object_tree, &t->objects, o);
		if (!o->o.build_id.size)
			object_give(t, o, id);
	}
	return 0;
}

int
map_objects_set_path_build_id(struct map_objects *t, const char *path, const struct buildid *id)
{
	const struct map_object key = { .path = path };
	struct object from = { .o = key };
	struct object *o;
	int kept = keep_id(t, &key, id);

	if (kept <= 0)
		return kept;
	for (o = RB_NFIND(path_tree, &t->paths, &from); o && strcmp(o->path, path) == 0;
	     o = RB_NEXT(path_tree, &t->paths, o))
		if (!o->o.build_id.size)
			object_give(t, o, id);
	return 0;
}

size_t
map_objects_count(const struct map_objects *t)
{
	return t->nr_slots;
}

const struct map_object *
map_objects_at(const struct map_objects *t, size_t index)
{
	return index < t->nr_slots && t->slots[index] ? &t->slots[index]->o : NULL;
}

void
map_objects_sweep(struct map_objects *t)
{
	struct inode_id *i, *next;

	if (t->unused < SWEEP_MIN || t->unused < t->nr_objects / 4)
		return;
	RB_FOREACH(i, inode_tree, &t->inodes)
		i->used = false;
	for (size_t n = 0; n < t->nr_slots; n++) {
		if (!t->slots[n])
			continue;
		if (!t->slots[n]->refs) {
			object_free(t, t->slots[n]);
			continue;
		}
		i = find_id(t, &t->slots[n]->o);
		if (i)
			i->used = true;
	}
	t->unused = 0;
	t->hint = 0;
	RB_FOREACH_SAFE(i, inode_tree, &t->inodes, next)
		/* Nobody says again what came by path. */
		if (!i->used && !i->key.path)
			inode_id_free(t, i);
	while (t->nr_slots && !t->slots[t->nr_slots - 1])
		t->nr_slots--;
}

size_t
map_objects_used(const struct map_objects *t)
{
	return t->nr_objects;
}

uint64_t
map_objects_left_out(const struct map_objects *t)
{
	return t->left_out;
}

size_t
map_objects_bytes(const struct map_objects *t)
{
	return t->bytes + t->cap_slots * sizeof(*t->slots);
}

bool
map_object_anonymous(const char *path)
{
	static const char *const prefixes[] = {
		"//anon", "/anon_hugepage", "/dev/zero", "/SYSV", "/memfd:", "anon_inode:",
	};

	if (path[0] == '[')
		return strcmp(path, "[vdso]") != 0 && strcmp(path, "[vdso32]") != 0 &&
			strcmp(path, "[vsyscall]") != 0;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strncmp(path, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return path[0] != '/';
}

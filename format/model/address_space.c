/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/model/address_space.h"

#include <stdlib.h>

#include <bsd/sys/tree.h>

#include "format/bytes/fmt_error.h"
#include "format/model/map_objects.h"

struct map_node {
	struct task_map map; /* first: what others point to */
	RB_ENTRY(map_node) node;
	uint64_t stamp; /* order of arrival */
};

RB_HEAD(map_tree, map_node);

struct address_space {
	struct map_tree maps;
	struct map_node *last; /* the hit before: samples come in clusters */
	struct address_space_totals *totals;
	uint64_t refs;
	uint64_t count;
	uint64_t stamp;
	uint64_t version;
};

static int
map_cmp(const struct map_node *a, const struct map_node *b)
{
	return (a->map.start > b->map.start) - (a->map.start < b->map.start);
}

/* libbsd's RB_GENERATE_STATIC() needs a __unused that glibc's headers do not stand. */
RB_GENERATE_INTERNAL(map_tree, map_node, node, map_cmp, __attribute__((unused)) static)

static struct address_space *
space_new(struct address_space_totals *totals)
{
	struct address_space *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	RB_INIT(&s->maps);
	s->refs = 1;
	s->totals = totals;
	totals->spaces++;
	return s;
}

struct address_space *
address_space_ref(struct address_space *s)
{
	if (s)
		s->refs++;
	return s;
}

static void
node_insert(struct address_space *s, struct map_node *n)
{
	map_object_ref(n->map.object);
	RB_INSERT(map_tree, &s->maps, n);
	s->count++;
	s->totals->maps++;
	s->version = ++s->totals->changes;
}

static void
node_remove(struct address_space *s, struct map_node *n)
{
	RB_REMOVE(map_tree, &s->maps, n);
	if (s->last == n)
		s->last = NULL;
	s->count--;
	s->totals->maps--;
	s->version = ++s->totals->changes;
	map_object_unref(n->map.object);
	free(n);
}

static struct map_node *
node_new(struct address_space *s, const struct task_map *map)
{
	struct map_node *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->map = *map;
	n->stamp = ++s->stamp;
	return n;
}

void
address_space_unref(struct address_space *s)
{
	struct map_node *n, *next;

	if (!s || --s->refs)
		return;
	RB_FOREACH_SAFE(n, map_tree, &s->maps, next)
		node_remove(s, n);
	s->totals->spaces--;
	free(s);
}

/* Without the maps that arrived before the newest keep ones. */
static struct address_space *
space_copy(struct address_space *from, uint64_t keep)
{
	struct address_space *s = space_new(from->totals);
	struct map_node *n, *copy;

	if (!s)
		return NULL;
	RB_FOREACH(n, map_tree, &from->maps) {
		if (n->stamp < from->stamp && from->stamp - n->stamp > keep)
			continue;
		copy = node_new(s, &n->map);
		if (!copy) {
			address_space_unref(s);
			return NULL;
		}
		copy->stamp = n->stamp;
		node_insert(s, copy);
	}
	s->stamp = from->stamp;
	s->totals->left_out += from->count - s->count;
	return s;
}

/* The first map that ends after addr. */
static struct map_node *
first_after(struct address_space *s, uint64_t addr)
{
	struct map_node *n = RB_ROOT(&s->maps), *best = NULL;

	while (n) {
		if (n->map.end > addr) {
			best = n;
			n = RB_LEFT(n, node);
		} else {
			n = RB_RIGHT(n, node);
		}
	}
	return best;
}

/*
 * Makes room for [start, end): cuts, splits (into *spare) and removes what is in the way. spare
 * NULL: of what would be split, the part behind is forgotten.
 */
static void
space_cut(struct address_space *s, uint64_t start, uint64_t end, struct map_node *spare)
{
	struct map_node *n, *next;

	for (n = first_after(s, start); n && n->map.start < end; n = next) {
		next = RB_NEXT(map_tree, &s->maps, n);
		if (n->map.start < start && n->map.end > end && spare) {
			spare->map = n->map;
			spare->map.start = end;
			spare->map.pgoff += end - n->map.start;
			spare->stamp = n->stamp;
			n->map.end = start;
			node_insert(s, spare);
			return;
		}
		if (n->map.start < start) {
			n->map.end = start;
		} else if (n->map.end > end) {
			/* The key grows but stays before that of the next map: order holds. */
			n->map.pgoff += end - n->map.start;
			n->map.start = end;
		} else {
			node_remove(s, n);
		}
		s->version = ++s->totals->changes;
	}
	free(spare);
}

static bool
anonymous(const struct map_object *o)
{
	return o->ino == 0 && o->build_id.size == 0;
}

/* Forgets maps that arrived before the newest keep ones. */
static void
forget_older(struct address_space *s, uint64_t keep, bool all)
{
	struct map_node *n, *next;

	RB_FOREACH_SAFE(n, map_tree, &s->maps, next)
		if ((all || anonymous(n->map.object)) && n->stamp + keep < s->stamp) {
			node_remove(s, n);
			s->totals->left_out++;
		}
}

/* So many arrivals make at most three quarters of max maps: one makes up to two, by a split. */
static uint64_t
arrivals_kept(uint64_t max)
{
	return max * 3 / 8;
}

/* Leaves so much room that this walk is paid for by the maps that fill it again. */
static void
space_shrink(struct address_space *s, uint64_t max)
{
	forget_older(s, max / 2, false);
	if (s->count > max / 4 * 3)
		forget_older(s, arrivals_kept(max), true);
}

/* May so many maps of a space be copied? Copies are paid for by maps that were put: see ADDRESS_SPACES_COPIES_*. */
static bool
may_copy(const struct address_space *s, uint64_t nr, struct address_space_totals *totals)
{
	const uint64_t paid = ADDRESS_SPACES_COPIES_FREE + ADDRESS_SPACES_COPIES_EACH * totals->put;

	if (nr + totals->maps <= ADDRESS_SPACES_MAPS_MAX && totals->copied + nr <= paid) {
		totals->copied += nr;
		return true;
	}
	totals->left_out += s->count;
	return false;
}

static int
space_own(struct address_space **space, struct address_space_totals *totals, uint64_t max)
{
	struct address_space *s = *space;

	if (s && s->refs == 1)
		return 0;
	if (s && s->count > max)
		s = may_copy(s, arrivals_kept(max), totals) ? space_copy(s, arrivals_kept(max))
							    : space_new(totals);
	else
		s = s && may_copy(s, s->count, totals) ? space_copy(s, UINT64_MAX)
						       : space_new(totals);
	if (!s)
		return -FMT_E_NOMEM;
	address_space_unref(*space);
	*space = s;
	return 0;
}

/*
 * There is no room for a map. What it covers is gone all the same, and the rest stays. A shared
 * space would have to be copied for that: it ends.
 */
static void
space_lose(struct address_space **space, struct address_space_totals *totals,
	   const struct task_map *map, uint64_t max)
{
	struct address_space *s = *space;

	totals->left_out++;
	if (s && s->refs > 1) {
		totals->left_out += s->count;
		address_space_unref(s);
		*space = NULL;
	} else if (s) {
		space_cut(s, map->start, map->end, NULL);
		if (s->count > max)
			space_shrink(s, max);
	}
}

int
address_space_put(struct address_space **space, struct address_space_totals *totals,
		  const struct task_map *map, uint64_t max)
{
	struct map_node *n, *spare;
	struct address_space *s;

	if (map->end <= map->start)
		return 0;
	/* Said again, as after mprotect() or by a scan: often, and cheap to see. */
	n = *space ? first_after(*space, map->start) : NULL;
	if (n && n->map.start == map->start && n->map.end == map->end &&
	    n->map.object == map->object && n->map.pgoff == map->pgoff &&
	    n->map.prot == map->prot && n->map.flags == map->flags) {
		n->stamp = ++(*space)->stamp;
		return 0;
	}
	if (!max || totals->maps >= ADDRESS_SPACES_MAPS_MAX) {
		space_lose(space, totals, map, max ? max : TASK_MODEL_MAPS_FULL);
		return 0;
	}
	totals->put++;
	if (space_own(space, totals, max))
		return -FMT_E_NOMEM;
	s = *space;
	n = node_new(s, map);
	spare = calloc(1, sizeof(*spare));
	if (!n || !spare) {
		free(n);
		free(spare);
		return -FMT_E_NOMEM;
	}
	space_cut(s, map->start, map->end, spare);
	node_insert(s, n);
	if (s->count > max)
		space_shrink(s, max);
	return 0;
}

void
address_space_unmap(struct address_space *s, uint64_t start, uint64_t end)
{
	if (s && s->refs == 1 && start < end)
		space_cut(s, start, end, NULL);
}

const struct task_map *
address_space_find(struct address_space *s, uint64_t addr)
{
	struct map_node *n;

	if (!s)
		return NULL;
	n = s->last;
	if (n && addr >= n->map.start && addr < n->map.end)
		return &n->map;
	n = first_after(s, addr);
	if (!n || n->map.start > addr)
		return NULL;
	s->last = n;
	return &n->map;
}

const struct task_map *
address_space_next(struct address_space *s, const struct task_map *prev)
{
	struct map_node *n;

	if (!s)
		return NULL;
	if (!prev)
		n = RB_MIN(map_tree, &s->maps);
	else
		n = RB_NEXT(map_tree, &s->maps, (struct map_node *)(uintptr_t)prev);
	return n ? &n->map : NULL;
}

uint64_t
address_space_bytes(const struct address_space_totals *totals)
{
	return totals->maps * sizeof(struct map_node) +
		totals->spaces * sizeof(struct address_space);
}

uint64_t
address_space_version(const struct address_space *s)
{
	return s ? s->version : 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ends of all ranges cut the addresses into pieces, which are the leaves of a segment tree. A
 * range is noted at the O(log n) nodes that make it up, and each node has the numbers of its ranges
 * in ascending order, which is that of their times. The way from a leaf to the root so passes all
 * ranges that hold an address, and in each node a binary search finds the newest that is old enough.
 */
#include "format/jit/jit_table.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"

struct jit_entry {
	uint64_t start, end, time_ns;
	uint32_t order; /* of arrival */
	uint32_t name;	/* offset in names; of "": nothing is there */
};

struct jit_table {
	struct jit_entry *entries; /* when settled: by time, then order */
	size_t nr, cap;
	char *names; /* each with its NUL; the first is "" */
	size_t names_len, names_cap;
	size_t entries_max, names_max;
	uint64_t left_out;
	uint64_t *cuts; /* sorted, distinct; piece i is [cuts[i], cuts[i + 1]) */
	size_t nr_pieces;
	uint32_t *first; /* of each node in listed; one more at the end */
	uint32_t *listed;
};

struct jit_table *
jit_table_new(void)
{
	struct jit_table *t = calloc(1, sizeof(*t));

	if (!t || array_reserve(t->names, 0, t->names_cap, 1) != 0) {
		free(t);
		return NULL;
	}
	t->names[t->names_len++] = 0;
	jit_table_limit(t, JIT_ENTRIES_MAX, JIT_NAMES_BYTES_MAX);
	return t;
}

void
jit_table_limit(struct jit_table *t, size_t entries, size_t names_bytes)
{
	t->entries_max = entries;
	t->names_max = names_bytes;
}

void
jit_table_free(struct jit_table *t)
{
	if (!t)
		return;
	free(t->entries);
	free(t->names);
	free(t->cuts);
	free(t->first);
	free(t->listed);
	free(t);
}

size_t
jit_table_count(const struct jit_table *t)
{
	return t->nr;
}

uint64_t
jit_table_left_out(const struct jit_table *t)
{
	return t->left_out;
}

/* --- filling ----------------------------------------------------------------------------- */

static int
put_entry(struct jit_table *t, uint64_t start, uint64_t size, uint64_t time_ns, uint32_t name)
{
	if (array_reserve(t->entries, t->nr, t->cap, 1) != 0)
		return -FMT_E_NOMEM;
	t->entries[t->nr] = (struct jit_entry){
		.start = start,
		.end = start + size,
		.time_ns = time_ns,
		.order = (uint32_t)t->nr,
		.name = name,
	};
	t->nr++;
	return 1;
}

static bool
has_room(struct jit_table *t, uint64_t start, uint64_t size, size_t name_bytes)
{
	if (start + size <= start)
		return false;
	if (t->nr < t->entries_max && name_bytes <= t->names_max - t->names_len)
		return true;
	t->left_out++;
	return false;
}

int
jit_table_add(struct jit_table *t, uint64_t start, uint64_t size, uint64_t time_ns,
	      const char *name, size_t len, uint32_t *ret)
{
	uint32_t at = 0;
	int r;

	len = len < JIT_NAME_MAX ? len : JIT_NAME_MAX;
	if (!has_room(t, start, size, len + 1))
		return 0;
	if (len > 0) {
		if (array_reserve(t->names, t->names_len, t->names_cap, len + 1) != 0)
			return -FMT_E_NOMEM;
		at = (uint32_t)t->names_len;
		memcpy(t->names + at, name, len);
		t->names[at + len] = 0;
	}
	r = put_entry(t, start, size, time_ns, at);
	if (r < 0)
		return r;
	t->names_len += len > 0 ? len + 1 : 0;
	if (ret)
		*ret = (uint32_t)t->nr - 1;
	return r;
}

int
jit_table_again(struct jit_table *t, uint64_t start, uint64_t size, uint64_t time_ns,
		uint32_t entry)
{
	if (!has_room(t, start, size, 0))
		return 0;
	return put_entry(t, start, size, time_ns, t->entries[entry].name);
}

/* --- settling ---------------------------------------------------------------------------- */

static int
compare_entries(const void *a, const void *b)
{
	const struct jit_entry *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static int
compare_cuts(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int
make_cuts(struct jit_table *t)
{
	size_t nr = 0;

	t->cuts = calloc(2 * t->nr, sizeof(*t->cuts));
	if (!t->cuts)
		return -FMT_E_NOMEM;
	for (size_t i = 0; i < t->nr; i++) {
		t->cuts[2 * i] = t->entries[i].start;
		t->cuts[2 * i + 1] = t->entries[i].end;
	}
	qsort(t->cuts, 2 * t->nr, sizeof(*t->cuts), compare_cuts);
	for (size_t i = 0; i < 2 * t->nr; i++)
		if (nr == 0 || t->cuts[nr - 1] != t->cuts[i])
			t->cuts[nr++] = t->cuts[i];
	t->nr_pieces = nr - 1;
	return 0;
}

/* The last cut at or before the address, which is not before the first. */
static size_t
piece_of(const struct jit_table *t, uint64_t address)
{
	size_t low = 0, high = t->nr_pieces + 1;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (t->cuts[middle] <= address)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Calls for each node of the entry: counts it, or, with a list, notes it there. */
static void
note_entry(struct jit_table *t, uint32_t number, bool counting)
{
	size_t l = piece_of(t, t->entries[number].start) + t->nr_pieces;
	size_t r = piece_of(t, t->entries[number].end) + t->nr_pieces;

	for (; l < r; l /= 2, r /= 2) {
		size_t nodes[2] = { l & 1 ? l++ : 0, r & 1 ? --r : 0 };

		for (int i = 0; i < 2; i++) {
			if (nodes[i] == 0)
				continue;
			if (counting)
				t->first[nodes[i]]++;
			else
				t->listed[t->first[nodes[i]]++] = number;
		}
	}
}

int
jit_table_settle(struct jit_table *t)
{
	const size_t n = t->nr;
	uint32_t sum = 0;
	size_t nodes;

	if (n == 0)
		return 0;
	qsort(t->entries, n, sizeof(*t->entries), compare_entries);
	if (make_cuts(t) != 0)
		return -FMT_E_NOMEM;
	nodes = 2 * t->nr_pieces;
	t->first = calloc(nodes + 1, sizeof(*t->first));
	if (!t->first)
		return -FMT_E_NOMEM;
	for (size_t i = 0; i < n; i++)
		note_entry(t, (uint32_t)i, true);
	for (size_t i = 0; i <= nodes; i++) {
		uint32_t here = t->first[i];

		t->first[i] = sum;
		sum += here;
	}
	t->listed = calloc(sum, sizeof(*t->listed));
	if (!t->listed)
		return -FMT_E_NOMEM;
	for (size_t i = 0; i < n; i++)
		note_entry(t, (uint32_t)i, false);
	/* Each now is where the next one begins. */
	memmove(t->first + 1, t->first, nodes * sizeof(*t->first));
	t->first[0] = 0;
	return 0;
}

/* --- searching --------------------------------------------------------------------------- */

/* How many entries are not younger. */
static uint32_t
entries_until(const struct jit_table *t, uint64_t time_ns)
{
	size_t low = 0, high = t->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->entries[middle].time_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return (uint32_t)low;
}

/* The greatest number below bound in a node's list, + 1; 0: there is none. */
static uint32_t
newest_in(const struct jit_table *t, size_t node, uint32_t bound)
{
	const uint32_t first = t->first[node];
	uint32_t low = first, high = t->first[node + 1];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (t->listed[middle] < bound)
			low = middle + 1;
		else
			high = middle;
	}
	return low > first ? t->listed[low - 1] + 1 : 0;
}

int
jit_table_each(const struct jit_table *t, uint64_t address,
	       int (*fn)(void *arg, const struct jit_range *range), void *arg)
{
	int r = 0;

	if (!t->listed || address < t->cuts[0] || address >= t->cuts[t->nr_pieces])
		return 0;
	for (size_t node = piece_of(t, address) + t->nr_pieces; node > 0; node /= 2) {
		for (uint32_t i = t->first[node]; r == 0 && i < t->first[node + 1]; i++) {
			const struct jit_entry *e = &t->entries[t->listed[i]];
			const struct jit_range range = { e->start,     e->end - e->start,
							 e->time_ns,   e->order,
							 t->listed[i], t->names + e->name };

			r = fn(arg, &range);
		}
	}
	return r;
}

bool
jit_table_find(const struct jit_table *t, uint64_t address, uint64_t time_ns,
	       struct jit_symbol *ret)
{
	const struct jit_entry *e;
	uint32_t bound, best = 0;

	if (!t->listed || address < t->cuts[0] || address >= t->cuts[t->nr_pieces])
		return false;
	bound = entries_until(t, time_ns);
	for (size_t node = piece_of(t, address) + t->nr_pieces; node > 0; node /= 2) {
		uint32_t found = newest_in(t, node, bound);

		best = found > best ? found : best;
	}
	if (best == 0 || t->entries[best - 1].name == 0)
		return false;
	e = &t->entries[best - 1];
	*ret = (struct jit_symbol){ e->start, e->end - e->start, e->order, t->names + e->name };
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/columns/columns_sort.h"

#include <stdbool.h>
#include <string.h>

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)
#define FEW 12	    /* that are sorted by insertion */
#define MANY 512    /* paths that are sorted by digits: comparing would mispredict too much */
#define KEY_WORDS 3 /* of a path that are compared at once, where as many have room in a key */

static inline unsigned int
digit(uint64_t key, unsigned int shift)
{
	return (unsigned int)(key >> shift) & (DIGITS - 1);
}

static void
sort_few_items(struct columns_sort_item *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct columns_sort_item moving = v[i];
		size_t at = i;

		for (; at > 0 && v[at - 1].key > moving.key; at--)
			v[at] = v[at - 1];
		v[at] = moving;
	}
}

/* Moves from to to, in the order of one digit. */
static void
sort_by_digit(const struct columns_sort_item *from, struct columns_sort_item *to, size_t n,
	      unsigned int shift)
{
	uint32_t count[DIGITS] = { 0 }, at = 0;

	for (size_t i = 0; i < n; i++)
		count[digit(from[i].key, shift)]++;
	for (unsigned int d = 0; d < DIGITS; d++) {
		uint32_t here = count[d];

		count[d] = at;
		at += here;
	}
	for (size_t i = 0; i < n; i++)
		to[count[digit(from[i].key, shift)]++] = from[i];
}

void
columns_sort_items(struct columns_sort_item *v, struct columns_sort_item *scratch, size_t n)
{
	struct columns_sort_item *from = v, *to = scratch, *swap;
	uint64_t differ = 0;

	if (n <= FEW) {
		sort_few_items(v, n);
		return;
	}
	for (size_t i = 1; i < n; i++)
		differ |= v[i].key ^ v[0].key;
	/* A digit begins where keys differ, so that bits that they have in common cost no pass. */
	for (unsigned int shift; differ; differ &= ~((uint64_t)(DIGITS - 1) << shift)) {
		shift = (unsigned int)__builtin_ctzll(differ);
		sort_by_digit(from, to, n, shift);
		swap = from;
		from = to;
		to = swap;
	}
	if (from != v)
		memcpy(v, from, n * sizeof(*v));
}

/* --- paths ------------------------------------------------------------------------------- */

/* Some paths that begin with the same words. */
struct part {
	struct columns_sort_item *items;
	size_t n;
	uint32_t depth; /* of the first word that is not known to be the same */
	bool loaded;	/* key has the words from there on */
};

/* Words of a path that a key has room for. */
static uint32_t
key_words(const struct columns_paths *paths)
{
	uint32_t room = 64 / (paths->bits + 1);

	return room < KEY_WORDS ? room : KEY_WORDS;
}

static bool
is_before(const struct columns_paths *paths, uint32_t number_a, uint32_t number_b, uint32_t depth)
{
	struct columns_path a = paths->v[number_a], b = paths->v[number_b];
	const uint32_t *x = paths->words + a.start, *y = paths->words + b.start;

	for (; depth < a.n && depth < b.n; depth++) {
		if (x[depth] != y[depth])
			return x[depth] < y[depth];
	}
	return a.n < b.n;
}

static void
sort_few_paths(const struct columns_paths *paths, struct part p)
{
	for (size_t i = 1; i < p.n; i++) {
		struct columns_sort_item moving = p.items[i];
		size_t at = i;

		for (; at > 0 && is_before(paths, moving.number, p.items[at - 1].number, p.depth);
		     at--)
			p.items[at] = p.items[at - 1];
		p.items[at] = moving;
	}
}

/* What is behind the end of a path is less than any word. */
static void
columns_sort_load(const struct columns_paths *paths, struct part *p)
{
	uint32_t end = p->depth + key_words(paths);

	for (size_t i = 0; i < p->n; i++) {
		struct columns_path path = paths->v[p->items[i].number];
		uint64_t key = 0;

		for (uint32_t k = p->depth; k < end; k++)
			key = key << (paths->bits + 1) |
				(k < path.n ? paths->words[path.start + k] + 1 : 0);
		p->items[i].key = key;
	}
	p->loaded = true;
}

static inline void
exchange(struct columns_sort_item *a, struct columns_sort_item *b)
{
	struct columns_sort_item was = *a;

	*a = *b;
	*b = was;
}

static uint64_t
median(uint64_t a, uint64_t b, uint64_t c)
{
	if (a < b)
		return b < c ? b : (a < c ? c : a);
	return a < c ? a : (b < c ? c : b);
}

/*
 * Splits a part by its keys: those less than a pivot, those equal to it (which go on some words
 * deeper: none of them ends here, since no two paths are equal), those greater.
 */
static void
columns_sort_split(const struct columns_paths *paths, struct part p, struct part ret[3])
{
	uint64_t pivot =
		median(p.items[p.n / 4].key, p.items[p.n / 2].key, p.items[p.n / 4 * 3].key);
	size_t less = 0, at = 0, greater = p.n;

	while (at < greater) {
		uint64_t key = p.items[at].key;

		if (key < pivot)
			exchange(&p.items[less++], &p.items[at++]);
		else if (key > pivot)
			exchange(&p.items[at], &p.items[--greater]);
		else
			at++;
	}
	ret[0] = (struct part){ p.items, less, p.depth, true };
	ret[1] = (struct part){ p.items + less, greater - less, p.depth + key_words(paths), false };
	ret[2] = (struct part){ p.items + greater, p.n - greater, p.depth, true };
}

static void sort_part(const struct columns_paths *paths, struct part p,
		      struct columns_sort_item *scratch);

/* Sorts a part but for the largest of its runs of one key, which it returns. */
static struct part
sort_many(const struct columns_paths *paths, struct part p, struct columns_sort_item *scratch)
{
	struct part largest = { 0 };
	size_t end;

	columns_sort_items(p.items, scratch, p.n);
	for (size_t i = 0; i < p.n; i = end) {
		uint64_t key = p.items[i].key;
		struct part run, other;

		for (end = i + 1; end < p.n && p.items[end].key == key; end++)
			continue;
		run = (struct part){ p.items + i, end - i, p.depth + key_words(paths), false };
		other = run.n > largest.n ? largest : run;
		largest = run.n > largest.n ? run : largest;
		if (other.n > 1)
			sort_part(paths, other, scratch);
	}
	return largest;
}

/* Likewise, by a pivot. */
static struct part
sort_some(const struct columns_paths *paths, struct part p, struct columns_sort_item *scratch)
{
	struct part parts[3];
	unsigned int largest = 0;

	columns_sort_split(paths, p, parts);
	for (unsigned int i = 1; i < 3; i++)
		largest = parts[i].n > parts[largest].n ? i : largest;
	for (unsigned int i = 0; i < 3; i++) {
		if (i != largest)
			sort_part(paths, parts[i], scratch);
	}
	return parts[largest];
}

/*
 * Multikey quicksort (Bentley, Sedgewick 1997), by digits while there are many. The largest part
 * is done by going on with it, so that the calls are as deep as the logarithm of n and no deeper,
 * however long the paths.
 */
static void
sort_part(const struct columns_paths *paths, struct part p, struct columns_sort_item *scratch)
{
	while (p.n > FEW) {
		if (!p.loaded)
			columns_sort_load(paths, &p);
		p = p.n > MANY ? sort_many(paths, p, scratch) : sort_some(paths, p, scratch);
	}
	sort_few_paths(paths, p);
}

void
columns_sort_paths(const struct columns_paths *paths, struct columns_sort_item *items,
		   struct columns_sort_item *scratch, size_t n)
{
	sort_part(paths, (struct part){ items, n, 0, false }, scratch);
}

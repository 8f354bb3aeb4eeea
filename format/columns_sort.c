/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/columns_sort.h"

#include <stdbool.h>
#include <string.h>

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)
#define PASSES 6 /* of 64 bits */
#define FEW 12	 /* that are sorted by insertion */
#define MANY 512 /* stacks that are sorted by digits: comparing would mispredict too much */

static inline unsigned int
digit(uint64_t key, unsigned int pass)
{
	return (unsigned int)(key >> (pass * DIGIT_BITS)) & (DIGITS - 1);
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
	      unsigned int pass)
{
	uint32_t count[DIGITS] = { 0 }, at = 0;

	for (size_t i = 0; i < n; i++)
		count[digit(from[i].key, pass)]++;
	for (unsigned int d = 0; d < DIGITS; d++) {
		uint32_t here = count[d];

		count[d] = at;
		at += here;
	}
	for (size_t i = 0; i < n; i++)
		to[count[digit(from[i].key, pass)]++] = from[i];
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
	for (unsigned int k = 0; k < PASSES; k++) {
		if (digit(differ, k) == 0)
			continue;
		sort_by_digit(from, to, n, k);
		swap = from;
		from = to;
		to = swap;
	}
	if (from != v)
		memcpy(v, from, n * sizeof(*v));
}

/* --- stacks ------------------------------------------------------------------------------ */

/* Some stacks that begin with the same words. */
struct part {
	struct columns_sort_item *items;
	size_t n;
	size_t depth; /* of the first word that is not known to be the same */
	bool loaded;  /* key is that word; 0 for a stack that ends before it */
};

static bool
is_before(const struct columns_stack *a, const struct columns_stack *b, size_t depth)
{
	size_t words_a = columns_stack_words(a), words_b = columns_stack_words(b);

	for (; depth < words_a && depth < words_b; depth++) {
		uint64_t x = columns_stack_word(a, depth), y = columns_stack_word(b, depth);

		if (x != y)
			return x < y;
	}
	return words_a < words_b;
}

static void
sort_few_stacks(const struct columns_stack *stacks, struct part p)
{
	for (size_t i = 1; i < p.n; i++) {
		struct columns_sort_item moving = p.items[i];
		size_t at = i;

		for (; at > 0 &&
		     is_before(&stacks[moving.number], &stacks[p.items[at - 1].number], p.depth);
		     at--)
			p.items[at] = p.items[at - 1];
		p.items[at] = moving;
	}
}

static void
load(const struct columns_stack *stacks, struct part *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct columns_stack *s = &stacks[p->items[i].number];

		p->items[i].key =
			p->depth < columns_stack_words(s) ? columns_stack_word(s, p->depth) : 0;
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

/* At most one stack ends here, since no two are equal; it goes first and is done with. */
static void
take_ended(const struct columns_stack *stacks, struct part *p)
{
	for (size_t i = 0; i < p->n; i++) {
		if (columns_stack_words(&stacks[p->items[i].number]) < p->depth) {
			exchange(&p->items[0], &p->items[i]);
			p->items++;
			p->n--;
			return;
		}
	}
}

/*
 * Splits a part by its keys: those less than a pivot, those equal to it (which go on one word
 * deeper), those greater.
 */
static void
split(const struct columns_stack *stacks, struct part p, struct part ret[3])
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
	ret[1] = (struct part){ p.items + less, greater - less, p.depth + 1, false };
	ret[2] = (struct part){ p.items + greater, p.n - greater, p.depth, true };
	if (pivot == 0)
		take_ended(stacks, &ret[1]);
}

static void sort_part(const struct columns_stack *stacks, struct part p,
		      struct columns_sort_item *scratch);

/* Sorts a part but for the largest of its runs of one key, which it returns. */
static struct part
sort_many(const struct columns_stack *stacks, struct part p, struct columns_sort_item *scratch)
{
	struct part largest = { 0 };
	size_t end;

	columns_sort_items(p.items, scratch, p.n);
	for (size_t i = 0; i < p.n; i = end) {
		uint64_t key = p.items[i].key;
		struct part run, other;

		for (end = i + 1; end < p.n && p.items[end].key == key; end++)
			continue;
		run = (struct part){ p.items + i, end - i, p.depth + 1, false };
		if (key == 0)
			take_ended(stacks, &run);
		other = run.n > largest.n ? largest : run;
		largest = run.n > largest.n ? run : largest;
		if (other.n > 1)
			sort_part(stacks, other, scratch);
	}
	return largest;
}

/* Likewise, by a pivot. */
static struct part
sort_some(const struct columns_stack *stacks, struct part p, struct columns_sort_item *scratch)
{
	struct part parts[3];
	unsigned int largest = 0;

	split(stacks, p, parts);
	for (unsigned int i = 1; i < 3; i++)
		largest = parts[i].n > parts[largest].n ? i : largest;
	for (unsigned int i = 0; i < 3; i++) {
		if (i != largest)
			sort_part(stacks, parts[i], scratch);
	}
	return parts[largest];
}

/*
 * Multikey quicksort (Bentley, Sedgewick 1997), by digits while there are many. The largest part
 * is done by going on with it, so that the calls are as deep as the logarithm of n and no deeper,
 * however long the stacks.
 */
static void
sort_part(const struct columns_stack *stacks, struct part p, struct columns_sort_item *scratch)
{
	while (p.n > FEW) {
		if (!p.loaded)
			load(stacks, &p);
		p = p.n > MANY ? sort_many(stacks, p, scratch) : sort_some(stacks, p, scratch);
	}
	sort_few_stacks(stacks, p);
}

void
columns_sort_stacks(const struct columns_stack *stacks, struct columns_sort_item *items,
		    struct columns_sort_item *scratch, size_t n)
{
	sort_part(stacks, (struct part){ items, n, 0, false }, scratch);
}

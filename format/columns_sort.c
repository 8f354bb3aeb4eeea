/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/columns_sort.h"

#include <stdbool.h>
#include <string.h>

#define DIGITS 256
#define KEY_BYTES 8
#define FEW 12 /* sequences that are sorted by insertion */

void
columns_sort_pairs(struct columns_sort_pair *v, struct columns_sort_pair *scratch, size_t n)
{
	struct columns_sort_pair *from = v, *to = scratch, *swap;
	uint32_t count[KEY_BYTES][DIGITS] = { { 0 } };

	for (size_t i = 0; i < n; i++) {
		for (unsigned int k = 0; k < KEY_BYTES; k++)
			count[k][v[i].key >> (8 * k) & 0xff]++;
	}
	for (unsigned int k = 0; k < KEY_BYTES && n > 0; k++) {
		uint32_t at = 0;

		if (count[k][v[0].key >> (8 * k) & 0xff] == n)
			continue;
		for (unsigned int d = 0; d < DIGITS; d++) {
			uint32_t here = count[k][d];

			count[k][d] = at;
			at += here;
		}
		for (size_t i = 0; i < n; i++)
			to[count[k][from[i].key >> (8 * k) & 0xff]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	if (from != v)
		memcpy(v, from, n * sizeof(*v));
}

/* The word at a depth, plus one; 0 behind the end, so that ends come first. */
static inline uint32_t
word_at(const struct columns_sequences *s, uint32_t sequence, uint32_t depth)
{
	uint32_t at = s->start[sequence] + depth;

	return at < s->start[sequence + 1] ? s->words[at] + 1 : 0;
}

/* Are the words of a from depth on before those of b? */
static bool
is_before(const struct columns_sequences *s, uint32_t a, uint32_t b, uint32_t depth)
{
	uint32_t x, y;

	do {
		x = word_at(s, a, depth);
		y = word_at(s, b, depth++);
	} while (x == y && x != 0);
	return x < y;
}

static void
sort_few(const struct columns_sequences *s, uint32_t *order, size_t n, uint32_t depth)
{
	for (size_t i = 1; i < n; i++) {
		uint32_t moving = order[i];
		size_t at = i;

		for (; at > 0 && is_before(s, moving, order[at - 1], depth); at--)
			order[at] = order[at - 1];
		order[at] = moving;
	}
}

static void
exchange(uint32_t *a, uint32_t *b)
{
	uint32_t was = *a;

	*a = *b;
	*b = was;
}

static uint32_t
median(uint32_t a, uint32_t b, uint32_t c)
{
	if (a < b)
		return b < c ? b : (a < c ? c : a);
	return a < c ? a : (b < c ? c : b);
}

struct part {
	uint32_t *order;
	size_t n;
	uint32_t depth;
};

/*
 * Splits a part by its words at one depth: those less than a pivot, those equal to it (which
 * go on one word deeper), those greater.
 */
static void
split(const struct columns_sequences *s, struct part p, struct part ret[3])
{
	uint32_t pivot = median(word_at(s, p.order[p.n / 4], p.depth),
				word_at(s, p.order[p.n / 2], p.depth),
				word_at(s, p.order[p.n / 4 * 3], p.depth));
	size_t less = 0, at = 0, greater = p.n;

	while (at < greater) {
		uint32_t word = word_at(s, p.order[at], p.depth);

		if (word < pivot)
			exchange(&p.order[less++], &p.order[at++]);
		else if (word > pivot)
			exchange(&p.order[at], &p.order[--greater]);
		else
			at++;
	}
	ret[0] = (struct part){ p.order, less, p.depth };
	ret[1] = (struct part){ p.order + less, pivot ? greater - less : 0, p.depth + 1 };
	ret[2] = (struct part){ p.order + greater, p.n - greater, p.depth };
}

/*
 * Multikey quicksort (Bentley, Sedgewick 1997). The largest part is done by going on with it, so
 * that the calls are as deep as the logarithm of n and no deeper, however long the sequences.
 */
static void
sort_part(const struct columns_sequences *s, struct part p)
{
	struct part parts[3];

	while (p.n > FEW) {
		unsigned int largest = 0;

		split(s, p, parts);
		for (unsigned int i = 1; i < 3; i++)
			largest = parts[i].n > parts[largest].n ? i : largest;
		for (unsigned int i = 0; i < 3; i++) {
			if (i != largest)
				sort_part(s, parts[i]);
		}
		p = parts[largest];
	}
	sort_few(s, p.order, p.n, p.depth);
}

/* The first words of a sequence as one number that sorts as they do. */
static uint64_t
key_of(const struct columns_sequences *s, uint32_t sequence, unsigned int depth)
{
	unsigned int bits = 64 / depth;
	uint64_t key = 0;

	for (uint32_t i = 0; i < depth; i++) {
		uint32_t word = word_at(s, sequence, i);

		if (!word)
			return key << bits * (depth - i);
		key = key << bits | word;
	}
	return key;
}

/* By the first words first, all at once, which tells most sequences apart. */
void
columns_sort_sequences(const struct columns_sequences *s, struct columns_sort_pair *scratch,
		       uint32_t *order, size_t n)
{
	unsigned int depth = s->limit < UINT32_C(1) << 64 / 3 ? 3 : 2;
	size_t end;

	for (uint32_t i = 0; i < n; i++)
		scratch[i] = (struct columns_sort_pair){ key_of(s, i, depth), i };
	columns_sort_pairs(scratch, scratch + n, n);
	for (size_t i = 0; i < n; i++)
		order[i] = scratch[i].number;
	for (size_t i = 0; i < n; i = end) {
		uint64_t key = scratch[i].key;

		for (end = i + 1; end < n && scratch[end].key == key; end++)
			continue;
		if (end - i > 1)
			sort_part(s, (struct part){ order + i, end - i, depth });
	}
}

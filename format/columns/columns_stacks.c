/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/columns/columns_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "format/columns/columns_wire.h"

#define STACKS_MIN 256
#define WORDS_MIN 4096
#define REGION_BITS 22 /* frames lie in few regions of so many bits */

void
columns_stacks_init(struct columns_stacks *t, uint64_t key)
{
	*t = (struct columns_stacks){ .key = key };
	for (unsigned int i = 0; i < COLUMNS_STACKS_KEYS; i++)
		t->keys[i] = key = product_fold(key, key | 1) ^ (key << 32);
	columns_tuples_init(&t->frames, 1, product_fold(key, key | 1));
	columns_tuples_init(&t->regions, 1, product_fold(key, key | 1));
}

void
columns_stacks_done(struct columns_stacks *t)
{
	free(t->v);
	free(t->path);
	columns_slots_done(&t->slots);
	free(t->words);
	columns_tuples_done(&t->frames);
	columns_tuples_done(&t->regions);
	free(t->items);
	free(t->rank);
	free(t->frame_rank);
	free(t->follower);
	columns_words_done(&t->gaps);
	columns_words_done(&t->shared);
	columns_words_done(&t->length);
	columns_words_done(&t->first);
	columns_words_done(&t->runs);
	columns_words_done(&t->strays);
	columns_stacks_init(t, t->key);
}

/* Makes room for n things, keeping those that there are. */
static bool
keep_room(void *pp, size_t *cap, size_t n, size_t size)
{
	void *p;

	if (n <= *cap)
		return true;
	p = reallocarray(*(void **)pp, n, size);
	if (!p)
		return false;
	*(void **)pp = p;
	*cap = n;
	return true;
}

/* Likewise, of which none need be kept. */
static bool
make_room(void *pp, size_t *cap, size_t n, size_t size)
{
	if (n <= *cap)
		return true;
	free(*(void **)pp);
	*(void **)pp = NULL;
	*cap = 0;
	return keep_room(pp, cap, n + n / 4, size);
}

bool
columns_stacks_clear(struct columns_stacks *t)
{
	size_t had = t->n;

	t->n = t->nr_words = 0;
	return columns_slots_clear(&t->slots, had) && columns_tuples_clear(&t->frames);
}

/* --- collecting -------------------------------------------------------------------------- */

/*
 * Sums of products of two words (NH, of UMAC): the products do not wait for one another, as each
 * step of a chain of them would.
 */
static uint64_t
hash_of(const struct columns_stacks *t, const struct columns_stack *s)
{
	const uint8_t *p = s->chain.p;
	uint64_t h = (s->ip + t->keys[0]) ^ s->chain.len;
	size_t left = span_words(s->chain);
	struct product sum = product_of(s->head ^ t->key, h | 1);

	for (;;) {
		size_t words = left < COLUMNS_STACKS_KEYS ? left : COLUMNS_STACKS_KEYS, i;

		for (i = 0; i + 2 <= words; i += 2)
			product_add(&sum,
				    product_of(le64dec(p + 8 * i) + t->keys[i],
					       le64dec(p + 8 * i + 8) + t->keys[i + 1]));
		if (i < words)
			product_add(&sum, product_of(le64dec(p + 8 * i), t->keys[i]));
		h = product_fold(h ^ sum.low ^ sum.high, t->key | 1);
		left -= words;
		if (left == 0)
			return h;
		p += 8 * words;
	}
}

static bool
same_stack(const struct columns_stack *a, const struct columns_stack *b)
{
	return a->hash == b->hash && a->head == b->head && a->ip == b->ip &&
		a->chain.len == b->chain.len &&
		(a->chain.len == 0 || memcmp(a->chain.p, b->chain.p, a->chain.len) == 0);
}

static bool
columns_stacks_grow(struct columns_stacks *t)
{
	size_t cap = t->n ? t->n * 2 : STACKS_MIN;

	if (t->n * 2 >= t->slots.nr) {
		if (!columns_slots_make(&t->slots, t->slots.nr * 4))
			return false;
		for (size_t i = 0; i < t->n; i++)
			columns_slots_enter(&t->slots, t->v[i].hash, (uint32_t)i);
	}
	return t->n < t->cap ||
		(keep_room(&t->path, &t->cap_path, cap, sizeof(*t->path)) &&
		 keep_room(&t->v, &t->cap, cap, sizeof(*t->v)));
}

/* Numbers the frames of a stack that is new, while its record is at hand. */
static bool
add_path(struct columns_stacks *t, const struct columns_stack *s)
{
	size_t words = span_words(s->chain), need = t->nr_words + words + 2, n = t->nr_words;
	uint32_t last;

	if (need > t->cap_words &&
	    !keep_room(&t->words, &t->cap_words, need * 2 + WORDS_MIN, sizeof(*t->words)))
		return false;
	last = t->words[n++] = columns_tuples_add_word(&t->frames, s->head);
	if (last != COLUMNS_TUPLES_NONE && s->head & COLUMNS_HEAD_IP)
		last = t->words[n++] = columns_tuples_add_word(&t->frames, s->ip);
	for (size_t i = 0; i < words && last != COLUMNS_TUPLES_NONE; i++)
		last = t->words[n++] = columns_tuples_add_word(&t->frames, span_word(s->chain, i));
	t->path[t->n] = (struct columns_path){ (uint32_t)t->nr_words, (uint32_t)(n - t->nr_words) };
	t->nr_words = n;
	return last != COLUMNS_TUPLES_NONE;
}

uint32_t
columns_stacks_add(struct columns_stacks *t, struct columns_stack *s)
{
	struct columns_slots *slots = &t->slots;
	size_t at;

	if ((t->n == t->cap || t->n * 2 >= slots->nr) && !columns_stacks_grow(t))
		return COLUMNS_TUPLES_NONE;
	s->hash = hash_of(t, s);
	for (at = columns_slots_first(slots, s->hash); slots->v[at];
	     at = columns_slots_next(slots, at)) {
		if (same_stack(&t->v[slots->v[at] - 1], s))
			return slots->v[at] - 1;
	}
	if (!add_path(t, s))
		return COLUMNS_TUPLES_NONE;
	t->v[t->n] = *s;
	slots->v[at] = (uint32_t)++t->n;
	return (uint32_t)t->n - 1;
}

/* --- sorting and writing ------------------------------------------------------------------ */

/*
 * Writes a stack that comes after last. run is the number of frames since the last stray that
 * their follower foretold; it is not known whether the next one is until the last was looked at,
 * so there are no branches to mispredict.
 */
static void
write_stack(struct columns_stacks *t, struct columns_path last, struct columns_path p,
	    uint32_t *run)
{
	const uint32_t *a = t->words + last.start, *w = t->words + p.start;
	uint64_t *strays = t->strays.v, *runs = t->runs.v;
	uint32_t shared = 0, foretold = *run;
	size_t n = t->strays.n;

	while (shared < last.n && a[shared] == w[shared])
		shared++;
	columns_words_push(&t->shared, shared);
	columns_words_push(&t->length, p.n - shared - 1);
	columns_words_push(&t->first, w[shared] - (shared < last.n ? a[shared] : 0));
	if (shared > 0)
		t->follower[w[shared - 1]] = w[shared];
	for (uint32_t i = shared + 1; i < p.n; i++) {
		uint32_t *follower = &t->follower[w[i - 1]];
		bool stray = *follower != w[i];

		*follower = w[i];
		strays[n] = w[i];
		runs[n] = foretold;
		n += stray;
		foretold = stray ? 0 : foretold + 1;
	}
	t->strays.n = t->runs.n = n;
	*run = foretold;
}

/* All stacks in their order. */
static bool
write_stacks(struct columns_stacks *t)
{
	struct columns_path last = { 0 };
	uint32_t run = 0;

	t->shared.n = t->length.n = t->first.n = t->runs.n = t->strays.n = 0;
	if (!columns_words_reserve(&t->shared, t->n) || !columns_words_reserve(&t->length, t->n) ||
	    !columns_words_reserve(&t->first, t->n) ||
	    !columns_words_reserve(&t->runs, t->nr_words) ||
	    !columns_words_reserve(&t->strays, t->nr_words) ||
	    !make_room(&t->follower, &t->cap_follower, t->frames.n + 1, sizeof(*t->follower)))
		return false;
	/* What nothing is known of is followed by the least frame. */
	memset(t->follower, 0, t->frames.n * sizeof(*t->follower));
	for (size_t i = 0; i < t->n; i++) {
		struct columns_path p = t->path[t->items[i].number];

		write_stack(t, last, p, &run);
		t->rank[t->items[i].number] = (uint32_t)i;
		last = p;
	}
	return true;
}

/*
 * The keys of frames: ranks of regions instead of upper bits. That leaves half of the passes over
 * all frames.
 */
static bool
make_keys(struct columns_stacks *t)
{
	struct columns_tuples *regions = &t->regions;
	size_t n = t->frames.n;

	if (!columns_tuples_clear(regions))
		return false;
	for (size_t i = 0; i < n; i++) {
		t->frame_rank[i] =
			columns_tuples_add_word(regions, t->frames.words.v[i] >> REGION_BITS);
		if (t->frame_rank[i] == COLUMNS_TUPLES_NONE)
			return false;
	}
	for (size_t i = 0; i < regions->n; i++)
		t->items[i] = (struct columns_sort_item){ regions->words.v[i], (uint32_t)i };
	columns_sort_items(t->items, t->items + n, regions->n);
	for (size_t i = 0; i < regions->n; i++)
		regions->words.v[t->items[i].number] = i;
	for (size_t i = 0; i < n; i++) {
		uint64_t low = t->frames.words.v[i] & ((1u << REGION_BITS) - 1);

		t->items[i] = (struct columns_sort_item){
			regions->words.v[t->frame_rank[i]] << REGION_BITS | low, (uint32_t)i
		};
	}
	return true;
}

/* Numbers of frames become ranks. */
static bool
sort_frames(struct columns_stacks *t)
{
	size_t n = t->frames.n;
	uint64_t last = 0;

	if (!make_room(&t->frame_rank, &t->cap_frame_rank, n, sizeof(*t->frame_rank)) ||
	    !make_keys(t))
		return false;
	t->gaps.n = 0;
	if (!columns_words_reserve(&t->gaps, n))
		return false;
	columns_sort_items(t->items, t->items + n, n);
	for (size_t i = 0; i < n; i++) {
		uint32_t number = t->items[i].number;
		uint64_t frame = t->frames.words.v[number];

		t->frame_rank[number] = (uint32_t)i;
		columns_words_push(&t->gaps, frame - last);
		last = frame;
	}
	for (size_t i = 0; i < t->nr_words; i++)
		t->words[i] = t->frame_rank[t->words[i]];
	return true;
}

bool
columns_stacks_sort(struct columns_stacks *t, const uint32_t **ret_rank)
{
	size_t most = t->n > t->frames.n ? t->n : t->frames.n;
	struct columns_paths paths;

	if (!make_room(&t->items, &t->cap_items, 2 * most + 1, sizeof(*t->items)) ||
	    !make_room(&t->rank, &t->cap_rank, t->n + 1, sizeof(*t->rank)) || !sort_frames(t))
		return false;
	paths = (struct columns_paths){ t->words, t->path, 0 };
	while (t->frames.n >> paths.bits > 0)
		paths.bits++;
	for (size_t i = 0; i < t->n; i++)
		t->items[i].number = (uint32_t)i;
	columns_sort_paths(&paths, t->items, t->items + t->n, t->n);
	*ret_rank = t->rank;
	return write_stacks(t);
}

void
columns_stacks_put(const struct columns_stacks *t, struct columns_out *out)
{
	columns_ints_put(out, t->gaps.v, t->gaps.n);
	columns_ints_put(out, t->shared.v, t->shared.n);
	columns_ints_put(out, t->length.v, t->length.n);
	columns_ints_put(out, t->first.v, t->first.n);
	columns_ints_put(out, t->runs.v, t->runs.n);
	columns_ints_put(out, t->strays.v, t->strays.n);
}

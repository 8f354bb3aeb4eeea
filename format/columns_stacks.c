/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/columns_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "format/columns_wire.h"

#define SLOTS_MIN 256
#define STACKS_MIN 256

void
columns_stacks_init(struct columns_stacks *t, uint64_t key)
{
	*t = (struct columns_stacks){ .key = key };
	columns_tuples_init(&t->frames, 1, columns_mix(key, key | 1));
}

void
columns_stacks_done(struct columns_stacks *t)
{
	free(t->v);
	free(t->slots);
	columns_tuples_done(&t->frames);
	free(t->items);
	free(t->rank);
	free(t->frame_rank);
	free(t->follower);
	free(t->path);
	columns_words_done(&t->gaps);
	columns_words_done(&t->shared);
	columns_words_done(&t->length);
	columns_words_done(&t->first);
	columns_words_done(&t->before);
	columns_words_done(&t->runs);
	columns_words_done(&t->strays);
	columns_stacks_init(t, t->key);
}

/* Makes room for n things that need not be kept. */
static bool
make_room(void *pp, size_t *cap, size_t n, size_t size)
{
	void *p;

	if (n <= *cap)
		return true;
	n += n / 4;
	p = reallocarray(NULL, n, size);
	if (!p)
		return false;
	free(*(void **)pp);
	*(void **)pp = p;
	*cap = n;
	return true;
}

static bool
make_slots(struct columns_stacks *t, size_t nr)
{
	if (!make_room(&t->slots, &t->cap_slots, nr, sizeof(*t->slots)))
		return false;
	memset(t->slots, 0, nr * sizeof(*t->slots));
	t->nr_slots = nr;
	return true;
}

bool
columns_stacks_clear(struct columns_stacks *t)
{
	t->n = 0;
	return make_slots(t, SLOTS_MIN);
}

/* --- collecting -------------------------------------------------------------------------- */

static uint64_t
hash_of(const struct columns_stacks *t, const struct columns_stack *s)
{
	uint64_t k = t->key | 1, a = columns_mix(s->head ^ t->key, k),
		 b = columns_mix(s->ip ^ a, k);
	size_t words = span_words(s->chain), i;

	for (i = 0; i + 2 <= words; i += 2) {
		a = columns_mix(a ^ span_word(s->chain, i), k);
		b = columns_mix(b ^ span_word(s->chain, i + 1), k);
	}
	if (i < words)
		a = columns_mix(a ^ span_word(s->chain, i), k);
	return columns_mix(a ^ (b << 32 | b >> 32), k);
}

static bool
same_stack(const struct columns_stack *a, const struct columns_stack *b)
{
	return a->hash == b->hash && a->head == b->head && a->ip == b->ip &&
		a->chain.len == b->chain.len &&
		(a->chain.len == 0 || memcmp(a->chain.p, b->chain.p, a->chain.len) == 0);
}

static bool
grow(struct columns_stacks *t)
{
	size_t cap = t->cap ? t->cap * 2 : STACKS_MIN;
	struct columns_stack *v;

	if (t->n * 2 >= t->nr_slots) {
		if (!make_slots(t, t->nr_slots * 4))
			return false;
		for (size_t i = 0; i < t->n; i++) {
			size_t at = t->v[i].hash & (t->nr_slots - 1);

			while (t->slots[at])
				at = (at + 1) & (t->nr_slots - 1);
			t->slots[at] = (uint32_t)i + 1;
		}
	}
	if (t->n < t->cap)
		return true;
	v = reallocarray(t->v, cap, sizeof(*v));
	if (!v)
		return false;
	t->v = v;
	t->cap = cap;
	return true;
}

uint32_t
columns_stacks_add(struct columns_stacks *t, struct columns_stack *s)
{
	size_t at;

	if ((t->n == t->cap || t->n * 2 >= t->nr_slots) && !grow(t))
		return COLUMNS_TUPLES_NONE;
	s->lead = s->head & COLUMNS_HEAD_IP ? 2 : 1;
	s->hash = hash_of(t, s);
	for (at = s->hash & (t->nr_slots - 1); t->slots[at]; at = (at + 1) & (t->nr_slots - 1)) {
		if (same_stack(&t->v[t->slots[at] - 1], s))
			return t->slots[at] - 1;
	}
	t->v[t->n] = *s;
	t->slots[at] = (uint32_t)++t->n;
	return (uint32_t)t->n - 1;
}

/* --- sorting and writing ------------------------------------------------------------------ */

static uint32_t
shared_words(const struct columns_stack *a, const struct columns_stack *b)
{
	size_t words_a = columns_stack_words(a), words_b = columns_stack_words(b);
	size_t words = words_a < words_b ? words_a : words_b, i = 0;

	while (i < words && columns_stack_word(a, i) == columns_stack_word(b, i))
		i++;
	return (uint32_t)i;
}

/* The number of a frame. What followers know of it is nothing, when it is new. */
static bool
number_frame(struct columns_stacks *t, uint64_t word, uint32_t *ret)
{
	size_t known = t->frames.n;

	*ret = columns_tuples_add(&t->frames, &word);
	if (t->frames.n > known)
		t->follower[*ret == COLUMNS_TUPLES_NONE ? known : *ret] = COLUMNS_TUPLES_NONE;
	return *ret != COLUMNS_TUPLES_NONE;
}

/*
 * Writes a stack, of which path has those frames that it shares with the one before. run is the
 * number of frames since the last stray that their follower foretold.
 */
static bool
write_stack(struct columns_stacks *t, const struct columns_stack *s, uint32_t shared,
	    uint32_t before, uint32_t *run)
{
	uint32_t words = (uint32_t)columns_stack_words(s), *path = t->path;
	bool ok = number_frame(t, columns_stack_word(s, shared), &path[shared]);

	columns_words_push(&t->shared, shared);
	columns_words_push(&t->length, words - shared - 1);
	columns_words_push(&t->first, path[shared]);
	columns_words_push(&t->before, before);
	if (ok && shared > 0)
		t->follower[path[shared - 1]] = path[shared];
	for (uint32_t i = shared + 1; i < words && ok; i++) {
		uint64_t word = columns_stack_word(s, i);
		uint32_t *follower = &t->follower[path[i - 1]];

		if (*follower != COLUMNS_TUPLES_NONE && t->frames.words.v[*follower] == word) {
			path[i] = *follower;
			++*run;
			continue;
		}
		ok = number_frame(t, word, &path[i]);
		if (*follower == COLUMNS_TUPLES_NONE && word == 0) {
			*follower = path[i];
			++*run;
			continue;
		}
		*follower = path[i];
		ok = columns_words_add(&t->strays, path[i]) && ok;
		ok = columns_words_add(&t->runs, *run) && ok;
		*run = 0;
	}
	return ok;
}

/* All stacks in their order, with frames by number. */
static bool
write_stacks(struct columns_stacks *t)
{
	const struct columns_stack *last = NULL;
	uint32_t run = 0;
	bool ok = true;

	t->shared.n = t->length.n = t->first.n = t->before.n = t->runs.n = t->strays.n = 0;
	if (!columns_words_reserve(&t->shared, t->n) || !columns_words_reserve(&t->length, t->n) ||
	    !columns_words_reserve(&t->first, t->n) || !columns_words_reserve(&t->before, t->n))
		return false;
	for (size_t i = 0; i < t->n && ok; i++) {
		const struct columns_stack *s = &t->v[t->items[i].number];
		uint32_t shared = last ? shared_words(last, s) : 0;
		bool differs = last && shared < columns_stack_words(last);

		ok = write_stack(t, s, shared, differs ? t->path[shared] : COLUMNS_TUPLES_NONE,
				 &run);
		t->rank[t->items[i].number] = (uint32_t)i;
		last = s;
	}
	return ok;
}

/* Numbers of frames become ranks. */
static bool
sort_frames(struct columns_stacks *t)
{
	size_t n = t->frames.n;
	uint64_t last = 0;

	if (!make_room(&t->items, &t->cap_items, 2 * n + 1, sizeof(*t->items)) ||
	    !make_room(&t->frame_rank, &t->cap_frame_rank, n, sizeof(*t->frame_rank)))
		return false;
	t->gaps.n = 0;
	if (!columns_words_reserve(&t->gaps, n))
		return false;
	for (size_t i = 0; i < n; i++)
		t->items[i] = (struct columns_sort_item){ t->frames.words.v[i], (uint32_t)i };
	columns_sort_items(t->items, t->items + n, n);
	for (size_t i = 0; i < n; i++) {
		t->frame_rank[t->items[i].number] = (uint32_t)i;
		t->gaps.v[t->gaps.n++] = t->items[i].key - last;
		last = t->items[i].key;
	}
	for (size_t i = 0; i < t->n; i++) {
		t->first.v[i] = t->frame_rank[t->first.v[i]];
		if (t->before.v[i] != COLUMNS_TUPLES_NONE)
			t->first.v[i] -= t->frame_rank[t->before.v[i]];
	}
	for (size_t i = 0; i < t->strays.n; i++)
		t->strays.v[i] = t->frame_rank[t->strays.v[i]];
	return true;
}

bool
columns_stacks_sort(struct columns_stacks *t, const uint32_t **ret_rank)
{
	size_t words = 0, most = 0, n;

	for (size_t i = 0; i < t->n; i++) {
		n = columns_stack_words(&t->v[i]);
		words += n;
		most = n > most ? n : most;
	}
	/* There are no more frames than words. */
	if (!make_room(&t->items, &t->cap_items, 2 * t->n + 1, sizeof(*t->items)) ||
	    !make_room(&t->rank, &t->cap_rank, t->n + 1, sizeof(*t->rank)) ||
	    !make_room(&t->follower, &t->cap_follower, words, sizeof(*t->follower)) ||
	    !make_room(&t->path, &t->cap_path, most, sizeof(*t->path)) ||
	    !columns_tuples_clear(&t->frames))
		return false;
	for (size_t i = 0; i < t->n; i++)
		t->items[i].number = (uint32_t)i;
	columns_sort_stacks(t->v, t->items, t->items + t->n, t->n);
	*ret_rank = t->rank;
	return write_stacks(t) && sort_frames(t);
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

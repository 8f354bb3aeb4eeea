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
	free(t->pairs);
	free(t->words);
	free(t->index);
	columns_words_done(&t->gaps);
	columns_words_done(&t->shared);
	columns_words_done(&t->length);
	columns_words_done(&t->first);
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
	s->hash = hash_of(t, s);
	for (at = s->hash & (t->nr_slots - 1); t->slots[at]; at = (at + 1) & (t->nr_slots - 1)) {
		if (same_stack(&t->v[t->slots[at] - 1], s))
			return t->slots[at] - 1;
	}
	t->v[t->n] = *s;
	t->slots[at] = (uint32_t)++t->n;
	return (uint32_t)t->n - 1;
}

/* --- sorting ----------------------------------------------------------------------------- */

static uint32_t *
start_of(const struct columns_stacks *t)
{
	return t->index;
}

static uint32_t *
order_of(const struct columns_stacks *t)
{
	return t->index + t->n + 1;
}

static uint32_t *
rank_of(const struct columns_stacks *t)
{
	return t->index + 2 * t->n + 1;
}

static uint32_t *
followers_of(const struct columns_stacks *t)
{
	return t->index + 3 * t->n + 1;
}

static bool
number_frame(struct columns_stacks *t, uint64_t word, uint32_t *ret)
{
	*ret = columns_tuples_add(&t->frames, &word);
	return *ret != COLUMNS_TUPLES_NONE;
}

/* All words of all stacks, as numbers of frames; and where each stack begins. */
static bool
number_frames(struct columns_stacks *t)
{
	uint32_t at = 0, *start = start_of(t);

	for (size_t i = 0; i < t->n; i++) {
		const struct columns_stack *s = &t->v[i];

		start[i] = at;
		if (!number_frame(t, s->head, &t->words[at++]))
			return false;
		if ((s->head & COLUMNS_HEAD_IP) && !number_frame(t, s->ip, &t->words[at++]))
			return false;
		for (size_t k = 0; k < span_words(s->chain); k++) {
			if (!number_frame(t, span_word(s->chain, k), &t->words[at++]))
				return false;
		}
	}
	start[t->n] = at;
	return true;
}

/* Numbers become ranks. */
static bool
sort_frames(struct columns_stacks *t)
{
	size_t n = t->frames.n;
	uint32_t words = start_of(t)[t->n], *rank = followers_of(t);
	uint64_t before = 0;

	if (!make_room(&t->pairs, &t->cap_pairs, 2 * n, sizeof(*t->pairs)))
		return false;
	for (size_t i = 0; i < n; i++)
		t->pairs[i] = (struct columns_sort_pair){ t->frames.words.v[i], (uint32_t)i };
	columns_sort_pairs(t->pairs, t->pairs + n, n);
	t->gaps.n = 0;
	if (!columns_words_reserve(&t->gaps, n))
		return false;
	for (size_t i = 0; i < n; i++) {
		rank[t->pairs[i].number] = (uint32_t)i;
		t->gaps.v[t->gaps.n++] = t->pairs[i].key - before;
		before = t->pairs[i].key;
	}
	for (uint32_t i = 0; i < words; i++)
		t->words[i] = rank[t->words[i]];
	return true;
}

static bool
add_word(struct columns_words *w, uint64_t v, bool ok)
{
	return columns_words_add(w, v) && ok;
}

/* What a stack has behind what it shares with the one before. */
static bool
write_stack(struct columns_stacks *t, const uint32_t *w, uint32_t length, uint32_t shared,
	    uint32_t before, uint32_t *run)
{
	uint32_t *followers = followers_of(t);
	bool ok = true;

	ok = add_word(&t->shared, shared, ok);
	ok = add_word(&t->length, length - shared - 1, ok);
	ok = add_word(&t->first, w[shared] - before, ok);
	for (uint32_t i = shared > 0 ? shared : 1; i < length; i++) {
		uint32_t *follower = &followers[w[i - 1]];

		if (i > shared) {
			if (*follower == w[i]) {
				++*run;
				continue;
			}
			ok = add_word(&t->strays, w[i], ok);
			ok = add_word(&t->runs, *run, ok);
			*run = 0;
		}
		*follower = w[i];
	}
	return ok;
}

static bool
write_stacks(struct columns_stacks *t)
{
	const uint32_t *start = start_of(t), *order = order_of(t), *last = NULL;
	uint32_t last_length = 0, run = 0;
	bool ok = true;

	t->shared.n = t->length.n = t->first.n = t->runs.n = t->strays.n = 0;
	memset(followers_of(t), 0, t->frames.n * sizeof(uint32_t));
	for (size_t i = 0; i < t->n && ok; i++) {
		const uint32_t *w = t->words + start[order[i]];
		uint32_t length = start[order[i] + 1] - start[order[i]], shared = 0;

		while (shared < last_length && w[shared] == last[shared])
			shared++;
		ok = write_stack(t, w, length, shared, shared < last_length ? last[shared] : 0,
				 &run);
		last = w;
		last_length = length;
	}
	return ok;
}

static size_t
count_words(const struct columns_stacks *t)
{
	size_t words = 0;

	for (size_t i = 0; i < t->n; i++)
		words += 2 + span_words(t->v[i].chain);
	return words;
}

bool
columns_stacks_sort(struct columns_stacks *t, const uint32_t **ret_rank)
{
	size_t words = count_words(t);
	uint32_t *order, *rank;

	/* There are no more frames than words. */
	if (!make_room(&t->words, &t->cap_words, words, sizeof(*t->words)) ||
	    !make_room(&t->index, &t->cap_index, 3 * t->n + 1 + words, sizeof(*t->index)) ||
	    !columns_tuples_clear(&t->frames) || !number_frames(t) || !sort_frames(t) ||
	    !make_room(&t->pairs, &t->cap_pairs, 2 * t->n, sizeof(*t->pairs)))
		return false;
	order = order_of(t);
	rank = rank_of(t);
	columns_sort_sequences(&(struct columns_sequences){ t->words, start_of(t),
							    (uint32_t)t->frames.n },
			       t->pairs, order, t->n);
	for (size_t i = 0; i < t->n; i++)
		rank[order[i]] = (uint32_t)i;
	*ret_rank = rank;
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

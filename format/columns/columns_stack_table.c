/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/columns/columns_stack_table.h"

#include <stdlib.h>

#include "format/bytes/fmt_error.h"

struct stack_reader {
	struct columns_stack_table *t;
	struct columns_ints shared, length, first, runs, strays;
	uint32_t *followers; /* 1 + the frame that came after each frame, the last time; 0: none */
	uint64_t run;	     /* words yet to come that are foretold; UINT64_MAX: all */
	size_t words_max;
};

void
columns_stack_table_done(struct columns_stack_table *t)
{
	free(t->frames);
	free(t->words);
	free(t->start);
	*t = (struct columns_stack_table){ 0 };
}

static int
take_frames(struct columns_stack_table *t, struct span *s)
{
	struct columns_ints gaps;
	uint64_t frame = 0;
	int error = columns_ints_take(s, t->nr_frames, &gaps);

	/* The column becomes the table: frames are sums of what is between them. */
	for (uint32_t i = 0; !error && i < t->nr_frames; i++)
		gaps.v[i] = frame += gaps.v[i];
	t->frames = gaps.v;
	return error;
}

static bool
next_run(struct stack_reader *r)
{
	r->run = UINT64_MAX;
	return r->runs.at == r->runs.n || columns_ints_next(&r->runs, &r->run);
}

/* One word that is neither shared nor the first behind what is. */
static bool
next_word(struct stack_reader *r, uint32_t before, uint32_t *ret)
{
	uint64_t word;

	if (r->run > 0) {
		r->run -= r->run < UINT64_MAX;
		/* Nothing yet: the least frame, which the first encoder meant whatever it was. */
		*ret = r->followers[before] ? r->followers[before] - 1 : 0;
		return true;
	}
	if (!columns_ints_next(&r->strays, &word) || word >= r->t->nr_frames || !next_run(r))
		return false;
	*ret = (uint32_t)word;
	return true;
}

/* Stack i, whose words come behind those of i - 1. */
static bool
take_stack(struct stack_reader *r, uint32_t i)
{
	struct columns_stack_table *t = r->t;
	uint32_t start = t->start[i], last = i > 0 ? t->start[i - 1] : 0,
		 last_length = start - last;
	uint32_t *w = t->words + start;
	uint64_t shared, length, first;

	if (!columns_ints_next(&r->shared, &shared) || !columns_ints_next(&r->length, &length) ||
	    !columns_ints_next(&r->first, &first) || shared > last_length ||
	    length >= r->words_max - start || shared + 1 > r->words_max - start - length)
		return false;
	length += shared + 1;
	for (uint32_t k = 0; k < shared; k++)
		w[k] = t->words[last + k];
	if (shared < last_length)
		first += t->words[last + shared];
	if (first >= t->nr_frames)
		return false;
	w[shared] = (uint32_t)first;
	if (shared > 0)
		r->followers[w[shared - 1]] = w[shared] + 1;
	for (uint32_t k = (uint32_t)shared + 1; k < length; k++) {
		if (!next_word(r, w[k - 1], &w[k]))
			return false;
		r->followers[w[k - 1]] = w[k] + 1;
	}
	t->start[i + 1] = start + (uint32_t)length;
	return true;
}

static int
take_stacks(struct stack_reader *r, struct span *s)
{
	struct columns_stack_table *t = r->t;
	int error = columns_ints_take(s, t->nr_stacks, &r->shared);

	if (!error)
		error = columns_ints_take(s, t->nr_stacks, &r->length);
	if (!error)
		error = columns_ints_take(s, t->nr_stacks, &r->first);
	if (!error)
		error = columns_ints_take(s, t->nr_strays, &r->runs);
	if (!error)
		error = columns_ints_take(s, t->nr_strays, &r->strays);
	if (error)
		return error;
	if (!next_run(r))
		return -FMT_E_CORRUPT;
	for (uint32_t i = 0; i < t->nr_stacks; i++) {
		if (!take_stack(r, i))
			return -FMT_E_CORRUPT;
	}
	return 0;
}

static void
stack_reader_done(struct stack_reader *r)
{
	columns_ints_done(&r->shared);
	columns_ints_done(&r->length);
	columns_ints_done(&r->first);
	columns_ints_done(&r->runs);
	columns_ints_done(&r->strays);
	free(r->followers);
}

int
columns_stack_table_take(struct columns_stack_table *t, struct span *s, size_t words_max)
{
	struct stack_reader r = { .t = t, .words_max = words_max };
	int error;

	if (words_max > UINT32_MAX || t->nr_frames > words_max || t->nr_stacks > words_max)
		return -FMT_E_CORRUPT;
	error = take_frames(t, s);
	if (error)
		return error;
	t->words = reallocarray(NULL, words_max + 1, sizeof(*t->words));
	t->start = calloc((size_t)t->nr_stacks + 1, sizeof(*t->start));
	r.followers = calloc((size_t)t->nr_frames + 1, sizeof(*r.followers));
	error = -FMT_E_NOMEM;
	if (t->words && t->start && r.followers)
		error = take_stacks(&r, s);
	stack_reader_done(&r);
	return error;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/code/annotation.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"

/* A sampled frame with its weight, of one event. */
struct leaf {
	const struct frame *frame;
	int event;
	struct profile_weight weight;
};

struct annotation {
	struct annotation_function *functions;
	size_t nr_functions;
	struct annotation_unknown *unknowns;
	size_t nr_unknowns;
	struct annotation_hit *hits;
};

static int
compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int
compare_names(const char *a, const char *b)
{
	if (a == b || !a || !b)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

static uint64_t
start_of(const struct frame *f)
{
	return f->vaddr - f->symbol_offset;
}

/* Two paths of one file are one object; of what has no file, the name tells. */
static int
compare_objects(const struct frame *a, const struct frame *b)
{
	if (a->object || b->object)
		return compare_numbers((uintptr_t)a->object, (uintptr_t)b->object);
	return compare_names(a->dso_path, b->dso_path);
}

/* 0: both are in one function, or both in none of the same object for the same reason. */
static int
compare_groups(const struct leaf *a, const struct leaf *b)
{
	int c = (a->event > b->event) - (a->event < b->event);

	if (c == 0)
		c = (a->frame->symbol == NULL) - (b->frame->symbol == NULL);
	if (c == 0)
		c = compare_objects(a->frame, b->frame);
	if (c != 0)
		return c;
	if (!a->frame->symbol)
		return compare_numbers(a->frame->miss, b->frame->miss);
	c = compare_numbers(start_of(a->frame), start_of(b->frame));
	return c ? c : compare_names(a->frame->symbol, b->frame->symbol);
}

static int
compare_leaves(const void *va, const void *vb)
{
	const struct leaf *a = va, *b = vb;
	int c = compare_groups(a, b);

	return c ? c : compare_numbers(a->frame->vaddr, b->frame->vaddr);
}

static int
compare_weights(const struct profile_weight *a, const struct profile_weight *b)
{
	int c = compare_numbers(b->period, a->period);

	return c ? c : compare_numbers(b->samples, a->samples);
}

static int
compare_functions(const void *va, const void *vb)
{
	const struct annotation_function *a = va, *b = vb;
	int c = (a->event > b->event) - (a->event < b->event);

	if (c == 0)
		c = compare_weights(&a->weight, &b->weight);
	if (c == 0)
		c = compare_names(a->frame.symbol, b->frame.symbol);
	if (c == 0)
		c = compare_names(a->frame.dso_path, b->frame.dso_path);
	return c ? c : compare_numbers(a->start, b->start);
}

static int
compare_unknowns(const void *va, const void *vb)
{
	const struct annotation_unknown *a = va, *b = vb;
	int c = (a->event > b->event) - (a->event < b->event);

	if (c == 0)
		c = compare_weights(&a->weight, &b->weight);
	if (c == 0)
		c = compare_names(a->frame.dso_path, b->frame.dso_path);
	return c ? c : compare_numbers(a->frame.miss, b->frame.miss);
}

static void
add_weight(struct profile_weight *w, const struct profile_weight *more)
{
	w->samples += more->samples;
	w->period += more->period;
}

/* The leaves are sorted: those of a group, and of an address in it, stand together. */
static void
add_leaf(struct annotation *a, const struct leaf *l, bool first, size_t *nr_hits)
{
	struct annotation_function *f;

	if (!l->frame->symbol) {
		if (first)
			a->unknowns[a->nr_unknowns++] =
				(struct annotation_unknown){ .frame = *l->frame,
							     .event = l->event };
		add_weight(&a->unknowns[a->nr_unknowns - 1].weight, &l->weight);
		return;
	}
	if (first)
		a->functions[a->nr_functions++] =
			(struct annotation_function){ .frame = *l->frame,
						      .event = l->event,
						      .start = start_of(l->frame),
						      .hits = &a->hits[*nr_hits] };
	f = &a->functions[a->nr_functions - 1];
	add_weight(&f->weight, &l->weight);
	if (f->nr_hits == 0 || a->hits[*nr_hits - 1].address != l->frame->vaddr) {
		a->hits[(*nr_hits)++] = (struct annotation_hit){ .address = l->frame->vaddr };
		f->nr_hits++;
	}
	add_weight(&a->hits[*nr_hits - 1].weight, &l->weight);
}

int
annotation_build(const struct profile *p, struct annotation **ret)
{
	const size_t nr = profile_stacks(p);
	struct leaf *leaves = calloc(nr + 1, sizeof(*leaves));
	struct annotation *a = calloc(1, sizeof(*a));
	size_t nr_hits = 0;

	if (a) {
		a->functions = calloc(nr + 1, sizeof(*a->functions));
		a->unknowns = calloc(nr + 1, sizeof(*a->unknowns));
		a->hits = calloc(nr + 1, sizeof(*a->hits));
	}
	if (!leaves || !a || !a->functions || !a->unknowns || !a->hits) {
		free(leaves);
		annotation_free(a);
		return -FMT_E_NOMEM;
	}
	for (size_t i = 0; i < nr; i++) {
		struct profile_stack s;

		profile_stack_at(p, i, &s);
		leaves[i] = (struct leaf){ profile_frame(p, s.frames[0]), s.event, s.weight };
	}
	qsort(leaves, nr, sizeof(*leaves), compare_leaves);
	for (size_t i = 0; i < nr; i++)
		add_leaf(a, &leaves[i], i == 0 || compare_groups(&leaves[i - 1], &leaves[i]) != 0,
			 &nr_hits);
	free(leaves);
	qsort(a->functions, a->nr_functions, sizeof(*a->functions), compare_functions);
	qsort(a->unknowns, a->nr_unknowns, sizeof(*a->unknowns), compare_unknowns);
	*ret = a;
	return 0;
}

void
annotation_free(struct annotation *a)
{
	if (!a)
		return;
	free(a->functions);
	free(a->unknowns);
	free(a->hits);
	free(a);
}

size_t
annotation_functions(const struct annotation *a)
{
	return a->nr_functions;
}

const struct annotation_function *
annotation_function_at(const struct annotation *a, size_t i)
{
	return &a->functions[i];
}

size_t
annotation_unknowns(const struct annotation *a)
{
	return a->nr_unknowns;
}

const struct annotation_unknown *
annotation_unknown_at(const struct annotation *a, size_t i)
{
	return &a->unknowns[i];
}

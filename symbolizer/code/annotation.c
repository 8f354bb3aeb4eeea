/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/code/annotation.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/object/object_store.h"
#include "symbolizer/unwind/cfi.h"

#define NEAR_BYTES                                                                                 \
	256 /* code without a symbol that was sampled so close together is shown as one */

/* A sampled frame with its weight, of one event. */
struct leaf {
	const struct frame *frame;
	int event;
	struct profile_weight weight;
	bool in_code;	     /* without a symbol, but its object's code is here */
	uint64_t start, end; /* of the function; end 0: not known */
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
		c = a->in_code - b->in_code;
	if (c == 0)
		c = compare_objects(a->frame, b->frame);
	if (c != 0)
		return c;
	if (!a->frame->symbol && !a->in_code)
		return compare_numbers(a->frame->miss, b->frame->miss);
	c = compare_numbers(a->start, b->start);
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

	if (!l->frame->symbol && !l->in_code) {
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
						      .start = l->start,
						      .end = l->end,
						      .unnamed = l->in_code,
						      .hits = &a->hits[*nr_hits] };
	f = &a->functions[a->nr_functions - 1];
	add_weight(&f->weight, &l->weight);
	if (f->nr_hits == 0 || a->hits[*nr_hits - 1].address != l->frame->vaddr) {
		a->hits[(*nr_hits)++] = (struct annotation_hit){ .address = l->frame->vaddr };
		f->nr_hits++;
	}
	add_weight(&a->hits[*nr_hits - 1].weight, &l->weight);
}

/* --- code without a symbol ------------------------------------------------------------------ */

/* NULL: there is none. */
static struct cfi *
cfi_of(const struct object *o)
{
	struct elf_object *elf = NULL;
	struct cfi *cfi = NULL;
	int fd = fcntl(o->code_fd, F_DUPFD_CLOEXEC, 0);

	if (fd >= 0 && elf_object_open(fd, &elf) == 0 && cfi_new(elf, NULL, &cfi) < 0)
		cfi = NULL;
	elf_object_close(elf);
	return cfi;
}

/*
 * The leaves of an object, by address: *i is the next of its functions in the call frame information. prev: the leaf
 * before in the same object and event, or NULL.
 */
static void
place_leaf(struct leaf *l, const struct leaf *prev, const struct cfi *cfi, size_t *i)
{
	const uint64_t address = l->frame->vaddr;
	struct cfi_function f;

	while (cfi && cfi_function(cfi, *i, &f) && f.end <= address)
		++*i;
	if (cfi && cfi_function(cfi, *i, &f) && f.start <= address) {
		l->start = f.start;
		l->end = f.end;
	} else {
		const bool near = prev && prev->end == 0 &&
			address - prev->frame->vaddr <= NEAR_BYTES;

		l->start = near ? prev->start : address;
	}
}

/* Sorted by event, object and address: which functions those are in that have no symbol. */
static void
place_leaves(struct leaf *leaves, size_t nr)
{
	const struct object *object = NULL;
	struct cfi *cfi = NULL;
	size_t at = 0;

	for (size_t i = 0; i < nr; i++) {
		struct leaf *l = &leaves[i];
		const struct leaf *prev = i > 0 && l[-1].in_code && l[-1].event == l->event &&
				l[-1].frame->object == l->frame->object
			? &l[-1]
			: NULL;

		if (!l->in_code)
			continue;
		if (object != l->frame->object) {
			cfi_free(cfi);
			object = l->frame->object;
			cfi = cfi_of(object);
		}
		if (!prev)
			at = 0;
		place_leaf(l, prev, cfi, &at);
	}
	cfi_free(cfi);
}

static void
take_leaf(struct leaf *l, const struct frame *f, int event, const struct profile_weight *weight)
{
	*l = (struct leaf){ .frame = f, .event = event, .weight = *weight };
	l->in_code = !f->symbol && !f->kernel && f->miss == RESOLVE_NO_SYMBOL && f->object &&
		f->object->code_fd >= 0;
	if (f->symbol)
		l->start = f->vaddr - f->symbol_offset;
}

static void
name_functions(struct annotation *a)
{
	for (size_t i = 0; i < a->nr_functions; i++) {
		struct annotation_function *f = &a->functions[i];

		if (!f->unnamed)
			continue;
		snprintf(f->name, sizeof(f->name), "%#" PRIx64, f->start);
		f->frame.symbol = f->name;
	}
}

bool
annotation_function_has(const struct annotation_function *f, uint64_t address)
{
	return address >= f->start &&
		(address < f->end || address <= f->hits[f->nr_hits - 1].address);
}

/* --- all of it ------------------------------------------------------------------------------- */

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
		take_leaf(&leaves[i], profile_frame(p, s.frames[0]), s.event, &s.weight);
	}
	/* All of an object have no start yet: they are in the order of their addresses. */
	qsort(leaves, nr, sizeof(*leaves), compare_leaves);
	place_leaves(leaves, nr);
	qsort(leaves, nr, sizeof(*leaves), compare_leaves);
	for (size_t i = 0; i < nr; i++)
		add_leaf(a, &leaves[i], i == 0 || compare_groups(&leaves[i - 1], &leaves[i]) != 0,
			 &nr_hits);
	free(leaves);
	qsort(a->functions, a->nr_functions, sizeof(*a->functions), compare_functions);
	name_functions(a);
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

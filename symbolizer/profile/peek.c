/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/peek.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/slots.h"

/* A call that one of the functions makes (callee), or is the callee of. */
struct edge {
	uint32_t function; /* its index */
	uint32_t other;	   /* frame */
	bool callee;
	size_t stamp; /* the last stack (its index + 1) that was counted */
	struct profile_weight weight;
};

struct peek {
	const struct profile *profile;
	struct frame_regex *regex;
	struct peek_function *functions;
	size_t nr_functions, cap_functions;
	struct slots function_slots; /* by frame; until they are sorted */
	size_t *stamps;		     /* by function, as of edges */
	size_t cap_stamps;
	struct edge *edges;
	size_t nr_edges, cap_edges;
	struct slots edge_slots;
	struct peek_call *calls;
	struct profile_weight whole;
};

static bool
edge_same(const void *owner, uint32_t index, const void *key)
{
	const struct edge *a = &((const struct peek *)owner)->edges[index], *b = key;

	return a->function == b->function && a->other == b->other && a->callee == b->callee;
}

/* What a stack says of a call, the first time it does. */
static int
count_call(struct peek *k, uint32_t function, uint32_t other, bool callee,
	   const struct profile_weight *w, size_t stamp)
{
	const struct edge key = { .function = function, .other = other, .callee = callee };
	uint64_t hash = slots_mix(slots_mix(function, other), callee);
	uint32_t i;
	int err = slots_keep(&k->edge_slots, (uint32_t)hash, edge_same, k, &key, k->edges,
			     k->nr_edges, k->cap_edges, &i);

	if (err < 0)
		return err;
	if (k->edges[i].stamp != stamp)
		profile_weigh(&k->edges[i].weight, w);
	k->edges[i].stamp = stamp;
	return 0;
}

static bool
function_same(const void *owner, uint32_t index, const void *key)
{
	const struct peek_function *a = &((const struct peek *)owner)->functions[index], *b = key;

	return a->frame == b->frame;
}

/* The function of a frame, if it is found: 1 with *ret its index; 0; -FMT_E_NOMEM. */
static int
find_function(struct peek *k, uint32_t frame, uint32_t *ret)
{
	const struct peek_function key = { .frame = frame };
	int found = frame_regex_finds(k->regex, k->profile, frame), err;

	if (found <= 0)
		return found;
	err = array_reserve(k->stamps, k->nr_functions, k->cap_stamps, 1);
	if (err < 0)
		return err;
	k->stamps[k->nr_functions] = 0; /* if it is a new one */
	err = slots_keep(&k->function_slots, (uint32_t)slots_mix(frame, 0), function_same, k, &key,
			 k->functions, k->nr_functions, k->cap_functions, ret);
	return err < 0 ? err : 1;
}

static int
count_stack(struct peek *k, const struct profile_stack *s, size_t stamp)
{
	profile_weigh(&k->whole, &s->weight);
	for (uint32_t i = 0; i < s->nr_frames; i++) {
		const uint32_t frame = s->frames[i];
		uint32_t function = 0;
		int found = find_function(k, frame, &function), err = 0;

		if (found < 0)
			return found;
		if (found == 0)
			continue;
		if (i == 0)
			profile_weigh(&k->functions[function].self, &s->weight);
		if (k->stamps[function] != stamp)
			profile_weigh(&k->functions[function].total, &s->weight);
		k->stamps[function] = stamp;
		if (i > 0 && s->frames[i - 1] != frame)
			err = count_call(k, function, s->frames[i - 1], true, &s->weight, stamp);
		if (err == 0 && i + 1 < s->nr_frames && s->frames[i + 1] != frame)
			err = count_call(k, function, s->frames[i + 1], false, &s->weight, stamp);
		if (err < 0)
			return err;
	}
	return 0;
}

static int
compare_weights(const struct profile_weight *a, const struct profile_weight *b)
{
	if (a->period != b->period)
		return a->period < b->period ? 1 : -1;
	return (a->samples < b->samples) - (a->samples > b->samples);
}

/* What has no name comes first among equals. */
static int
compare_names(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int
compare_frames(const struct profile *p, uint32_t fa, uint32_t fb)
{
	const struct frame *a = profile_frame(p, fa), *b = profile_frame(p, fb);
	int c = compare_names(a->symbol, b->symbol);

	if (c == 0)
		c = compare_names(a->dso_path, b->dso_path);
	if (c == 0)
		c = (a->miss > b->miss) - (a->miss < b->miss);
	return c ? c : (fa > fb) - (fa < fb);
}

static int
compare_functions(const void *va, const void *vb, void *arg)
{
	const struct peek_function *a = va, *b = vb;
	int c = compare_weights(&a->total, &b->total);

	if (c == 0)
		c = compare_weights(&a->self, &b->self);
	return c ? c : compare_frames(arg, a->frame, b->frame);
}

/* By function, its callers first. */
static int
compare_edges(const void *va, const void *vb, void *arg)
{
	const struct edge *a = va, *b = vb;
	int c = (a->function > b->function) - (a->function < b->function);

	if (c == 0)
		c = a->callee - b->callee;
	if (c == 0)
		c = compare_weights(&a->weight, &b->weight);
	return c ? c : compare_frames(arg, a->other, b->other);
}

/* Calls in order, and which of them are whose. */
static int
sort_calls(struct peek *k)
{
	k->calls = calloc(k->nr_edges + 1, sizeof(*k->calls));
	if (!k->calls)
		return -FMT_E_NOMEM;
	if (k->nr_edges)
		qsort_r(k->edges, k->nr_edges, sizeof(*k->edges), compare_edges,
			(void *)(uintptr_t)k->profile);
	for (size_t i = 0; i < k->nr_edges; i++) {
		const struct edge *e = &k->edges[i];
		struct peek_function *f = &k->functions[e->function];

		k->calls[i] = (struct peek_call){ e->other, e->weight };
		if (e->callee ? f->nr_callees++ == 0 : f->nr_callers++ == 0)
			*(e->callee ? &f->first_callee : &f->first_caller) = i;
	}
	if (k->nr_functions)
		qsort_r(k->functions, k->nr_functions, sizeof(*k->functions), compare_functions,
			(void *)(uintptr_t)k->profile);
	return 0;
}

int
peek_new(const struct profile *p, int event, struct frame_regex *re, struct peek **ret)
{
	struct peek *k = calloc(1, sizeof(*k));
	struct profile_stack s;
	int err = 0;

	if (!k)
		return -FMT_E_NOMEM;
	k->profile = p;
	k->regex = re;
	for (uint32_t i = profile_first_stack(p, event); err == 0 && i != PROFILE_NO_STACK;
	     i = profile_next_stack(p, i)) {
		profile_stack_at(p, i, &s);
		err = count_stack(k, &s, (size_t)i + 1);
	}
	if (err == 0)
		err = sort_calls(k);
	if (err == 0)
		*ret = k;
	else
		peek_free(k);
	return err;
}

void
peek_free(struct peek *k)
{
	if (!k)
		return;
	slots_done(&k->function_slots);
	free(k->functions);
	free(k->stamps);
	free(k->edges);
	slots_done(&k->edge_slots);
	free(k->calls);
	free(k);
}

struct profile_weight
peek_whole(const struct peek *k)
{
	return k->whole;
}

size_t
peek_functions(const struct peek *k)
{
	return k->nr_functions;
}

const struct peek_function *
peek_function(const struct peek *k, size_t i)
{
	return &k->functions[i];
}

const struct peek_call *
peek_call(const struct peek *k, size_t i)
{
	return &k->calls[i];
}

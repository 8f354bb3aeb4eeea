/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/time_series.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/slots.h"

/* A row that is found, before it is known whether it is among the heaviest. */
struct found {
	const char *name;
	uint32_t number;
	uint64_t named_by; /* the heaviest bucket: whose command a process is shown with */
	struct profile_weight weight;
	uint32_t rank; /* in the order of rows */
};

struct time_series {
	struct time_series_options options;
	struct found *found;
	size_t nr_found, cap_found;
	struct slots found_slots;
	uint32_t *found_of; /* by stack of the event, in their order */
	size_t nr_stacks, cap_stacks;
	struct time_series_row *rows; /* then others, then all */
	size_t nr_rows;
	struct profile_weight *cells;
};

static const struct {
	const char *name, *title;
} keys[] = {
#define X(name, title, what) { #name, title },
	TIME_SERIES_KEYS(X)
#undef X
};

enum time_series_key
time_series_key_of(const char *name)
{
	int key = 0;

	if (strcmp(name, "symbol") == 0)
		return TIME_SERIES_sym;
	if (strcmp(name, "service") == 0)
		return TIME_SERIES_unit;
	while (key < TIME_SERIES_KEYS_MAX && strcmp(name, keys[key].name) != 0)
		key++;
	return (enum time_series_key)key;
}

const char *
time_series_key_name(enum time_series_key key)
{
	assert(key < TIME_SERIES_KEYS_MAX);
	return keys[key].name;
}

const char *
time_series_key_title(enum time_series_key key)
{
	return key < TIME_SERIES_KEYS_MAX ? keys[key].title : "All";
}

void
time_series_profile_options(enum time_series_key key, bool or_comm, struct profile_options *ret)
{
	const bool of_place = key == TIME_SERIES_dso || key == TIME_SERIES_sym;

	ret->by_time = true;
	ret->by_unit = key == TIME_SERIES_unit;
	ret->by_cgroup = key == TIME_SERIES_cgroup;
	ret->by_pid = key == TIME_SERIES_pid;
	ret->by_cpu = key == TIME_SERIES_cpu;
	ret->any_comm = key != TIME_SERIES_comm && key != TIME_SERIES_pid && !or_comm;
	ret->leaf_only = true;
	ret->no_places = !of_place && !(ret->filter && filter_by_leaf(ret->filter));
}

/* --- rows -------------------------------------------------------------------------------- */

static uint64_t
weigh(const struct time_series_options *o, const struct profile_weight *w)
{
	return o->by_samples ? w->samples : w->period;
}

static bool
found_same(const void *owner, uint32_t index, const void *key)
{
	const struct time_series *s = owner;
	const struct found *a = &s->found[index], *b = key;

	return a->number == b->number && (a->name == b->name || s->options.key == TIME_SERIES_pid);
}

static uint32_t
found_hash(const struct time_series *s, const struct found *f)
{
	const uintptr_t name = s->options.key == TIME_SERIES_pid ? 0 : (uintptr_t)f->name;

	return (uint32_t)slots_mix(slots_mix(name, f->number), 0);
}

/* What a stack is of. */
static void
find_key(const struct time_series *s, const struct profile_stack *stack, const struct frame *leaf,
	 struct found *ret)
{
	switch (s->options.key) {
	case TIME_SERIES_unit:
		ret->name = stack->unit;
		break;
	case TIME_SERIES_cgroup:
		ret->name = stack->cgroup;
		break;
	case TIME_SERIES_comm:
		ret->name = stack->comm;
		break;
	case TIME_SERIES_pid:
		ret->name = stack->comm;
		ret->number = stack->pid;
		break;
	case TIME_SERIES_dso:
		ret->name = leaf->dso;
		break;
	case TIME_SERIES_sym:
		ret->name = frame_label(leaf);
		ret->number = leaf->kernel;
		break;
	case TIME_SERIES_cpu:
		ret->number = stack->cpu;
		break;
	default:
		break;
	}
}

static void
name_process(struct found *f, const char *comm, uint64_t weight)
{
	if (weight < f->named_by || (weight == f->named_by && strcmp(f->name, comm) <= 0))
		return;
	f->name = comm;
	f->named_by = weight;
}

static int
find_rows(struct time_series *s, const struct profile *p)
{
	struct profile_stack stack;
	int err = 0;

	for (uint32_t i = profile_first_stack(p, s->options.event); i != PROFILE_NO_STACK;
	     i = profile_next_stack(p, i)) {
		struct found key = { .number = 0 };
		uint32_t row;

		profile_stack_at(p, i, &stack);
		find_key(s, &stack, profile_frame(p, stack.frames[0]), &key);
		err = slots_keep(&s->found_slots, found_hash(s, &key), found_same, s, &key,
				 s->found, s->nr_found, s->cap_found, &row);
		if (err == 0)
			err = array_reserve(s->found_of, s->nr_stacks, s->cap_stacks, 1);
		if (err)
			break;
		s->found_of[s->nr_stacks++] = row;
		profile_weigh(&s->found[row].weight, &stack.weight);
		if (s->options.key == TIME_SERIES_pid)
			name_process(&s->found[row], stack.comm, weigh(&s->options, &stack.weight));
	}
	return err;
}

static int
compare_found(const void *va, const void *vb, void *arg)
{
	const struct time_series *s = arg;
	const struct found *a = &s->found[*(const uint32_t *)va];
	const struct found *b = &s->found[*(const uint32_t *)vb];
	const uint64_t wa = weigh(&s->options, &a->weight), wb = weigh(&s->options, &b->weight);
	int c = (wa < wb) - (wa > wb);

	if (c == 0 && a->name && b->name)
		c = strcmp(a->name, b->name);
	else if (c == 0)
		c = !a->name - !b->name;
	return c ? c : (a->number > b->number) - (a->number < b->number);
}

/* --- cells ------------------------------------------------------------------------------- */

static int
make_rows(struct time_series *s)
{
	const size_t max = s->options.rows_max, columns = s->options.nr;
	uint32_t *order = calloc(s->nr_found + 1, sizeof(*order));
	size_t all;

	s->nr_rows = s->nr_found < max ? s->nr_found : max;
	all = s->nr_rows + 2;
	if (columns > TIME_SERIES_CELLS_MAX / all) {
		free(order);
		return -FMT_E_TOO_BIG;
	}
	s->rows = calloc(all, sizeof(*s->rows));
	s->cells = calloc(all * columns + 1, sizeof(*s->cells));
	if (!order || !s->rows || !s->cells) {
		free(order);
		return -FMT_E_NOMEM;
	}
	for (uint32_t i = 0; i < s->nr_found; i++)
		order[i] = i;
	if (s->nr_found)
		qsort_r(order, s->nr_found, sizeof(*order), compare_found, s);
	for (uint32_t i = 0; i < s->nr_found; i++) {
		struct found *f = &s->found[order[i]];

		f->rank = i;
		if (i < s->nr_rows) {
			s->rows[i].name = f->name;
			s->rows[i].number = f->number;
		}
	}
	for (size_t i = 0; i < all; i++)
		s->rows[i].cells = &s->cells[i * columns];
	free(order);
	return 0;
}

static void
add_to_row(struct time_series_row *row, uint64_t column, const struct profile_weight *w)
{
	profile_weigh(&row->weight, w);
	profile_weigh(&row->cells[column], w);
}

static void
fill_cells(struct time_series *s, const struct profile *p)
{
	const struct time_series_options *o = &s->options;
	struct time_series_row *others = &s->rows[s->nr_rows], *all = others + 1;
	struct profile_stack stack;
	size_t n = 0;

	for (uint32_t i = profile_first_stack(p, o->event); i != PROFILE_NO_STACK;
	     i = profile_next_stack(p, i)) {
		uint64_t column;
		uint32_t rank;

		profile_stack_at(p, i, &stack);
		column = (stack.time - o->from) / o->per;
		assert(stack.time >= o->from && column < o->nr);
		rank = s->found[s->found_of[n++]].rank;
		add_to_row(rank < s->nr_rows ? &s->rows[rank] : others, column, &stack.weight);
		add_to_row(all, column, &stack.weight);
	}
	for (size_t i = 0; i < s->nr_rows; i++)
		s->rows[i].members = 1;
	others->members = s->nr_found - s->nr_rows;
	all->members = s->nr_found;
}

int
time_series_build(const struct profile *p, const struct time_series_options *o,
		  struct time_series **ret)
{
	struct time_series *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -FMT_E_NOMEM;
	s->options = *o;
	err = find_rows(s, p);
	if (err == 0)
		err = make_rows(s);
	if (err) {
		time_series_free(s);
		return err;
	}
	fill_cells(s, p);
	free(s->found_of);
	s->found_of = NULL;
	*ret = s;
	return 0;
}

void
time_series_free(struct time_series *s)
{
	if (!s)
		return;
	free(s->found);
	slots_done(&s->found_slots);
	free(s->found_of);
	free(s->rows);
	free(s->cells);
	free(s);
}

size_t
time_series_rows(const struct time_series *s)
{
	return s->nr_rows;
}

const struct time_series_row *
time_series_row_at(const struct time_series *s, size_t i)
{
	assert(i < s->nr_rows);
	return &s->rows[i];
}

const struct time_series_row *
time_series_others(const struct time_series *s)
{
	return &s->rows[s->nr_rows];
}

const struct time_series_row *
time_series_all(const struct time_series *s)
{
	return &s->rows[s->nr_rows + 1];
}

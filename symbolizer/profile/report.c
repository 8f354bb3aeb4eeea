/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/report.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/slots.h"

struct report {
	struct report_options options;
	struct report_row *rows;
	size_t nr_rows, cap_rows;
	struct slots row_slots;
	/* By the number of a row, as many as there are keys, in the order of the keys. */
	struct report_value *values;
	size_t cap_values;
	int8_t value_of[REPORT_KEYS_MAX];	     /* which of them is a key's; -1: none */
	enum report_column ordered[REPORT_KEYS_MAX]; /* the keys, as they are in the table */
	/* By row: the last stack (its index + 1) that was added to total. */
	size_t *stamps;
	size_t cap_stamps;
	uint32_t *numbers; /* see report_numbers() */
	size_t nr_numbers, cap_numbers;
	struct report_section *sections;
	size_t nr_sections, cap_sections;
	/* By event + 1: the index of its section + 1. */
	size_t *section_of;
	size_t nr_section_of, cap_section_of;
	struct report_unknown *unknowns;
	size_t nr_unknowns, cap_unknowns;
	struct slots unknown_slots;
};

static struct report_value *
row_values(const struct report *r, const struct report_row *row)
{
	return &r->values[row->number * r->options.keys.n];
}

static bool
row_same(const void *owner, uint32_t index, const void *key)
{
	const struct report *r = owner;
	const struct report_row *a = &r->rows[index], *b = key;
	const struct report_value *va = row_values(r, a), *vb = row_values(r, b);
	bool same = a->event == b->event;

	for (size_t i = 0; i < r->options.keys.n && same; i++)
		same = va[i].text == vb[i].text && va[i].number == vb[i].number;
	return same;
}

static uint32_t
row_hash(const struct report *r, const struct report_row *row)
{
	const struct report_value *v = row_values(r, row);
	uint64_t h = (uint64_t)row->event;

	for (size_t i = 0; i < r->options.keys.n; i++)
		h = slots_mix(h, (uintptr_t)v[i].text ^ v[i].number);
	return (uint32_t)slots_mix(h, 0);
}

/* The frame of an address of its samples, by whichever of two keys asks for it. */
static const struct frame *
detail_frame(const struct profile *p, const struct profile_stack *s, enum sample_detail one,
	     enum sample_detail other)
{
	const struct frame *f = profile_detail_frame(p, s, one);

	return f ? f : profile_detail_frame(p, s, other);
}

#define DETAIL(name) .number = profile_detail(p, s, SAMPLE_DETAIL_##name)

static struct report_value
key_value(enum report_column key, const struct profile *p, const struct profile_stack *s,
	  const struct frame *f, const char *parent)
{
	static const struct frame none;
	const struct frame *data = NULL, *from = NULL;

	if (s->details) {
		data = detail_frame(p, s, SAMPLE_DETAIL_symbol_daddr, SAMPLE_DETAIL_dso_daddr);
		from = detail_frame(p, s, SAMPLE_DETAIL_symbol_from, SAMPLE_DETAIL_dso_from);
	}
	data = data ? data : &none;
	from = from ? from : &none;
	switch (key) {
#define X(name, title, number, help, ...)                                                          \
	case REPORT_##name:                                                                        \
		return (struct report_value){ __VA_ARGS__ };
		REPORT_KEYS(X)
#undef X
	default:
		return (struct report_value){ 0 };
	}
}

/* The row of one frame of a stack, new or known. */
static int
find_row(struct report *r, const struct profile *p, const struct profile_stack *s,
	 const struct frame *f, const char *parent, size_t *ret)
{
	const struct report_list *keys = &r->options.keys;
	const size_t known = r->nr_rows;
	const struct report_row key = { .event = s->event, .number = (uint32_t)known };
	uint32_t i;
	int err = array_reserve(r->stamps, known, r->cap_stamps, 1);

	/* Its values stand behind the last row's; they stay there when it is new. */
	if (err == 0)
		err = array_reserve(r->values, known * keys->n, r->cap_values, keys->n);
	if (err < 0)
		return err;
	for (size_t k = 0; k < keys->n; k++)
		row_values(r, &key)[k] = key_value(keys->v[k], p, s, f, parent);
	err = slots_keep(&r->row_slots, row_hash(r, &key), row_same, r, &key, r->rows, r->nr_rows,
			 r->cap_rows, &i);
	if (err < 0)
		return err;
	if (i == known)
		r->stamps[i] = 0;
	*ret = i;
	return 0;
}

/* The symbol of the function that --parent names, in perf's words where there is none. */
static int
find_parent(const struct report *r, const struct profile *p, const struct profile_stack *s,
	    const char **ret)
{
	uint32_t frame = 0;
	int found = 0;

	if (report_has(&r->options.keys, REPORT_parent))
		found = frame_regex_first(r->options.parent, p, s, &frame);
	*ret = found > 0 ? profile_frame(p, frame)->symbol : "[other]";
	return found < 0 ? found : 0;
}

/*
 * What was sampled: calls that were inlined are frames of call graphs, and no rows of a report without
 * children. The line is the innermost one's.
 */
static struct frame
leaf_frame(const struct report *r, const struct profile *p, const struct profile_stack *s)
{
	const struct frame *innermost = profile_frame(p, s->frames[0]);
	struct frame leaf = *innermost;

	for (uint32_t i = 1; leaf.inlined && !r->options.children && i < s->nr_frames; i++)
		leaf = *profile_frame(p, s->frames[i]);
	leaf.file = innermost->file;
	leaf.line = innermost->line;
	return leaf;
}

static int
add_number(struct report *r, size_t row)
{
	int err = array_reserve(r->numbers, r->nr_numbers, r->cap_numbers, 1);

	if (err == 0)
		r->numbers[r->nr_numbers++] = (uint32_t)row;
	return err;
}

/* stamp: which stack this is, from 1. */
static int
add_stack(struct report *r, const struct profile *p, const struct profile_stack *s, size_t stamp)
{
	uint32_t n = r->options.children ? s->nr_frames : 1;
	const struct frame leaf = leaf_frame(r, p, s);
	const char *parent;
	int err = find_parent(r, p, s, &parent);

	for (uint32_t i = 0; i < n && err == 0; i++) {
		size_t row;

		err = find_row(r, p, s, i == 0 ? &leaf : profile_frame(p, s->frames[i]), parent,
			       &row);
		if (err == 0 && r->options.graphs)
			err = add_number(r, row);
		if (err < 0)
			return err;
		if (i == 0)
			profile_weigh(&r->rows[row].self, &s->weight);
		if (r->stamps[row] != stamp)
			profile_weigh(&r->rows[row].total, &s->weight);
		r->stamps[row] = stamp;
	}
	return err;
}

static int
add_section(struct report *r, const struct profile *p, const struct profile_stack *s)
{
	const size_t event = (size_t)(s->event + 1);
	int err = 0;

	while (r->nr_section_of <= event && err == 0) {
		err = array_reserve(r->section_of, r->nr_section_of, r->cap_section_of, 1);
		if (err == 0)
			r->section_of[r->nr_section_of++] = 0;
	}
	if (err == 0 && r->section_of[event] != 0) {
		profile_weigh(&r->sections[r->section_of[event] - 1].weight, &s->weight);
		return 0;
	}
	if (err == 0)
		err = array_reserve(r->sections, r->nr_sections, r->cap_sections, 1);
	if (err < 0)
		return err;
	r->section_of[event] = r->nr_sections + 1;
	r->sections[r->nr_sections] = (struct report_section){
		.event = s->event,
		.whole = profile_event_whole(p, s->event),
	};
	profile_weigh(&r->sections[r->nr_sections++].weight, &s->weight);
	return 0;
}

static bool
unknown_same(const void *owner, uint32_t index, const void *key)
{
	const struct report_unknown *a = &((const struct report *)owner)->unknowns[index];
	const struct report_unknown *b = key;

	return a->dso_path == b->dso_path && a->miss == b->miss;
}

/* Does the report tell that something is missing at this address? */
static bool
is_missing(const struct report *r, const struct frame *leaf)
{
	const struct report_list *keys = &r->options.keys;

	if (leaf->miss != RESOLVE_OK)
		return true;
	/* Of a module there are no lines to be had. */
	return (!leaf->kernel || leaf->build_id) && !leaf->has_dwarf && !leaf->file &&
		(report_has(keys, REPORT_srcline) || report_has(keys, REPORT_srcfile));
}

static int
add_unknown(struct report *r, const struct frame *leaf, uint64_t samples)
{
	struct report_unknown key = {
		.dso_path = leaf->dso_path,
		.build_id = leaf->build_id,
		.miss = leaf->miss,
	};
	uint32_t i;
	int err = slots_keep(&r->unknown_slots,
			     (uint32_t)slots_mix((uintptr_t)key.dso_path, key.miss), unknown_same,
			     r, &key, r->unknowns, r->nr_unknowns, r->cap_unknowns, &i);

	if (err < 0)
		return err;
	r->unknowns[i].samples += samples;
	return 0;
}

static int
compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* What has no name comes last among equals. */
static int
compare_names(const char *a, const char *b)
{
	if (a == b)
		return 0;
	if (!a || !b)
		return a ? -1 : 1;
	return strcmp(a, b);
}

int
report_value_compare(const struct report_value *a, const struct report_value *b)
{
	const int c = compare_names(a->text, b->text);

	return c ? c : compare_numbers(a->number, b->number);
}

static int
compare_keys(const struct report *r, const struct report_row *a, const struct report_row *b)
{
	int c = 0;

	for (size_t i = 0; i < r->options.keys.n && c == 0; i++) {
		const enum report_column k = r->ordered[i];
		const struct report_value va = report_value(r, a, k), vb = report_value(r, b, k);

		c = report_value_compare(&va, &vb);
	}
	return c;
}

static int
compare_rows(const void *va, const void *vb, void *arg)
{
	const struct report_row *a = va, *b = vb;
	int c = (a->event > b->event) - (a->event < b->event);

	if (c == 0)
		c = compare_numbers(b->total.period, a->total.period);
	if (c == 0)
		c = compare_numbers(b->self.period, a->self.period);
	if (c == 0)
		c = compare_numbers(b->total.samples, a->total.samples);
	return c ? c : compare_keys(arg, a, b);
}

static int
compare_times(const void *va, const void *vb, void *arg)
{
	const struct report_row *a = va, *b = vb;
	int c = (a->event > b->event) - (a->event < b->event);

	if (c == 0)
		c = compare_numbers(report_value(arg, a, REPORT_time).number,
				    report_value(arg, b, REPORT_time).number);
	return c ? c : compare_rows(va, vb, arg);
}

/* As in perf report, whose readers put the time before the share. */
static bool
time_is_first(const struct report_list *columns)
{
	for (size_t i = 0; i < columns->n && columns->v[i] < REPORT_KEYS_MAX; i++)
		if (columns->v[i] == REPORT_time)
			return true;
	return false;
}

static int
compare_sections(const void *va, const void *vb)
{
	const struct report_section *a = va, *b = vb;

	return (a->event > b->event) - (a->event < b->event);
}

static int
compare_unknowns(const void *va, const void *vb)
{
	const struct report_unknown *a = va, *b = vb;
	int c = compare_numbers(b->samples, a->samples);

	if (c == 0)
		c = compare_names(a->dso_path, b->dso_path);
	return c ? c : compare_numbers(a->miss, b->miss);
}

static void
sort(struct report *r)
{
	size_t first = 0;

	if (r->nr_rows)
		qsort_r(r->rows, r->nr_rows, sizeof(*r->rows),
			time_is_first(&r->options.columns) ? compare_times : compare_rows, r);
	if (r->nr_sections)
		qsort(r->sections, r->nr_sections, sizeof(*r->sections), compare_sections);
	if (r->nr_unknowns)
		qsort(r->unknowns, r->nr_unknowns, sizeof(*r->unknowns), compare_unknowns);
	for (size_t i = 0; i < r->nr_sections; i++) {
		struct report_section *s = &r->sections[i];

		s->first = first;
		while (first < r->nr_rows && r->rows[first].event == s->event)
			first++;
		s->nr = first - s->first;
	}
}

static void
order_keys(struct report *r)
{
	const struct report_list *keys = &r->options.keys;
	size_t n = 0;

	memset(r->value_of, -1, sizeof(r->value_of));
	for (size_t i = 0; i < keys->n; i++)
		r->value_of[keys->v[i]] = (int8_t)i;
	for (enum report_column k = 0; k < REPORT_KEYS_MAX; k++)
		if (r->value_of[k] >= 0)
			r->ordered[n++] = k;
}

int
report_build(const struct profile *p, const struct report_options *o, struct report **ret)
{
	struct report *r = calloc(1, sizeof(*r));
	int err = r ? 0 : -FMT_E_NOMEM;

	if (r) {
		r->options = *o;
		order_keys(r);
	}
	for (size_t i = 0; i < profile_stacks(p) && err == 0; i++) {
		const struct frame *leaf;
		struct profile_stack s;

		profile_stack_at(p, i, &s);
		leaf = profile_frame(p, s.frames[0]);
		err = add_section(r, p, &s);
		if (err == 0)
			err = add_stack(r, p, &s, i + 1);
		if (err == 0 && is_missing(r, leaf))
			err = add_unknown(r, leaf, s.weight.samples);
	}
	if (err < 0) {
		report_free(r);
		return err;
	}
	sort(r);
	*ret = r;
	return 0;
}

void
report_free(struct report *r)
{
	if (!r)
		return;
	free(r->rows);
	free(r->values);
	free(r->stamps);
	free(r->numbers);
	slots_done(&r->row_slots);
	free(r->sections);
	free(r->section_of);
	free(r->unknowns);
	slots_done(&r->unknown_slots);
	free(r);
}

size_t
report_sections(const struct report *r)
{
	return r->nr_sections;
}

const struct report_section *
report_section_at(const struct report *r, size_t i)
{
	assert(i < r->nr_sections);
	return &r->sections[i];
}

const struct report_row *
report_row_at(const struct report *r, size_t i)
{
	assert(i < r->nr_rows);
	return &r->rows[i];
}

struct report_value
report_value(const struct report *r, const struct report_row *row, enum report_column key)
{
	const int at = r->value_of[key];

	return at < 0 ? (struct report_value){ 0 } : row_values(r, row)[at];
}

const uint32_t *
report_numbers(const struct report *r)
{
	assert(r->options.graphs);
	return r->numbers;
}

size_t
report_rows(const struct report *r)
{
	return r->nr_rows;
}

double
report_share(const struct profile_weight *w, const struct profile_weight *all)
{
	/* Events without a period count samples. */
	if (all->period > 0)
		return 100.0 * (double)w->period / (double)all->period;
	return all->samples ? 100.0 * (double)w->samples / (double)all->samples : 0;
}

double
report_percent(const struct report *r, const struct report_section *s,
	       const struct profile_weight *w)
{
	return report_share(w, r->options.absolute ? &s->whole : &s->weight);
}

uint64_t
report_weight(const struct report_options *o, const struct report_row *row, uint64_t number)
{
	return number * (o->children ? row->total : row->self).samples;
}

size_t
report_unknowns(const struct report *r)
{
	return r->nr_unknowns;
}

const struct report_unknown *
report_unknown_at(const struct report *r, size_t i)
{
	assert(i < r->nr_unknowns);
	return &r->unknowns[i];
}

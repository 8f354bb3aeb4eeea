/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/report.h"

#include <assert.h>
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
	/* By row: the last stack (its index + 1) that was added to total. */
	size_t *stamps;
	size_t cap_stamps;
	struct report_section *sections;
	size_t nr_sections, cap_sections;
	/* By event + 1: the index of its section + 1. */
	size_t *section_of;
	size_t nr_section_of, cap_section_of;
	struct report_unknown *unknowns;
	size_t nr_unknowns, cap_unknowns;
	struct slots unknown_slots;
};

static const char *const names[] = {
#define X(name, ...) #name,
	REPORT_KEYS(X)
#undef X
#define X(name, title) #name,
		REPORT_NUMBERS(X)
#undef X
};

bool
report_has(const struct report_list *l, enum report_column column)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i] == column)
			return true;
	return false;
}

static bool
is_word(const char *word, size_t len, const char *name)
{
	return strlen(name) == len && strncmp(word, name, len) == 0;
}

static int
find_column(const char *word, size_t len, enum report_column end)
{
	if (is_word(word, len, "symbol"))
		return REPORT_sym;
	for (int k = 0; k < (int)end; k++)
		if (is_word(word, len, names[k]))
			return k;
	return -1;
}

int
report_parse_list(const char *text, enum report_column end, struct report_list *ret,
		  const char **ret_bad, size_t *ret_len)
{
	struct report_list l = { .more = *text == '+' };

	for (text += l.more;; text++) {
		size_t len = strcspn(text, ",");
		int column = find_column(text, len, end);

		if (column < 0 || report_has(&l, (enum report_column)column)) {
			*ret_bad = text;
			*ret_len = len;
			return -1;
		}
		l.v[l.n++] = (enum report_column)column;
		text += len;
		if (!*text)
			break;
	}
	*ret = l;
	return 0;
}

static void
add_column(struct report_list *l, enum report_column column)
{
	if (!report_has(l, column))
		l->v[l->n++] = column;
}

static void
add_list(struct report_list *l, const struct report_list *more)
{
	for (size_t i = 0; i < more->n; i++)
		add_column(l, more->v[i]);
}

void
report_choose(struct report_options *o, const struct report_list *sort,
	      const struct report_list *fields, bool samples)
{
	static const struct report_list keys = { { REPORT_comm, REPORT_dso, REPORT_sym },
						 3,
						 false };
	const bool numbers = fields->n == 0 || fields->more;

	o->keys = o->columns = (struct report_list){ .n = 0 };
	if (numbers && o->children)
		add_column(&o->columns, REPORT_overhead_children);
	if (numbers)
		add_column(&o->columns, REPORT_overhead);
	if (numbers && samples)
		add_column(&o->columns, REPORT_sample);
	add_list(&o->columns, fields);
	if (sort->n == 0 ? numbers : sort->more)
		add_list(&o->columns, &keys);
	add_list(&o->columns, sort);
	for (size_t i = 0; i < o->columns.n; i++)
		if (o->columns.v[i] < REPORT_KEYS_MAX)
			add_column(&o->keys, o->columns.v[i]);
	o->children = report_has(&o->columns, REPORT_overhead_children);
}

void
report_profile_options(const struct report_options *o, struct profile_options *ret)
{
#define X(type, name) ret->by_##name = report_has(&o->keys, REPORT_##name);
	PROFILE_KEYS(X)
#undef X
	ret->by_address = report_has(&o->keys, REPORT_address);
	ret->by_line = report_has(&o->keys, REPORT_srcline);
	ret->by_file = report_has(&o->keys, REPORT_srcfile);
	ret->leaf_only = !o->children;
	ret->inlines = o->children;
}

static bool
row_same(const void *owner, uint32_t index, const void *key)
{
	const struct report *r = owner;
	const struct report_row *a = &r->rows[index], *b = key;
	bool same = a->event == b->event;

	for (size_t i = 0; i < r->options.keys.n && same; i++) {
		const struct report_value *va = &a->values[r->options.keys.v[i]];
		const struct report_value *vb = &b->values[r->options.keys.v[i]];

		same = va->text == vb->text && va->number == vb->number;
	}
	return same;
}

static uint32_t
row_hash(const struct report_options *o, const struct report_row *row)
{
	uint64_t h = (uint64_t)row->event;

	for (size_t i = 0; i < o->keys.n; i++) {
		const struct report_value *v = &row->values[o->keys.v[i]];

		h = slots_mix(h, (uintptr_t)v->text ^ v->number);
	}
	return (uint32_t)slots_mix(h, 0);
}

static struct report_value
key_value(enum report_column key, const struct profile_stack *s, const struct frame *f)
{
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
find_row(struct report *r, const struct profile_stack *s, const struct frame *f, size_t *ret)
{
	const struct report_options *o = &r->options;
	struct report_row key = { .event = s->event };
	size_t known = r->nr_rows;
	uint32_t i;
	int err;

	for (size_t k = 0; k < o->keys.n; k++)
		key.values[o->keys.v[k]] = key_value(o->keys.v[k], s, f);
	err = array_reserve(r->stamps, known, r->cap_stamps, 1);
	if (err == 0)
		err = slots_keep(&r->row_slots, row_hash(o, &key), row_same, r, &key, r->rows,
				 r->nr_rows, r->cap_rows, &i);
	if (err < 0)
		return err;
	if (i == known)
		r->stamps[i] = 0;
	*ret = i;
	return 0;
}

/* stamp: which stack this is, from 1. */
static int
add_stack(struct report *r, const struct profile *p, const struct profile_stack *s, size_t stamp)
{
	uint32_t n = r->options.children ? s->nr_frames : 1;

	for (uint32_t i = 0; i < n; i++) {
		size_t row;
		int err = find_row(r, s, profile_frame(p, s->frames[i]), &row);

		if (err < 0)
			return err;
		if (i == 0)
			profile_weigh(&r->rows[row].self, &s->weight);
		if (r->stamps[row] != stamp)
			profile_weigh(&r->rows[row].total, &s->weight);
		r->stamps[row] = stamp;
	}
	return 0;
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

static int
compare_keys(const struct report_row *a, const struct report_row *b)
{
	int c = 0;

	for (int k = 0; k < REPORT_KEYS_MAX && c == 0; k++) {
		c = compare_names(a->values[k].text, b->values[k].text);
		if (c == 0)
			c = compare_numbers(a->values[k].number, b->values[k].number);
	}
	return c;
}

static int
compare_rows(const void *va, const void *vb)
{
	const struct report_row *a = va, *b = vb;
	int c = (a->event > b->event) - (a->event < b->event);

	if (c == 0)
		c = compare_numbers(b->total.period, a->total.period);
	if (c == 0)
		c = compare_numbers(b->self.period, a->self.period);
	if (c == 0)
		c = compare_numbers(b->total.samples, a->total.samples);
	return c ? c : compare_keys(a, b);
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
		qsort(r->rows, r->nr_rows, sizeof(*r->rows), compare_rows);
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

int
report_build(const struct profile *p, const struct report_options *o, struct report **ret)
{
	struct report *r = calloc(1, sizeof(*r));
	int err = r ? 0 : -FMT_E_NOMEM;

	if (r)
		r->options = *o;
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
	free(r->stamps);
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
	return report_share(w, r->options.relative ? &s->weight : &s->whole);
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

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/profile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/slots.h"
#include "symbolizer/profile/symbolize.h"

#define PROFILE_MAGIC 0x70f11e00u

struct stack {
	const char *comm;
	PROFILE_KEYS(PROFILE_FIELD)
	int event;
	uint32_t nr_frames;
	size_t frames; /* where in words */
	struct profile_weight weight;
};

struct profile_event {
	const char *name; /* interned */
	uint32_t nth;	  /* of that name in its recording, from 0 */
	struct profile_weight whole;
};

/* How many events of a recording have a name, so far. */
struct event_count {
	const char *name;
	uint32_t nr;
};

/* Of the recording that is taken. */
struct build {
	struct profile *p;
	const struct raw_profile *raw;
	uint64_t shift_ns;
	int *events; /* of the recording: indexes of the profile's */
	size_t nr_events, cap_events;
	struct event_count *counts; /* by name */
	size_t nr_counts, cap_counts;
	struct slots count_slots;
	size_t nr_kernel_maps; /* that the resolver knows */
	bool nomem;
	/*
	 * Of a raw profile: by place, its frames and whether it is asked for; whose stacks they
	 * are.
	 */
	struct place_frames {
		size_t first; /* in ids, the innermost first; the last is the place's own */
		uint32_t nr;
	} * frames;
	uint32_t *ids;
	size_t nr_ids, cap_ids;
	uint8_t *wanted;
	struct stack *whos;
};

struct profile {
	unsigned magic;
	struct resolver *resolver;
	struct inlines *inlines;
	const struct profile_options *options;
	struct profile_event *events;
	size_t nr_events, cap_events;
	struct slots event_slots;
	struct profile_weight whole_of_none; /* of samples without an event */
	struct frame *frames;
	size_t nr_frames, cap_frames;
	struct slots frame_slots;
	struct stack *stacks;
	size_t nr_stacks, cap_stacks;
	struct slots stack_slots;
	uint32_t *words; /* the stacks' frame ids, one after another */
	size_t nr_words, cap_words;
	struct profile_totals totals;
	uint64_t names_left_out; /* by task models */
	struct build build;
};

static bool
keeps_file(const struct profile *p)
{
	return p->options->by_file || p->options->by_line;
}

static uint32_t
frame_hash(const struct profile *p, const struct frame *f)
{
	uint64_t h = slots_mix((uintptr_t)f->symbol, (uintptr_t)f->dso_path);

	h = slots_mix(h, p->options->by_address ? f->vaddr << 1 | f->inlined : 0);
	h = slots_mix(h, p->options->by_line ? f->line : 0);
	h = slots_mix(h, keeps_file(p) ? (uintptr_t)f->file : 0);
	return (uint32_t)slots_mix(h, (uint64_t)f->doubt << 8 | f->miss << 1 | f->kernel);
}

static bool
frame_same(const void *owner, uint32_t index, const void *key)
{
	const struct profile *p = owner;
	const struct frame *a = &p->frames[index], *b = key;

	return (!p->options->by_address || (a->vaddr == b->vaddr && a->inlined == b->inlined)) &&
		(!p->options->by_line || a->line == b->line) &&
		(!keeps_file(p) || a->file == b->file) && a->symbol == b->symbol &&
		a->dso_path == b->dso_path && a->miss == b->miss && a->doubt == b->doubt &&
		a->kernel == b->kernel;
}

/* The id of a frame, new or known. */
static int
frame_id(struct profile *p, const struct frame *f, uint32_t *ret)
{
	return slots_keep(&p->frame_slots, frame_hash(p, f), frame_same, p, f, p->frames,
			  p->nr_frames, p->cap_frames, ret);
}

static bool
stack_same(const void *owner, uint32_t index, const void *key)
{
	const struct profile *p = owner;
	const struct stack *a = &p->stacks[index], *b = key;

	bool same = a->comm == b->comm && a->event == b->event && a->nr_frames == b->nr_frames;

#define X(type, name) same &= a->name == b->name;
	PROFILE_KEYS(X)
#undef X
	return same &&
		memcmp(&p->words[a->frames], &p->words[b->frames],
		       a->nr_frames * sizeof(*p->words)) == 0;
}

static uint32_t
stack_hash(const struct profile *p, const struct stack *s)
{
	uint64_t h = slots_mix((uintptr_t)s->comm, (uint32_t)s->event);

#define X(type, name) h = slots_mix(h, (uintptr_t)s->name);
	PROFILE_KEYS(X)
#undef X
	for (uint32_t i = 0; i < s->nr_frames; i++)
		h = slots_mix(h, p->words[s->frames + i]);
	return (uint32_t)h;
}

/*
 * Counts samples to their stack. Its frames stand behind the last stack's in words; they stay
 * there when the stack is new.
 */
static int
profile_count(struct profile *p, struct stack *s, const struct profile_weight *weight)
{
	size_t known = p->nr_stacks;
	uint32_t i;
	int err = slots_keep(&p->stack_slots, stack_hash(p, s), stack_same, p, s, p->stacks,
			     p->nr_stacks, p->cap_stacks, &i);

	if (err < 0)
		return err;
	if (i == known)
		p->nr_words += s->nr_frames;
	profile_weigh(&p->stacks[i].weight, weight);
	return 0;
}

static bool
count_same(const void *owner, uint32_t index, const void *key)
{
	return ((const struct build *)owner)->counts[index].name ==
		((const struct event_count *)key)->name;
}

/* Counts an event of this name; *ret is how many there were before. 0, -FMT_E_NOMEM. */
static int
count_name(struct build *b, const char *name, uint32_t *ret)
{
	const struct event_count none = { .name = name };
	uint32_t i;
	int err = slots_keep(&b->count_slots, (uint32_t)slots_mix((uintptr_t)name, 0), count_same,
			     b, &none, b->counts, b->nr_counts, b->cap_counts, &i);

	if (err == 0)
		*ret = b->counts[i].nr++;
	return err;
}

static bool
event_same(const void *owner, uint32_t index, const void *key)
{
	const struct profile_event *a = &((const struct profile *)owner)->events[index], *b = key;

	return a->name == b->name && a->nth == b->nth;
}

/* The index of an event of the profile, new or known: 0, -FMT_E_NOMEM. */
static int
event_index(struct profile *p, const struct profile_event *e, int *ret)
{
	uint32_t i;
	int err = slots_keep(&p->event_slots, (uint32_t)slots_mix((uintptr_t)e->name, e->nth),
			     event_same, p, e, p->events, p->nr_events, p->cap_events, &i);

	if (err == 0)
		*ret = (int)i;
	return err;
}

/* The next event of the recording. */
static int
take_event(struct build *b, const char *name)
{
	struct profile_event e = { .name = resolver_intern(b->p->resolver, name) };
	int err;

	if (!e.name)
		return -FMT_E_NOMEM;
	err = array_reserve(b->events, b->nr_events, b->cap_events, 1);
	if (err == 0)
		err = count_name(b, e.name, &e.nth);
	if (err == 0)
		err = event_index(b->p, &e, &b->events[b->nr_events]);
	if (err == 0)
		b->nr_events++;
	return err;
}

static const char *
keep_text(struct build *b, const char *text)
{
	const char *kept = text ? resolver_intern(b->p->resolver, text) : NULL;

	b->nomem |= text && !kept;
	return kept;
}

/* Whose the samples are, in the profile's strings and events; and how many nobody wants. */
static int
take_who(struct build *b, const struct raw_who *w, struct stack *ret)
{
	struct profile *p = b->p;
	const int event = w->event < 0 ? -1 : b->events[w->event];

	*ret = (struct stack){ .comm = keep_text(b, w->comm), .event = event };
#define X(type, name)                                                                              \
	ret->name = _Generic(w->name, const char *: keep_text(b, (const char *)(uintptr_t)w->name), \
			     uint32_t: w->name);
	PROFILE_KEYS(X)
#undef X
	if (w->in_scope)
		profile_weigh(event < 0 ? &p->whole_of_none : &p->events[event].whole, &w->seen);
	if (!w->wanted)
		p->totals.filtered += w->seen.samples;
	return b->nomem ? -FMT_E_NOMEM : 0;
}

/* Where inlined calls are no frames, the line is still that of the innermost. */
static int
take_frames(void *arg, uint32_t place, const struct frame *frames, size_t nr)
{
	struct build *b = arg;
	struct frame own = frames[nr - 1];
	int err;

	if (b->p->options->leaf_only || !b->p->options->inlines) {
		own.file = frames[0].file;
		own.line = frames[0].line;
		frames = &own;
		nr = 1;
	}
	err = array_reserve(b->ids, b->nr_ids, b->cap_ids, nr);
	b->frames[place] = (struct place_frames){ b->nr_ids, (uint32_t)nr };
	for (size_t i = 0; err == 0 && i < nr; i++)
		err = frame_id(b->p, &frames[i], &b->ids[b->nr_ids++]);
	return err;
}

/* The id of what the linker knows there. */
static uint32_t
own_frame(const struct build *b, uint32_t place)
{
	return b->ids[b->frames[place].first + b->frames[place].nr - 1];
}

/* Does the filter want what was sampled there? */
static bool
wants_leaf(const struct build *b, uint32_t place)
{
	const struct filter *filter = b->p->options->filter;
	const struct frame *leaf = &b->p->frames[own_frame(b, place)];

	return !filter || filter_leaf(filter, leaf->dso, leaf->dso_path, frame_label(leaf));
}

/* First those that were sampled, then the callers of those that are wanted. */
static int
name_places(struct build *b)
{
	const struct raw_profile *raw = b->raw;
	size_t n;
	int err;

	for (size_t i = 0; i < raw->nr_rows; i++)
		b->wanted[raw_profile_stack(raw, &raw->rows[i], &n)[0]] = SYMBOLIZE_WANTED;
	err = symbolize_places(b->p->resolver, b->p->inlines, raw, b->wanted, take_frames, b);
	if (err || raw->leaf_only)
		return err;
	for (size_t i = 0; i < raw->nr_rows; i++) {
		const uint32_t *places = raw_profile_stack(raw, &raw->rows[i], &n);

		for (size_t k = 1; k < n && (k > 1 || wants_leaf(b, places[0])); k++)
			if (b->wanted[places[k]] == SYMBOLIZE_NOT_WANTED)
				b->wanted[places[k]] = SYMBOLIZE_WANTED;
	}
	return symbolize_places(b->p->resolver, b->p->inlines, raw, b->wanted, take_frames, b);
}

static void
count_totals(struct build *b, size_t number, uint32_t leaf)
{
	const struct raw_profile *raw = b->raw;
	const struct raw_row *row = &raw->rows[number];
	const struct raw_times *times = raw_profile_times(raw, number);
	struct profile *p = b->p;
	struct profile_totals *t = &p->totals;

	if (t->samples == 0 || times->first_ns + b->shift_ns < t->start_ns)
		t->start_ns = times->first_ns + b->shift_ns;
	if (times->last_ns + b->shift_ns > t->end_ns)
		t->end_ns = times->last_ns + b->shift_ns;
	t->samples += row->weight.samples;
	t->period += row->weight.period;
	t->unresolved[p->frames[leaf].miss] += row->weight.samples;
}

static int
take_row(struct build *b, size_t number)
{
	const struct raw_row *row = &b->raw->rows[number];
	struct profile *p = b->p;
	struct stack s = b->whos[row->key.who];
	const uint32_t *places;
	size_t n;
	int err;

	places = raw_profile_stack(b->raw, row, &n);
	if (!wants_leaf(b, places[0])) {
		p->totals.filtered += row->weight.samples;
		return 0;
	}
	s.frames = p->nr_words;
	for (size_t i = 0; i < n; i++) {
		const struct place_frames *frames = &b->frames[places[i]];

		err = array_reserve(p->words, s.frames + s.nr_frames, p->cap_words, frames->nr);
		if (err < 0)
			return err;
		memcpy(&p->words[s.frames + s.nr_frames], &b->ids[frames->first],
		       frames->nr * sizeof(*p->words));
		s.nr_frames += frames->nr;
	}
	count_totals(b, number, own_frame(b, places[0]));
	return profile_count(p, &s, &row->weight);
}

static int
tell_kernel(struct build *b, const struct gather *g)
{
	size_t nr;
	const struct perf_mmap *maps = gather_kernel_maps(g, &nr);
	int err = 0;

	if (gather_has_kernel(g))
		resolver_kernel_known(b->p->resolver);
	for (; err == 0 && b->nr_kernel_maps < nr; b->nr_kernel_maps++)
		err = resolver_kernel_map(b->p->resolver, &maps[b->nr_kernel_maps]);
	return err;
}

static int
take_all(struct build *b, const struct gather *g)
{
	const struct raw_profile *raw = b->raw;
	int err = tell_kernel(b, g);

	while (err == 0 && b->nr_events < gather_events(g))
		err = take_event(b, gather_event_name(g, b->nr_events));
	for (size_t i = 0; err == 0 && i < raw->nr_whos; i++)
		err = take_who(b, &raw->whos[i], &b->whos[i]);
	if (err == 0)
		err = name_places(b);
	if (err == 0 && b->p->inlines)
		err = inlines_run(b->p->inlines, take_frames, b);
	for (size_t i = 0; err == 0 && i < raw->nr_rows; i++)
		err = take_row(b, i);
	return err;
}

int
profile_take(void *arg, struct gather *g, const struct raw_profile *raw)
{
	struct profile *p = arg;
	struct build *b = &p->build;
	int err = -FMT_E_NOMEM;

	b->raw = raw;
	b->frames = calloc(raw->nr_places + 1, sizeof(*b->frames));
	b->wanted = calloc(raw->nr_places + 1, sizeof(*b->wanted));
	b->whos = calloc(raw->nr_whos + 1, sizeof(*b->whos));
	if (b->frames && b->wanted && b->whos)
		err = take_all(b, g);
	free(b->frames);
	free(b->ids);
	free(b->wanted);
	free(b->whos);
	b->ids = NULL;
	b->nr_ids = b->cap_ids = 0;
	return err;
}

static void
note_counts(struct profile *p, const struct gather *g)
{
	struct task_model_left_out *all = &p->totals.left_out;
	const struct task_model_left_out now = gather_left_out(g);
	const struct user_stack_counts unwound = gather_unwound(g);

	p->names_left_out += now.names;
	all->tasks += now.tasks;
	all->maps += now.maps;
	all->names = p->names_left_out + resolver_left_out(p->resolver);
	p->totals.bad_blocks += gather_bad_blocks(g);
	user_stack_counts_add(&p->totals.unwound, &unwound);
}

struct profile *
profile_new(struct resolver *resolver, struct inlines *inlines,
	    const struct profile_options *options)
{
	struct profile *p = calloc(1, sizeof(*p));

	if (p) {
		p->magic = PROFILE_MAGIC;
		p->resolver = resolver;
		p->inlines = inlines;
		p->options = options;
	}
	return p;
}

void
profile_begin(struct profile *p, uint64_t shift_ns)
{
	assert(p->magic == PROFILE_MAGIC && !p->build.p);
	p->build = (struct build){ .p = p, .shift_ns = shift_ns };
}

void
profile_end(struct profile *p, const struct gather *g)
{
	struct build *b = &p->build;

	if (g)
		note_counts(p, g);
	free(b->events);
	free(b->counts);
	slots_done(&b->count_slots);
	*b = (struct build){ .p = NULL };
}

void
profile_free(struct profile *p)
{
	if (!p)
		return;
	free(p->frames);
	slots_done(&p->frame_slots);
	free(p->stacks);
	slots_done(&p->stack_slots);
	free(p->words);
	free(p->events);
	slots_done(&p->event_slots);
	free(p);
}

int
profile_events(const struct profile *p)
{
	return (int)p->nr_events;
}

const char *
profile_event_name(const struct profile *p, int event)
{
	assert(p->magic == PROFILE_MAGIC && event < (int)p->nr_events);
	return event < 0 ? "[unknown]" : p->events[event].name;
}

struct profile_weight
profile_event_whole(const struct profile *p, int event)
{
	assert(p->magic == PROFILE_MAGIC && event < (int)p->nr_events);
	return event < 0 ? p->whole_of_none : p->events[event].whole;
}

size_t
profile_stacks(const struct profile *p)
{
	assert(p->magic == PROFILE_MAGIC);
	return p->nr_stacks;
}

void
profile_stack_at(const struct profile *p, size_t i, struct profile_stack *ret)
{
	const struct stack *s = &p->stacks[i];

	assert(p->magic == PROFILE_MAGIC && i < p->nr_stacks);
	*ret = (struct profile_stack){
		.comm = s->comm,
		.event = s->event,
		.frames = &p->words[s->frames],
		.nr_frames = s->nr_frames,
		.weight = s->weight,
	};
#define X(type, name) ret->name = s->name;
	PROFILE_KEYS(X)
#undef X
}

const struct frame *
profile_frame(const struct profile *p, uint32_t id)
{
	assert(p->magic == PROFILE_MAGIC && id < p->nr_frames);
	return &p->frames[id];
}

size_t
profile_frames(const struct profile *p)
{
	assert(p->magic == PROFILE_MAGIC);
	return p->nr_frames;
}

const struct profile_totals *
profile_totals(const struct profile *p)
{
	assert(p->magic == PROFILE_MAGIC);
	return &p->totals;
}

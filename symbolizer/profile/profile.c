/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/profile_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"

#define FORGET_FRAMES (256u << 10) /* more of them than that are not kept for the next samples */

static bool
keeps_file(const struct profile *p)
{
	return p->options->by_file || p->options->by_line;
}

static bool
by_address(const struct profile *p, const struct frame *f)
{
	return p->options->by_address || f->data;
}

static uint32_t
frame_hash(const struct profile *p, const struct frame *f)
{
	uint64_t h = slots_mix((uintptr_t)f->symbol, (uintptr_t)f->dso_path);

	h = slots_mix(h, by_address(p, f) ? f->vaddr << 1 | f->inlined : 0);
	h = slots_mix(h, p->options->by_line ? f->line : 0);
	h = slots_mix(h, p->options->by_inlined ? f->inlined : 0);
	h = slots_mix(h, keeps_file(p) ? (uintptr_t)f->file : 0);
	return (uint32_t)slots_mix(h, (uint64_t)f->doubt << 8 | f->miss << 1 | f->kernel);
}

static bool
frame_same(const void *owner, uint32_t index, const void *key)
{
	const struct profile *p = owner;
	const struct frame *a = &p->frames[index], *b = key;

	return a->data == b->data &&
		(!by_address(p, a) || (a->vaddr == b->vaddr && a->inlined == b->inlined)) &&
		(!p->options->by_inlined || a->inlined == b->inlined) &&
		(!p->options->by_line || a->line == b->line) &&
		(!keeps_file(p) || a->file == b->file) && a->symbol == b->symbol &&
		a->dso_path == b->dso_path && a->miss == b->miss && a->doubt == b->doubt &&
		a->kernel == b->kernel;
}

int
profile_keep_frame(struct profile *p, const struct frame *f, uint32_t *ret)
{
	return slots_keep(&p->frame_slots, frame_hash(p, f), frame_same, p, f, p->frames,
			  p->nr_frames, p->cap_frames, ret);
}

static bool
who_same(const void *owner, uint32_t index, const void *key)
{
	const struct kept_who *a = &((const struct profile *)owner)->whos[index], *b = key;
	bool same = a->comm == b->comm && a->event == b->event && a->detail == b->detail;

#define X(type, name) same &= a->name == b->name;
	PROFILE_KEYS(X)
#undef X
	return same;
}

/* A new stack is the last one of its event. */
static void
chain_stack(struct profile *p, uint32_t i)
{
	const struct kept_who *w = &p->whos[p->stacks[i].who];
	struct profile_event *e = profile_event_at(p, w->event);

	p->first_bucket = w->time < p->first_bucket ? w->time : p->first_bucket;
	p->last_bucket = w->time > p->last_bucket ? w->time : p->last_bucket;
	if (e->first == PROFILE_NO_STACK)
		e->first = i;
	else
		p->stacks[e->last].next = i;
	e->last = i;
	p->stacks[i].next = PROFILE_NO_STACK;
}

int
profile_keep_who(struct profile *p, const struct kept_who *w, uint32_t *ret)
{
	uint64_t h = slots_mix((uintptr_t)w->comm, (uint64_t)w->detail << 32 | (uint32_t)w->event);

#define X(type, name) h = slots_mix(h, (uintptr_t)w->name);
	PROFILE_KEYS(X)
#undef X
	return slots_keep(&p->who_slots, (uint32_t)h, who_same, p, w, p->whos, p->nr_whos,
			  p->cap_whos, ret);
}

static bool
stack_same(const void *owner, uint32_t index, const void *key)
{
	const struct kept_stack *a = &((const struct profile *)owner)->stacks[index], *b = key;

	return a->list == b->list && a->who == b->who;
}

int
profile_count(struct profile *p, uint32_t who, const uint32_t *frames, size_t nr,
	      const struct profile_weight *weight, uint32_t *ret)
{
	struct kept_stack key = { .who = who };
	const size_t known = p->nr_stacks;
	int err = word_lists_number(&p->lists, frames, nr, &key.list);

	if (err == 0)
		err = slots_keep(&p->stack_slots, (uint32_t)slots_mix(who, key.list), stack_same, p,
				 &key, p->stacks, p->nr_stacks, p->cap_stacks, ret);
	if (err < 0)
		return err;
	if (*ret == known)
		chain_stack(p, *ret);
	profile_weigh(&p->stacks[*ret].weight, weight);
	return 0;
}

static bool
event_same(const void *owner, uint32_t index, const void *key)
{
	const struct profile_event *a = &((const struct profile *)owner)->events[index], *b = key;

	return a->name == b->name && a->nth == b->nth;
}

static uint32_t
event_hash(const struct profile_event *e)
{
	return (uint32_t)slots_mix((uintptr_t)e->name, e->nth);
}

int
profile_keep_event(struct profile *p, const struct profile_event *e, int *ret)
{
	uint32_t i;
	int err = slots_keep(&p->event_slots, event_hash(e), event_same, p, e, p->events,
			     p->nr_events, p->cap_events, &i);

	if (err == 0)
		*ret = (int)i;
	return err;
}

bool
profile_event_is_only(const struct profile *p, int event)
{
	struct profile_event second = { .nth = 1 };

	assert(p->magic == PROFILE_MAGIC && event < (int)p->nr_events);
	if (event < 0)
		return true;
	second.name = p->events[event].name;
	return p->events[event].nth == 0 &&
		slots_find(&p->event_slots, event_hash(&second), event_same, p, &second) ==
		SLOTS_NONE;
}

int
profile_forget(struct profile *p)
{
	const size_t n = p->nr_frames;
	int err = 0;

	for (size_t i = 0; i < p->nr_stacks; i++)
		profile_event_at(p, p->whos[p->stacks[i].who].event)->first = PROFILE_NO_STACK;
	p->nr_stacks = p->nr_whos = 0;
	slots_clear(&p->stack_slots);
	slots_clear(&p->who_slots);
	word_lists_clear(&p->details);
	word_lists_clear(&p->lists);
	if (n <= FORGET_FRAMES)
		return 0;
	p->epoch++;
	p->nr_frames = 0;
	slots_clear(&p->frame_slots);
	for (size_t i = 0; err == 0 && i < n; i++) {
		const struct frame *f = &p->frames[i];
		const struct frame whole = { .dso_path = f->dso_path,
					     .miss = f->miss,
					     .doubt = f->doubt };
		uint32_t id;

		if (f->doubt != RESOLVE_SURE)
			err = profile_keep_frame(p, &whole, &id);
	}
	return err;
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
		p->none.first = PROFILE_NO_STACK;
		p->first_bucket = UINT64_MAX;
	}
	if (p && options->filter && filter_frames(options->filter)) {
		p->choice = frame_choice_new(filter_frames(options->filter));
		if (!p->choice) {
			free(p);
			return NULL;
		}
	}
	return p;
}

void
profile_on_sample(struct profile *p, profile_sample_fn *take, void *arg)
{
	assert(p->magic == PROFILE_MAGIC);
	p->on_sample = take;
	p->on_sample_arg = arg;
}

uint64_t
profile_epoch(const struct profile *p)
{
	return p->epoch;
}

void
profile_free(struct profile *p)
{
	if (!p)
		return;
	free(p->frames);
	slots_done(&p->frame_slots);
	free(p->whos);
	slots_done(&p->who_slots);
	word_lists_done(&p->details);
	word_lists_done(&p->lists);
	free(p->stacks);
	slots_done(&p->stack_slots);
	process_table_done(&p->processes);
	free(p->events);
	slots_done(&p->event_slots);
	frame_choice_free(p->choice);
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

struct read_total
profile_event_counted(const struct profile *p, int event)
{
	return event < 0 ? p->none.counted : p->events[event].counted;
}

struct profile_weight
profile_event_whole(const struct profile *p, int event)
{
	assert(p->magic == PROFILE_MAGIC && event < (int)p->nr_events);
	return event < 0 ? p->none.whole : p->events[event].whole;
}

int
profile_event_from(const struct profile *p, int event)
{
	while (event < (int)p->nr_events && profile_event_whole(p, event).samples == 0)
		event++;
	return event;
}

size_t
profile_stacks(const struct profile *p)
{
	assert(p->magic == PROFILE_MAGIC);
	return p->nr_stacks;
}

uint32_t
profile_first_stack(const struct profile *p, int event)
{
	assert(p->magic == PROFILE_MAGIC && event < (int)p->nr_events);
	return event < 0 ? p->none.first : p->events[event].first;
}

uint32_t
profile_next_stack(const struct profile *p, uint32_t i)
{
	assert(p->magic == PROFILE_MAGIC && i < p->nr_stacks);
	return p->stacks[i].next;
}

void
profile_stack_at(const struct profile *p, size_t i, struct profile_stack *ret)
{
	const struct kept_stack *s = &p->stacks[i];
	const struct kept_who *w = &p->whos[s->who];
	size_t nr;

	assert(p->magic == PROFILE_MAGIC && i < p->nr_stacks);
	*ret = (struct profile_stack){
		.comm = w->comm,
		.details = p->details.nr ? word_lists_at(&p->details, w->detail, &nr) : NULL,
		.event = w->event,
		.frames = word_lists_at(&p->lists, s->list, &nr),
		.list = s->list,
		.weight = s->weight,
	};
	ret->nr_frames = (uint32_t)nr;
#define X(type, name) ret->name = w->name;
	PROFILE_KEYS(X)
#undef X
}

uint64_t
profile_detail(const struct profile *p, const struct profile_stack *s, enum sample_detail detail)
{
	const uint32_t asked = p->options->details;

	if (!s->details || !sample_details_have(asked, detail))
		return 0;
	return sample_detail_get(s->details, sample_detail_at(asked, detail));
}

const struct frame *
profile_detail_frame(const struct profile *p, const struct profile_stack *s,
		     enum sample_detail detail)
{
	if (!s->details || !sample_details_have(p->options->details, detail))
		return NULL;
	return profile_frame(p, (uint32_t)profile_detail(p, s, detail));
}

size_t
profile_lists(const struct profile *p)
{
	assert(p->magic == PROFILE_MAGIC);
	return p->lists.nr;
}

bool
profile_buckets(const struct profile *p, uint64_t *ret_first, uint64_t *ret_last)
{
	assert(p->magic == PROFILE_MAGIC);
	*ret_first = p->first_bucket;
	*ret_last = p->last_bucket;
	return p->first_bucket <= p->last_bucket;
}

void
profile_settle(struct profile *p)
{
	assert(p->magic == PROFILE_MAGIC && !p->build.p);
	slots_done(&p->stack_slots);
	slots_done(&p->lists.slots);
}

void
profile_cut_stacks(struct profile *p, size_t nr)
{
	struct kept_stack *less;

	profile_settle(p);
	assert(nr <= p->nr_stacks);
	for (int event = -1; event < (int)p->nr_events; event++)
		profile_event_at(p, event)->first = PROFILE_NO_STACK;
	p->nr_stacks = nr;
	if (nr == 0) {
		free(p->stacks);
		p->stacks = NULL;
		p->cap_stacks = 0;
		word_lists_done(&p->lists);
		return;
	}
	less = realloc(p->stacks, nr * sizeof(*less));
	if (less) {
		p->stacks = less;
		p->cap_stacks = nr;
	}
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

const struct process_table *
profile_processes(const struct profile *p)
{
	assert(p->magic == PROFILE_MAGIC);
	return &p->processes;
}

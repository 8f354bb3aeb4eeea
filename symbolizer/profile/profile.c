/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/profile.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/slots.h"
#include "symbolizer/profile/replay.h"

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

struct profile {
	unsigned magic;
	struct resolver *resolver;
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
};

/* What building needs and the profile does not. */
struct build {
	struct profile *p;
	struct record_stream *stream;
	struct resolver *resolver;
	struct replay *replay;
	/* Whose name was asked for last. */
	uint64_t epoch;
	uint32_t pid, tid;
	const char *comm; /* NULL: nobody's */
	const struct profile_options *options;
	const char *swapper, *unknown;
	uint64_t shift_ns;
	int *events; /* of the recording: indexes of the profile's */
	size_t nr_events, cap_events;
	struct event_count *counts; /* by name */
	size_t nr_counts, cap_counts;
	struct slots count_slots;
};

static uint32_t
frame_hash(const struct profile *p, const struct frame *f)
{
	uint64_t h = slots_mix((uintptr_t)f->symbol, (uintptr_t)f->dso_path);

	h = slots_mix(h, p->options->by_address ? f->vaddr : 0);
	return (uint32_t)slots_mix(h, (uint64_t)f->doubt << 8 | f->miss << 1 | f->kernel);
}

static bool
frame_same(const void *owner, uint32_t index, const void *key)
{
	const struct profile *p = owner;
	const struct frame *a = &p->frames[index], *b = key;

	return (!p->options->by_address || a->vaddr == b->vaddr) && a->symbol == b->symbol &&
		a->dso_path == b->dso_path && a->miss == b->miss && a->doubt == b->doubt &&
		a->kernel == b->kernel;
}

/* The id of a frame, new or known. */
static int
frame_id(struct profile *p, const struct frame *f, uint32_t *ret)
{
	uint32_t hash = frame_hash(p, f);
	uint32_t id = slots_find(&p->frame_slots, hash, frame_same, p, f);
	int err;

	if (id == SLOTS_NONE) {
		id = (uint32_t)p->nr_frames;
		err = array_reserve(p->frames, id, p->cap_frames, 1);
		if (err == 0)
			err = slots_add(&p->frame_slots, hash, id);
		if (err < 0)
			return err;
		p->frames[p->nr_frames++] = *f;
	}
	*ret = id;
	return 0;
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

static void
profile_weigh(struct profile_weight *w, const struct replay_sample *r)
{
	w->samples += r->samples;
	w->period += r->period;
}

/*
 * Counts a sample to its stack. Its frames stand behind the last stack's in words; they
 * stay there when the stack is new.
 */
static int
profile_count(struct profile *p, struct stack *s, const struct replay_sample *r)
{
	uint32_t hash = stack_hash(p, s);
	uint32_t i = slots_find(&p->stack_slots, hash, stack_same, p, s);
	int err;

	if (i == SLOTS_NONE) {
		i = (uint32_t)p->nr_stacks;
		err = array_reserve(p->stacks, i, p->cap_stacks, 1);
		if (err == 0)
			err = slots_add(&p->stack_slots, hash, i);
		if (err < 0)
			return err;
		p->stacks[p->nr_stacks++] = *s;
		p->nr_words += s->nr_frames;
	}
	profile_weigh(&p->stacks[i].weight, r);
	return 0;
}

/* A frame in a world whose maps nobody recorded. */
static int
foreign_frame(struct build *b, const char *name, uint64_t ip, struct frame *ret)
{
	const char *dso = resolver_intern(b->resolver, name);

	if (!dso)
		return -FMT_E_NOMEM;
	*ret = (struct frame){
		.ip = ip, .vaddr = ip, .dso = dso, .dso_path = dso, .miss = RESOLVE_NO_MAP
	};
	return 0;
}

static int
resolve(struct build *b, uint32_t pid, const struct callchain_address *a, struct frame *ret)
{
	switch (a->mode) {
	case CALLCHAIN_KERNEL:
		return resolver_kernel(b->resolver, a->ip, a->is_return, ret);
	case CALLCHAIN_USER:
		return resolver_user(b->resolver,
				     task_model_map(replay_model(b->replay), pid, a->ip), a->ip,
				     a->is_return, ret);
	case CALLCHAIN_HYPERVISOR:
		return foreign_frame(b, "[hypervisor]", a->ip, ret);
	case CALLCHAIN_GUEST_KERNEL:
		return foreign_frame(b, "[guest.kernel]", a->ip, ret);
	case CALLCHAIN_GUEST_USER:
		return foreign_frame(b, "[guest.user]", a->ip, ret);
	default:
		return foreign_frame(b, "[unknown]", a->ip, ret);
	}
}

/* Appends one frame behind the last stack's. */
static int
profile_push(struct build *b, uint32_t pid, const struct callchain_address *a, struct stack *s)
{
	struct profile *p = b->p;
	struct frame f;
	int err;

	err = resolve(b, pid, a, &f);
	if (err == 0)
		err = array_reserve(p->words, p->nr_words + s->nr_frames, p->cap_words, 1);
	if (err == 0)
		err = frame_id(p, &f, &p->words[p->nr_words + s->nr_frames]);
	if (err == 0)
		s->nr_frames++;
	return err;
}

/* As perf has it: the idle task is "swapper", one never heard of is ":" and its number. */
static const char *
comm_looked_up(struct build *b, const struct replay_sample *r)
{
	const struct task *t = task_model_task(replay_model(b->replay), r->pid, r->tid);
	char text[16];

	if (r->pid == 0 && r->tid == 0)
		return b->swapper;
	if (t && t->comm_known)
		return resolver_intern(b->resolver, t->comm);
	snprintf(text, sizeof(text), ":%" PRId32, (int32_t)r->tid);
	return resolver_intern(b->resolver, text);
}

/* Samples of one task come one after another, mostly. */
static const char *
comm_of(struct build *b, const struct replay_sample *r)
{
	if (!b->comm || b->epoch != r->epoch || b->pid != r->pid || b->tid != r->tid) {
		b->comm = comm_looked_up(b, r);
		b->epoch = r->epoch;
		b->pid = r->pid;
		b->tid = r->tid;
	}
	return b->comm;
}

/* Samples of older kernels have no control group, and not every group has a name. */
static const char *
cgroup_of(struct build *b, const struct replay_sample *r)
{
	const char *path = NULL;

	if (r->has_cgroup)
		path = task_model_cgroup(replay_model(b->replay), r->cgroup);
	return path ? resolver_intern(b->resolver, path) : b->unknown;
}

static void
count_totals(struct build *b, const struct replay_sample *r, uint32_t leaf)
{
	struct profile *p = b->p;
	struct profile_totals *t = &p->totals;

	if (t->samples == 0 || r->first_ns + b->shift_ns < t->start_ns)
		t->start_ns = r->first_ns + b->shift_ns;
	if (r->last_ns + b->shift_ns > t->end_ns)
		t->end_ns = r->last_ns + b->shift_ns;
	t->samples += r->samples;
	t->period += r->period;
	t->unresolved[p->frames[leaf].miss] += r->samples;
}

static bool
count_same(const void *owner, uint32_t index, const void *key)
{
	return ((const struct build *)owner)->counts[index].name == key;
}

/* Counts an event of this name; *ret is how many there were before. 0, -FMT_E_NOMEM. */
static int
count_name(struct build *b, const char *name, uint32_t *ret)
{
	const uint32_t hash = (uint32_t)slots_mix((uintptr_t)name, 0);
	uint32_t i = slots_find(&b->count_slots, hash, count_same, b, name);
	int err;

	if (i == SLOTS_NONE) {
		i = (uint32_t)b->nr_counts;
		err = array_reserve(b->counts, i, b->cap_counts, 1);
		if (err == 0)
			err = slots_add(&b->count_slots, hash, i);
		if (err < 0)
			return err;
		b->counts[b->nr_counts++] = (struct event_count){ .name = name };
	}
	*ret = b->counts[i].nr++;
	return 0;
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
	const uint32_t hash = (uint32_t)slots_mix((uintptr_t)e->name, e->nth);
	uint32_t i = slots_find(&p->event_slots, hash, event_same, p, e);
	int err;

	if (i == SLOTS_NONE) {
		i = (uint32_t)p->nr_events;
		err = array_reserve(p->events, i, p->cap_events, 1);
		if (err == 0)
			err = slots_add(&p->event_slots, hash, i);
		if (err < 0)
			return err;
		p->events[p->nr_events++] = *e;
	}
	*ret = (int)i;
	return 0;
}

/* The i-th event of the recording, one that was not asked for before. */
static int
take_event(struct build *b, size_t i)
{
	struct profile_event e = {
		.name = resolver_intern(b->resolver,
					event_set_at(record_stream_events(b->stream), i)->name),
	};
	int err;

	if (!e.name)
		return -FMT_E_NOMEM;
	err = array_reserve(b->events, b->nr_events, b->cap_events, 1);
	if (err == 0)
		err = count_name(b, e.name, &e.nth);
	if (err == 0)
		err = event_index(b->p, &e, &b->events[i]);
	if (err == 0)
		b->nr_events++;
	return err;
}

/* The profile's number of an event of the recording, which may have come a moment ago. */
static int
event_of(struct build *b, int event, int *ret)
{
	int err = 0;

	while (event >= 0 && b->nr_events <= (size_t)event && err == 0)
		err = take_event(b, b->nr_events);
	if (err == 0)
		*ret = event < 0 ? -1 : b->events[event];
	return err;
}

/* Who was sampled. Control groups are looked up for those who ask. */
static int
find_who(struct build *b, const struct replay_sample *r, struct stack *s)
{
	const struct profile_options *o = b->options;

	s->comm = comm_of(b, r);
	s->cgroup = b->unknown;
	if (o->by_cgroup || (o->filter && filter_by_cgroup(o->filter)))
		s->cgroup = cgroup_of(b, r);
	s->pid = r->pid;
	s->tid = r->tid;
	s->cpu = r->cpu;
	return s->comm && s->cgroup ? event_of(b, r->event, &s->event) : -FMT_E_NOMEM;
}

/* Counts what is looked at. */
static bool
profile_is_wanted(struct build *b, const struct stack *s, const struct replay_sample *r)
{
	const struct filter *filter = b->options->filter;
	const struct filter_subject subject = {
		.comm = s->comm,
		.cgroup = s->cgroup,
		.event = s->event < 0 ? "" : b->p->events[s->event].name,
		.pid = s->pid,
		.tid = s->tid,
		.cpu = s->cpu,
	};

	if (filter && !filter_scope(filter, &subject))
		return false;
	profile_weigh(s->event < 0 ? &b->p->whole_of_none : &b->p->events[s->event].whole, r);
	return !filter || filter_sample(filter, &subject);
}

/* Its frames, the sampled one first. 1, 0: the filter does not want that, -FMT_E_NOMEM. */
static int
push_frames(struct build *b, const struct replay_sample *r, struct stack *s)
{
	const struct profile_options *o = b->options;
	struct callchain_address address;
	const struct frame *leaf;
	struct callchain chain;
	int err;

	callchain_begin(&chain, &r->chain, &address);
	err = profile_push(b, r->pid, &address, s);
	if (err < 0)
		return err;
	leaf = &b->p->frames[b->p->words[s->frames]];
	if (o->filter && !filter_leaf(o->filter, leaf->dso, leaf->dso_path, leaf->symbol))
		return 0;
	while (!o->leaf_only && err == 0 && callchain_next(&chain, &address))
		err = profile_push(b, r->pid, &address, s);
	return err < 0 ? err : 1;
}

static int
add_sample(void *arg, const struct replay_sample *r)
{
	struct build *b = arg;
	const struct profile_options *o = b->options;
	struct stack s = { .frames = b->p->nr_words };
	int err = find_who(b, r, &s);

	if (err < 0)
		return err;
	err = profile_is_wanted(b, &s, r);
#define X(type, name) s.name = o->by_##name ? s.name : 0;
	PROFILE_KEYS(X)
#undef X
	if (err > 0)
		err = push_frames(b, r, &s);
	if (err == 0)
		b->p->totals.filtered += r->samples;
	if (err <= 0)
		return err;
	count_totals(b, r, b->p->words[s.frames]);
	return profile_count(b->p, &s, r);
}

static void
note_left_out(struct build *b)
{
	struct profile *p = b->p;
	struct task_model_left_out *all = &p->totals.left_out;
	const struct task_model_left_out now = task_model_left_out(replay_model(b->replay));

	p->names_left_out += now.names;
	all->tasks += now.tasks;
	all->maps += now.maps;
	all->names = p->names_left_out + resolver_left_out(b->resolver);
	p->totals.bad_blocks += replay_bad_blocks(b->replay);
}

struct profile *
profile_new(struct resolver *resolver, const struct profile_options *options)
{
	struct profile *p = calloc(1, sizeof(*p));

	if (p) {
		p->magic = PROFILE_MAGIC;
		p->resolver = resolver;
		p->options = options;
	}
	return p;
}

int
profile_add(struct profile *p, struct record_stream *stream, uint64_t shift_ns,
	    struct fmt_where *where)
{
	const struct filter *filter = p->options->filter;
	struct build b = {
		.p = p,
		.stream = stream,
		.resolver = p->resolver,
		.options = p->options,
		.shift_ns = shift_ns,
	};
	const struct replay_options o = {
		.by_cpu = p->options->by_cpu || (filter && filter_by_cpu(filter)),
		.on_sample = add_sample,
		.arg = &b,
	};
	int err = -FMT_E_NOMEM;

	assert(p->magic == PROFILE_MAGIC);
	b.replay = replay_new(stream, p->resolver, &o);
	b.swapper = resolver_intern(p->resolver, "swapper");
	b.unknown = resolver_intern(p->resolver, "[unknown]");
	if (b.replay && b.swapper && b.unknown)
		err = replay_run(b.replay, where);
	if (b.replay)
		note_left_out(&b);
	replay_free(b.replay);
	free(b.events);
	free(b.counts);
	slots_done(&b.count_slots);
	if (err == -FMT_E_NOMEM)
		fmt_fail(where, FMT_E_NOMEM, 0, "%s", "");
	return err;
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

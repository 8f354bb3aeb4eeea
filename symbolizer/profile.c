/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/perf_event.h>

#include "format/buildids.h"
#include "symbolizer/callchain.h"
#include "format/array.h"
#include "format/slots.h"

#define PROFILE_MAGIC 0x70f11e00u
struct stack {
	const char *comm, *cgroup;
	uint32_t pid, tid, cpu;
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
	struct task_model *model;
	const struct profile_options *options;
	const char *swapper, *unknown;
	uint64_t shift_ns;
	int *events; /* of the recording: indexes of the profile's */
	size_t nr_events, cap_events;
	struct event_count *counts; /* by name */
	size_t nr_counts, cap_counts;
	struct slots count_slots;
	int error; /* of the block callback, which cannot return one */
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

	return a->comm == b->comm && a->cgroup == b->cgroup && a->pid == b->pid &&
		a->tid == b->tid && a->cpu == b->cpu && a->event == b->event &&
		a->nr_frames == b->nr_frames &&
		memcmp(&p->words[a->frames], &p->words[b->frames],
		       a->nr_frames * sizeof(*p->words)) == 0;
}

static uint32_t
stack_hash(const struct profile *p, const struct stack *s)
{
	uint64_t h = slots_mix((uintptr_t)s->comm, (uint64_t)s->pid << 32 | s->tid);

	h = slots_mix(h, (uint64_t)s->cpu << 32 | (uint32_t)s->event);
	h = slots_mix(h, (uintptr_t)s->cgroup);
	for (uint32_t i = 0; i < s->nr_frames; i++)
		h = slots_mix(h, p->words[s->frames + i]);
	return (uint32_t)h;
}

static void
weigh(struct profile_weight *w, uint64_t period)
{
	w->samples++;
	w->period += period;
}

/*
 * Counts a sample to its stack. Its frames stand behind the last stack's in words; they
 * stay there when the stack is new.
 */
static int
count(struct profile *p, struct stack *s, uint64_t period)
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
	weigh(&p->stacks[i].weight, period);
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
resolve(struct build *b, const struct perf_sample_id *sid, const struct callchain_address *a,
	struct frame *ret)
{
	switch (a->mode) {
	case CALLCHAIN_KERNEL:
		return resolver_kernel(b->resolver, a->ip, a->is_return, ret);
	case CALLCHAIN_USER:
		return resolver_user(b->resolver, task_model_map(b->model, sid->pid, a->ip), a->ip,
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
push(struct build *b, const struct perf_sample_id *sid, const struct callchain_address *a,
     struct stack *s)
{
	struct profile *p = b->p;
	struct frame f;
	int err;

	err = resolve(b, sid, a, &f);
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
comm_of(struct build *b, const struct perf_sample_id *sid)
{
	const struct task *t = task_model_task(b->model, sid->pid, sid->tid);
	char text[16];

	if (sid->pid == 0 && sid->tid == 0)
		return b->swapper;
	if (t && t->comm_known)
		return resolver_intern(b->resolver, t->comm);
	snprintf(text, sizeof(text), ":%" PRId32, (int32_t)sid->tid);
	return resolver_intern(b->resolver, text);
}

/* Samples of older kernels have no control group, and not every group has a name. */
static const char *
cgroup_of(struct build *b, const struct perf_sample *s)
{
	const char *path = NULL;

	if (s->have & PERF_SAMPLE_CGROUP)
		path = task_model_cgroup(b->model, s->cgroup);
	return path ? resolver_intern(b->resolver, path) : b->unknown;
}

static uint64_t
period_of(const struct perf_record *r)
{
	if (r->sample.have & PERF_SAMPLE_PERIOD)
		return r->sample.period;
	return event_attr_has(r->attr, EVENT_ATTR_freq) ? 1 : r->attr->sample_period;
}

static void
count_totals(struct build *b, const struct perf_record *r, uint32_t leaf, uint64_t period)
{
	struct profile *p = b->p;
	struct profile_totals *t = &p->totals;
	const uint64_t time = r->sid.time + b->shift_ns;

	if (t->samples == 0 || time < t->start_ns)
		t->start_ns = time;
	if (time > t->end_ns)
		t->end_ns = time;
	t->samples++;
	t->period += period;
	t->unresolved[p->frames[leaf].miss]++;
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
find_who(struct build *b, const struct perf_record *r, int event, struct stack *s)
{
	const struct profile_options *o = b->options;

	s->comm = comm_of(b, &r->sid);
	s->cgroup = b->unknown;
	if (o->by_cgroup || (o->filter && filter_by_cgroup(o->filter)))
		s->cgroup = cgroup_of(b, &r->sample);
	s->pid = r->sid.pid;
	s->tid = r->sid.tid;
	s->cpu = r->sid.cpu;
	return s->comm && s->cgroup ? event_of(b, event, &s->event) : -FMT_E_NOMEM;
}

/* Counts what is looked at. */
static bool
is_wanted(struct build *b, const struct stack *s, uint64_t period)
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
	weigh(s->event < 0 ? &b->p->whole_of_none : &b->p->events[s->event].whole, period);
	return !filter || filter_sample(filter, &subject);
}

static int
add_sample(struct build *b, const struct perf_record *r, int event)
{
	const struct profile_options *o = b->options;
	const struct perf_sample_id *sid = &r->sid;
	struct stack s = { .frames = b->p->nr_words };
	struct callchain_address address;
	const struct frame *leaf;
	struct callchain chain;
	int err;

	err = find_who(b, r, event, &s);
	if (err < 0)
		return err;
	if (!is_wanted(b, &s, period_of(r))) {
		b->p->totals.filtered++;
		return 0;
	}
	s.cgroup = o->by_cgroup ? s.cgroup : NULL;
	s.pid = o->by_pid ? s.pid : 0;
	s.tid = o->by_tid ? s.tid : 0;
	s.cpu = o->by_cpu ? s.cpu : 0;
	callchain_begin(&chain, r, &address);
	err = push(b, sid, &address, &s);
	if (err < 0)
		return err;
	leaf = &b->p->frames[b->p->words[s.frames]];
	if (o->filter && !filter_leaf(o->filter, leaf->dso, leaf->dso_path, leaf->symbol)) {
		b->p->totals.filtered++;
		return 0;
	}
	while (!o->leaf_only && err == 0 && callchain_next(&chain, &address))
		err = push(b, sid, &address, &s);
	if (err < 0)
		return err;
	count_totals(b, r, b->p->words[s.frames], period_of(r));
	return count(b->p, &s, period_of(r));
}

static int
add_buildids(struct build *b, const struct block *block)
{
	struct buildid_entry e;
	size_t cursor = 0;
	int err;

	while ((err = buildids_next(block->payload, &cursor, &e)) > 0) {
		if (e.path_len == 6 && memcmp(e.path, "[vdso]", 6) == 0)
			resolver_set_vdso_build_id(b->resolver, &e.id);
		/* An imported table and the recorder's of modules have paths, not inodes. */
		if (e.ino == 0)
			err = task_model_set_path_build_id(b->model, e.path, e.path_len, &e.id);
		else
			err = task_model_set_build_id(b->model, e.maj, e.min, e.ino,
						      e.ino_generation, &e.id);
		if (err < 0)
			break;
	}
	return err;
}

static void
see_block(void *arg, const struct block *block)
{
	struct build *b = arg;
	int err = 0;

	if (block->header.type == BLOCK_KSYMS)
		err = resolver_add_ksyms(b->resolver, block);
	else if (block->header.type == BLOCK_BUILDIDS)
		err = add_buildids(b, block);
	if (err == -FMT_E_NOMEM)
		b->error = err;
	else if (err < 0) /* the checksum was right: a strange writer */
		b->p->totals.bad_blocks++;
}

static int
apply(struct build *b, const struct stream_record *sr)
{
	const struct perf_record *r = sr->record;
	int err;

	if (!r)
		return 0;
	if (r->type == REC_SAMPLE)
		return add_sample(b, r, sr->event);
	if (r->type == REC_KSYMBOL)
		return resolver_apply_ksymbol(b->resolver, r);
	if (r->type == REC_MMAP && r->mmap.pid == TASK_PID_KERNEL) {
		err = resolver_kernel_map(b->resolver, r);
		if (err < 0)
			return err;
	}
	return task_model_apply(b->model, r);
}

static int
read_stream(struct build *b, struct fmt_where *where)
{
	struct record_stream *stream = b->stream;
	struct stream_record sr;
	int err;

	record_stream_on_block(stream, see_block, b);
	while ((err = record_stream_next(stream, &sr, where)) > 0) {
		err = apply(b, &sr);
		if (err == 0)
			err = b->error;
		if (err < 0)
			break;
	}
	record_stream_on_block(stream, NULL, NULL);
	return err == 0 ? b->error : err;
}

static void
note_left_out(struct build *b)
{
	struct profile *p = b->p;
	struct task_model_left_out *all = &p->totals.left_out;
	const struct task_model_left_out now = task_model_left_out(b->model);

	p->names_left_out += now.names;
	all->tasks += now.tasks;
	all->maps += now.maps;
	all->names = p->names_left_out + resolver_left_out(b->resolver);
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
	struct build b = {
		.p = p,
		.stream = stream,
		.resolver = p->resolver,
		.options = p->options,
		.shift_ns = shift_ns,
	};
	int err = -FMT_E_NOMEM;

	assert(p->magic == PROFILE_MAGIC);
	b.model = task_model_new();
	b.swapper = resolver_intern(p->resolver, "swapper");
	b.unknown = resolver_intern(p->resolver, "[unknown]");
	if (b.model && b.swapper && b.unknown)
		err = read_stream(&b, where);
	if (b.model)
		note_left_out(&b);
	task_model_free(b.model);
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
		.cgroup = s->cgroup,
		.pid = s->pid,
		.tid = s->tid,
		.cpu = s->cpu,
		.event = s->event,
		.frames = &p->words[s->frames],
		.nr_frames = s->nr_frames,
		.weight = s->weight,
	};
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

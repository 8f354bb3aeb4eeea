/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/export/firefox_tables.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "symbolizer/export/sample_log.h"

/* --- functions and objects ---------------------------------------------------------------- */

static bool
func_same(const void *owner, uint32_t index, const void *key)
{
	const struct firefox_func *a = &((const struct firefox_tables *)owner)->funcs[index],
				  *b = key;

	return a->label == b->label && a->object == b->object && a->file == b->file;
}

static bool
lib_same(const void *owner, uint32_t index, const void *key)
{
	const struct firefox_lib *a = &((const struct firefox_tables *)owner)->libs[index],
				 *b = key;

	return a->path == b->path && a->build_id == b->build_id;
}

static bool
source_same(const void *owner, uint32_t index, const void *key)
{
	return ((const struct firefox_tables *)owner)->sources[index] == *(const char *const *)key;
}

static int
lib_of(struct firefox_tables *t, const struct frame *f, uint32_t *ret)
{
	const struct firefox_lib key = { f->dso_path, f->dso, f->build_id };
	const uint64_t hash = slots_mix(slots_mix(0, (uintptr_t)key.path), (uintptr_t)key.build_id);

	*ret = FIREFOX_NONE;
	if (!f->dso_path)
		return 0;
	return slots_keep(&t->lib_slots, (uint32_t)hash, lib_same, t, &key, t->libs, t->nr_libs,
			  t->cap_libs, ret);
}

static int
source_of(struct firefox_tables *t, const char *file, uint32_t *ret)
{
	*ret = FIREFOX_NONE;
	if (!file)
		return 0;
	return slots_keep(&t->source_slots, (uint32_t)slots_mix(0, (uintptr_t)file), source_same, t,
			  &file, t->sources, t->nr_sources, t->cap_sources, ret);
}

static int
func_of(struct firefox_tables *t, uint32_t id, uint32_t *ret)
{
	const struct frame *f = profile_frame(t->x->profile, id);
	struct firefox_func key = { frame_label(f), f->dso_path, f->file, id, 0, 0 };
	uint64_t hash = slots_mix(slots_mix(0, (uintptr_t)key.label), (uintptr_t)key.object);
	int err = lib_of(t, f, &key.lib);

	hash = slots_mix(hash, (uintptr_t)key.file);
	if (err == 0)
		err = source_of(t, f->file, &key.source);
	return err ? err
		   : slots_keep(&t->func_slots, (uint32_t)hash, func_same, t, &key, t->funcs,
				t->nr_funcs, t->cap_funcs, ret);
}

static int
frame_of(struct firefox_tables *t, uint32_t id, uint32_t *ret)
{
	int err = 0;

	if (t->frame_of[id] == FIREFOX_NONE) {
		struct firefox_frame f = { .id = id };

		err = array_reserve(t->frames, t->nr_frames, t->cap_frames, 1);
		if (err == 0)
			err = func_of(t, id, &f.func);
		if (err)
			return err;
		t->frame_of[id] = (uint32_t)t->nr_frames;
		t->frames[t->nr_frames++] = f;
	}
	*ret = t->frame_of[id];
	return err;
}

/* --- stacks and threads ------------------------------------------------------------------- */

static bool
node_same(const void *owner, uint32_t index, const void *key)
{
	const struct firefox_node *a = &((const struct firefox_tables *)owner)->nodes[index],
				  *b = key;

	return a->prefix == b->prefix && a->frame == b->frame;
}

static bool
thread_same(const void *owner, uint32_t index, const void *key)
{
	const struct firefox_thread *a = &((const struct firefox_tables *)owner)->threads[index];
	const struct firefox_thread *b = key;

	return a->pid == b->pid && a->tid == b->tid;
}

static int
add_stack(struct firefox_tables *t, uint32_t i, const struct profile_stack *s)
{
	const struct firefox_thread thread = { .pid = s->pid, .tid = s->tid };
	struct firefox_node node = { .prefix = FIREFOX_NONE };
	uint32_t number;
	int err = 0;

	for (uint32_t k = s->nr_frames; err == 0 && k-- > 0;) {
		err = frame_of(t, s->frames[k], &node.frame);
		if (err == 0)
			err = slots_keep(&t->node_slots,
					 (uint32_t)slots_mix(node.prefix, node.frame), node_same, t,
					 &node, t->nodes, t->nr_nodes, t->cap_nodes, &number);
		if (err == 0)
			node.prefix = number;
	}
	t->node_of[i] = node.prefix;
	if (err == 0)
		err = slots_keep(&t->thread_slots, (uint32_t)slots_mix(s->pid, s->tid), thread_same,
				 t, &thread, t->threads, t->nr_threads, t->cap_threads,
				 &t->thread_of[i]);
	return err;
}

/* A counting sort: how many each thread has, where its own begin, and each to its place. */
static int
sort_samples(struct firefox_tables *t)
{
	const struct sample_log *log = t->x->log;
	size_t first = 0;

	for (size_t i = 0; i < t->x->nr_logged; i++)
		if (t->node_of[log->stacks[i]] != FIREFOX_NONE)
			t->threads[t->thread_of[log->stacks[i]]].nr++;
	for (size_t i = 0; i < t->nr_threads; i++) {
		t->threads[i].first = first;
		first += t->threads[i].nr;
		t->threads[i].nr = 0;
	}
	t->nr_samples = first;
	t->order = calloc(first + 1, sizeof(*t->order));
	if (!t->order)
		return -FMT_E_NOMEM;
	for (size_t i = 0; i < t->x->nr_logged; i++) {
		const uint32_t stack = log->stacks[i];
		struct firefox_thread *thread;
		struct profile_stack s;

		if (t->node_of[stack] == FIREFOX_NONE)
			continue;
		thread = &t->threads[t->thread_of[stack]];
		t->order[thread->first + thread->nr++] = (uint32_t)i;
		profile_stack_at(t->x->profile, stack, &s);
		thread->name = s.comm;
	}
	return 0;
}

static int
compare_threads(const void *va, const void *vb)
{
	const struct firefox_thread *a = va, *b = vb;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	/* The first thread of a process has its number. */
	if ((a->tid == a->pid) != (b->tid == b->pid))
		return a->tid == a->pid ? -1 : 1;
	return (a->tid > b->tid) - (a->tid < b->tid);
}

static void
name_processes(struct firefox_tables *t)
{
	if (t->nr_threads > 0)
		qsort(t->threads, t->nr_threads, sizeof(*t->threads), compare_threads);
	for (size_t i = 0; i < t->nr_threads; i++) {
		const bool same = i > 0 && t->threads[i - 1].pid == t->threads[i].pid;

		t->threads[i].process = same ? t->threads[i - 1].process : t->threads[i].name;
	}
}

/* A cut log need not have all stacks: those that nobody has are not written. */
static int
mark_used(struct firefox_tables *t)
{
	const struct profile *p = t->x->profile;
	int err = 0;

	for (size_t i = 0; err == 0 && i < t->x->nr_logged; i++) {
		const uint32_t stack = t->x->log->stacks[i];
		struct profile_stack s;

		if (t->thread_of[stack] != FIREFOX_NONE)
			continue;
		t->thread_of[stack] = 0;
		profile_stack_at(p, stack, &s);
		if (s.event == t->x->event)
			err = add_stack(t, stack, &s);
	}
	return err;
}

int
firefox_tables_make(struct firefox_tables *t, const struct stack_export *x)
{
	const size_t frames = profile_frames(x->profile) + 1;
	const size_t stacks = profile_stacks(x->profile) + 1;
	int err;

	*t = (struct firefox_tables){ .x = x };
	t->frame_of = malloc(frames * sizeof(*t->frame_of));
	t->node_of = malloc(stacks * sizeof(*t->node_of));
	t->thread_of = malloc(stacks * sizeof(*t->thread_of));
	if (!t->frame_of || !t->node_of || !t->thread_of)
		return -FMT_E_NOMEM;
	memset(t->frame_of, 0xff, frames * sizeof(*t->frame_of)); /* FIREFOX_NONE */
	memset(t->node_of, 0xff, stacks * sizeof(*t->node_of));
	memset(t->thread_of, 0xff, stacks * sizeof(*t->thread_of));
	err = mark_used(t);
	if (err == 0)
		err = sort_samples(t);
	if (err == 0)
		name_processes(t);
	return err;
}

void
firefox_tables_done(struct firefox_tables *t)
{
	free(t->funcs);
	slots_done(&t->func_slots);
	free(t->libs);
	slots_done(&t->lib_slots);
	free(t->sources);
	slots_done(&t->source_slots);
	free(t->frames);
	free(t->frame_of);
	free(t->nodes);
	slots_done(&t->node_slots);
	free(t->node_of);
	free(t->threads);
	slots_done(&t->thread_slots);
	free(t->thread_of);
	free(t->order);
}

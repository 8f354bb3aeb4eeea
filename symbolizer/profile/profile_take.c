/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Raw profiles into a profile: places get their frames, and stacks of places become stacks of those. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "symbolizer/profile/kept_values.h"
#include "symbolizer/profile/profile_internal.h"
#include "symbolizer/profile/symbolize.h"
#include "symbolizer/unwind/go_stack.h"

#define NO_STACK UINT32_MAX

static bool
count_same(const void *owner, uint32_t index, const void *key)
{
	return ((const struct profile_build *)owner)->counts[index].name ==
		((const struct event_count *)key)->name;
}

/* Counts an event of this name; *ret is how many there were before. 0, -FMT_E_NOMEM. */
static int
count_name(struct profile_build *b, const char *name, uint32_t *ret)
{
	const struct event_count none = { .name = name };
	uint32_t i;
	int err = slots_keep(&b->count_slots, (uint32_t)slots_mix((uintptr_t)name, 0), count_same,
			     b, &none, b->counts, b->nr_counts, b->cap_counts, &i);

	if (err == 0)
		*ret = b->counts[i].nr++;
	return err;
}

/* The next event of the recording. */
static int
take_event(struct profile_build *b, const char *name)
{
	struct profile_event e = { .name = resolver_intern(b->p->resolver, name),
				   .first = PROFILE_NO_STACK };
	int err;

	if (!e.name)
		return -FMT_E_NOMEM;
	err = array_reserve(b->events, b->nr_events, b->cap_events, 1);
	if (err == 0)
		err = count_name(b, e.name, &e.nth);
	if (err == 0)
		err = profile_keep_event(b->p, &e, &b->events[b->nr_events]);
	if (err == 0)
		b->nr_events++;
	return err;
}

static const char *
keep_text(struct profile_build *b, const char *text)
{
	const char *kept = text ? resolver_intern(b->p->resolver, text) : NULL;

	b->nomem |= text && !kept;
	return kept;
}

/* The id of what the linker knows there. */
static uint32_t
own_frame(const struct profile_build *b, uint32_t place)
{
	return b->ids[b->frames[place].first + b->frames[place].nr - 1];
}

/* Is the detail asked for, and an address? */
static bool
is_place(const struct profile_build *b, enum sample_detail d)
{
	return sample_details_have(b->p->options->details, d) &&
		sample_detail_kind(d) != SAMPLE_DETAIL_VALUE;
}

/* The details with frames for places. Those that nobody wants have none, and are not kept. */
static int
take_details(struct profile_build *b, const struct raw_who *w, uint32_t *ret)
{
	const uint32_t asked = b->p->options->details;
	uint32_t words[SAMPLE_DETAIL_WORDS];
	const uint32_t *raw;
	size_t n;

	*ret = 0;
	if (!asked || !w->wanted || b->raw->details.nr == 0)
		return 0;
	raw = word_lists_at(&b->raw->details, w->detail, &n);
	memcpy(words, raw, n * sizeof(*words));
	for (enum sample_detail d = 0; d < SAMPLE_DETAILS_MAX; d++)
		if (is_place(b, d)) {
			const size_t at = sample_detail_at(asked, d);

			sample_detail_put(words, at, own_frame(b, raw[at]));
		}
	return word_lists_number(&b->p->details, words, n, ret);
}

/* The places of this kind, in the details of whose samples are wanted. */
static void
want_details(struct profile_build *b, enum sample_detail_kind kind)
{
	const uint32_t asked = b->p->options->details;
	const struct raw_profile *raw = b->raw;
	const uint32_t *words;
	uint32_t place;
	size_t n;

	for (enum sample_detail d = 0; d < SAMPLE_DETAILS_MAX; d++) {
		if (!is_place(b, d) || sample_detail_kind(d) != kind || raw->details.nr == 0)
			continue;
		for (size_t i = 0; i < raw->nr_whos; i++) {
			if (!raw->whos[i].wanted)
				continue;
			words = word_lists_at(&raw->details, raw->whos[i].detail, &n);
			place = words[sample_detail_at(asked, d)];
			if (b->wanted[place] == SYMBOLIZE_NOT_WANTED)
				b->wanted[place] = SYMBOLIZE_WANTED;
		}
	}
}

/* Whose the samples are, in the profile's strings and events; and how many nobody wants. */
static int
take_who(struct profile_build *b, const struct raw_who *w, uint32_t *ret)
{
	struct profile *p = b->p;
	const int event = w->event < 0 ? -1 : b->events[w->event];
	struct kept_who kept = { .comm = keep_text(b, w->comm), .event = event };

#define X(type, name)                                                                              \
	kept.name = _Generic(w->name, const char *: keep_text(b, (const char *)(uintptr_t)w->name), \
			     uint32_t: w->name, uint64_t: w->name);
	PROFILE_KEYS(X)
#undef X
	if (!p->options->by_pid)
		kept.pid = 0;
	if (take_details(b, w, &kept.detail) < 0)
		return -FMT_E_NOMEM;
	if (w->in_scope)
		profile_weigh(&profile_event_at(p, event)->whole, &w->seen);
	if (!w->wanted)
		p->totals.filtered += w->seen.samples;
	return b->nomem ? -FMT_E_NOMEM : profile_keep_who(p, &kept, ret);
}

/* Where inlined calls are not shown, the line is still that of the innermost. */
static int
take_frames(void *arg, uint32_t place, const struct frame *frames, size_t nr)
{
	struct profile_build *b = arg;
	const struct profile_options *o = b->p->options;
	struct frame own = frames[nr - 1];
	int err = 0;

	if (o->leaf_only || !o->inlines || o->innermost) {
		own.file = frames[0].file;
		own.line = frames[0].line;
	}
	if (o->leaf_only || !o->inlines) {
		frames = &own;
		nr = 1;
	}
	if (b->p->choice)
		err = frame_choice_place(b->p->choice, place, frames, nr);
	if (err == 0)
		err = array_reserve(b->ids, b->nr_ids, b->cap_ids, nr);
	b->frames[place] = (struct place_frames){ b->nr_ids, (uint32_t)nr };
	for (size_t i = 0; err == 0 && i < nr; i++)
		err = profile_keep_frame(b->p, i + 1 < nr ? &frames[i] : &own,
					 &b->ids[b->nr_ids++]);
	return err;
}

/* Does the filter want what was sampled there? */
static bool
wants_leaf(const struct profile_build *b, uint32_t place)
{
	const struct filter *filter = b->p->options->filter;
	const struct frame *leaf = &b->p->frames[own_frame(b, place)];
	bool mode;

	if (!filter)
		return true;
	mode = filter_mode(filter, callchain_mode_is_kernel(b->raw->places[place].mode));
	return filter_leaf(filter, leaf->dso, leaf->dso_path, frame_label(leaf)) && mode;
}

/* The places of a row, as many as the filter has of each stack. */
static const uint32_t *
row_places(const struct profile_build *b, const struct raw_row *row, size_t *ret_nr)
{
	const struct filter *filter = b->p->options->filter;
	const uint32_t *places = raw_profile_stack(b->raw, row, ret_nr);

	if (filter && *ret_nr > filter_max_stack(filter))
		*ret_nr = filter_max_stack(filter);
	return places;
}

static int
symbolize_wanted(struct profile_build *b)
{
	return symbolize_places(b->p->resolver, b->p->inlines, b->raw, b->wanted, take_frames, b);
}

/*
 * First those that were sampled, then the callers of those that are wanted; data last, since a file is
 * known best by its code.
 */
static int
name_places(struct profile_build *b)
{
	const struct raw_profile *raw = b->raw;
	size_t n;
	int err;

	for (size_t i = 0; i < raw->nr_rows; i++)
		b->wanted[raw_profile_stack(raw, &raw->rows[i], &n)[0]] = SYMBOLIZE_WANTED;
	want_details(b, SAMPLE_DETAIL_CODE);
	err = symbolize_wanted(b);
	if (err)
		return err;
	for (size_t i = 0; i < raw->nr_rows && !raw->leaf_only; i++) {
		const uint32_t *places = row_places(b, &raw->rows[i], &n);

		for (size_t k = 1; k < n && (k > 1 || wants_leaf(b, places[0])); k++)
			if (b->wanted[places[k]] == SYMBOLIZE_NOT_WANTED)
				b->wanted[places[k]] = SYMBOLIZE_WANTED;
	}
	err = raw->leaf_only ? 0 : symbolize_wanted(b);
	want_details(b, SAMPLE_DETAIL_DATA);
	return err || raw->details.nr == 0 ? err : symbolize_wanted(b);
}

static void
count_totals(struct profile_build *b, size_t number, uint32_t leaf)
{
	const struct raw_profile *raw = b->raw;
	const struct raw_row *row = &raw->rows[number];
	const struct raw_times *times = raw_profile_times(raw, number);
	struct profile *p = b->p;
	struct profile_totals *t = &p->totals;

	/* A row may have but a part of the period of samples that other rows count. */
	if (row->weight.samples > 0 &&
	    (t->samples == 0 || times->first_ns + b->shift_ns < t->start_ns))
		t->start_ns = times->first_ns + b->shift_ns;
	if (row->weight.samples > 0 && times->last_ns + b->shift_ns > t->end_ns)
		t->end_ns = times->last_ns + b->shift_ns;
	t->samples += row->weight.samples;
	t->period += row->weight.period;
	t->unresolved[p->frames[leaf].miss] += row->weight.samples;
}

static bool
is_interpreter(struct profile_build *b, const struct frame *leaf)
{
	if (leaf->kernel || !leaf->dso_path)
		return false;
	if (leaf->dso_path != b->interpreter_path) {
		b->interpreter_path = leaf->dso_path;
		b->interpreter = runtime_names_callers(runtime_of_path(leaf->dso_path).kind);
	}
	return b->interpreter;
}

/* Why the kernel's addresses have no names is not the process's affair. */
static int
count_process(struct profile_build *b, const struct raw_row *row, const struct frame *leaf)
{
	if (!b->p->options->processes || row->weight.samples == 0)
		return 0;
	return process_table_count(&b->p->processes, b->raw->whos[row->key.who].pid,
				   leaf->kernel ? RESOLVE_OK : leaf->miss, is_interpreter(b, leaf),
				   row->weight.samples);
}

/* Appends what is to be seen of a place to the list that is made, of *nr_list frames. */
static int
add_place(struct profile_build *b, size_t *nr_list, uint32_t place)
{
	const struct place_frames *frames = &b->frames[place];
	struct profile *p = b->p;
	const uint32_t *shown = NULL;
	size_t nr = frames->nr;
	uint32_t *words;

	if (p->choice)
		shown = frame_choice_shown(p->choice, place, &nr);
	if (array_reserve(b->list, *nr_list, b->cap_list, nr) != 0)
		return -FMT_E_NOMEM;
	words = &b->list[*nr_list];
	/* Without callers it is the function as the linker knows it, and not what is inlined there. */
	if (shown && nr > 0 && p->options->innermost) {
		shown += nr - 1;
		nr = 1;
	}
	if (!shown)
		memcpy(words, &b->ids[frames->first], nr * sizeof(*words));
	for (size_t i = 0; shown && i < nr; i++)
		words[i] = b->ids[frames->first + shown[i]];
	*nr_list += nr;
	return 0;
}

/*
 * Is a frame where nothing is mapped, and it is behind the last of a Go stack? Walking frame pointers goes on there, with
 * whatever the stack has.
 */
static bool
is_behind_go(const struct profile_build *b, uint32_t place, uint32_t behind)
{
	const struct frame *frames = b->p->frames;

	return frames[own_frame(b, behind)].miss == RESOLVE_NO_MAP &&
		go_stack_end_of(frames[own_frame(b, place)].symbol) != GO_STACK_GOES_ON;
}

static int
take_row(struct profile_build *b, size_t number)
{
	const struct raw_row *row = &b->raw->rows[number];
	struct profile *p = b->p;
	const uint32_t *places;
	uint32_t stack;
	size_t n, nr_list = 0;
	int err;

	places = row_places(b, row, &n);
	if (n > 0 && !wants_leaf(b, places[0]))
		n = 0;
	else if (n > 0 && p->choice)
		n = frame_choice_stack(p->choice, places, n);
	if (n == 0) {
		p->totals.filtered += row->weight.samples;
		return 0;
	}
	for (size_t i = 0; i < n && (nr_list == 0 || !p->options->innermost); i++) {
		err = add_place(b, &nr_list, places[i]);
		if (err < 0)
			return err;
		if (i + 1 < n && !p->options->innermost &&
		    is_behind_go(b, places[i], places[i + 1]))
			break;
	}
	count_totals(b, number, own_frame(b, places[0]));
	err = count_process(b, row, &p->frames[own_frame(b, places[0])]);
	if (err < 0)
		return err;
	err = profile_count(p, b->whos[row->key.who], b->list, nr_list, &row->weight, &stack);
	if (err == 0 && b->row_stacks)
		b->row_stacks[number] = stack;
	return err;
}

static int
give_samples(struct profile_build *b, struct gather *g)
{
	const struct raw_profile *raw = b->raw;
	struct profile *p = b->p;
	int err = 0;

	for (size_t i = 0; err == 0 && i < raw->nr_log; i++) {
		const struct raw_logged *l = &raw->log[i];
		struct perf_sample values = { .have = 0 };
		struct profile_sample s = { .stack = b->row_stacks[l->row],
					    .time_ns = l->time_ns + b->shift_ns,
					    .period = l->period };

		if (l->nr_bytes > 0) {
			s.tracepoint =
				gather_tracepoint(g, raw->whos[raw->rows[l->row].key.who].event);
			(void)kept_values_get(span_of(raw->bytes.p + l->bytes_at, l->nr_bytes),
					      &values);
			s.values = &values;
		}
		if (s.stack != NO_STACK)
			err = p->on_sample(p->on_sample_arg, p, &s);
	}
	return err;
}

static int
tell_kernel(struct profile_build *b, const struct gather *g)
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
take_all(struct profile_build *b, struct gather *g)
{
	const struct raw_profile *raw = b->raw;
	int err = tell_kernel(b, g);

	if (err == 0 && b->p->choice)
		err = frame_choice_begin(b->p->choice, raw->nr_places);
	while (err == 0 && b->nr_events < gather_events(g))
		err = take_event(b, gather_event_name(g, b->nr_events));
	if (err == 0)
		err = name_places(b);
	if (err == 0 && b->p->inlines)
		err = inlines_run(b->p->inlines, take_frames, b);
	for (size_t i = 0; err == 0 && i < raw->nr_whos; i++)
		err = take_who(b, &raw->whos[i], &b->whos[i]);
	for (size_t i = 0; err == 0 && i < raw->nr_rows; i++)
		err = take_row(b, i);
	if (err == 0 && b->row_stacks)
		err = give_samples(b, g);
	if (err == 0 && b->p->options->forget)
		err = profile_forget(b->p);
	return err;
}

/* Of each_sample, where somebody asks for them; NULL otherwise. */
static int
begin_row_stacks(struct profile_build *b)
{
	const size_t bytes = (b->raw->nr_rows + 1) * sizeof(*b->row_stacks);

	b->row_stacks = b->p->on_sample ? malloc(bytes) : NULL;
	if (b->row_stacks)
		memset(b->row_stacks, 0xff, bytes); /* NO_STACK */
	return b->p->on_sample && !b->row_stacks ? -FMT_E_NOMEM : 0;
}

int
profile_take(void *arg, struct gather *g, const struct raw_profile *raw)
{
	struct profile *p = arg;
	struct profile_build *b = &p->build;
	int err = -FMT_E_NOMEM;

	b->raw = raw;
	b->frames = calloc(raw->nr_places + 1, sizeof(*b->frames));
	b->wanted = calloc(raw->nr_places + 1, sizeof(*b->wanted));
	b->whos = calloc(raw->nr_whos + 1, sizeof(*b->whos));
	if (b->frames && b->wanted && b->whos && begin_row_stacks(b) == 0)
		err = take_all(b, g);
	free(b->row_stacks);
	b->row_stacks = NULL;
	free(b->frames);
	free(b->ids);
	free(b->wanted);
	free(b->whos);
	free(b->list);
	b->ids = b->list = NULL;
	b->nr_ids = b->cap_ids = b->cap_list = 0;
	return err;
}

/* Of recordings one after the other all adds up. */
static void
note_counted(struct profile *p, const struct gather *g)
{
	const struct profile_build *b = &p->build;

	for (size_t i = 0; i < b->nr_events; i++) {
		struct read_total *all = &profile_event_at(p, b->events[i])->counted;
		const struct read_total t = gather_counted(g, i);

		all->known |= t.known;
		all->value += t.value;
		all->enabled_ns += t.enabled_ns;
		all->running_ns += t.running_ns;
	}
}

static void
note_counts(struct profile *p, const struct gather *g)
{
	struct task_model_left_out *all = &p->totals.left_out;
	const struct task_model_left_out now = gather_left_out(g);
	const struct unwind_stops unwound = gather_unwound(g);
	const struct waits_counts waits = gather_waits(g);

	p->names_left_out += now.names;
	all->tasks += now.tasks;
	all->maps += now.maps;
	all->names = p->names_left_out + resolver_left_out(p->resolver);
	p->totals.bad_blocks += gather_bad_blocks(g);
	p->totals.jit_doubtful += gather_jit_doubtful(g);
	unwind_stops_add(&p->totals.unwound, &unwound);
	waits_counts_add(&p->totals.waits, &waits);
	note_counted(p, g);
}

void
profile_begin(struct profile *p, uint64_t shift_ns)
{
	assert(p->magic == PROFILE_MAGIC && !p->build.p);
	p->build = (struct profile_build){ .p = p, .shift_ns = shift_ns };
}

void
profile_end(struct profile *p, const struct gather *g)
{
	struct profile_build *b = &p->build;

	if (g)
		note_counts(p, g);
	if (g && p->options->processes)
		process_table_learn(&p->processes, gather_processes(g));
	free(b->events);
	free(b->counts);
	slots_done(&b->count_slots);
	*b = (struct profile_build){ .p = NULL };
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks that are given by columns. A sample needs its place in time only where something changes
 * for its task meanwhile: the samples of all other tasks are given together, unsorted.
 */
#include "format/recording/stream_internal.h"

#include <stdlib.h>
#include <string.h>

#include <linux/perf_event.h>

#include "format/bytes/array.h"

/* At each record, on the average: blocks of one session overlap a few others. */
#define LOOKS_EACH 32

/* --- what the sources are ---------------------------------------------------------------- */

static bool
same_form(const struct columns_shape *a, const struct columns_shape *b)
{
	return a->before == b->before && a->behind == b->behind && a->flags == b->flags &&
		memcmp(a->kind, b->kind, (size_t)a->before + a->behind) == 0;
}

/* The value of the word at this place of the sample, if all samples of the source share it. */
static bool
source_word(const struct columns_view_source *v, int place, uint64_t *ret)
{
	for (unsigned int i = 0; i < v->form->nr_sources; i++)
		if (v->form->source[i] == place) {
			*ret = v->word[i];
			return true;
		}
	return false;
}

/* Which of the form's values stands at this place; -1: none. */
static int
value_at(const struct columns_shape *form, int place)
{
	for (unsigned int i = 0; i < form->nr_values; i++)
		if (form->value[i] == place)
			return (int)i;
	return -1;
}

/* The event of a source; -1: its samples alone show whose they are. */
static int
source_event(const struct event_set *events, const struct columns_view_source *v)
{
	const bool one = event_set_count(events) == 1;
	const int place = event_set_id_word(events);
	uint64_t id;
	int index;

	if (place < 0)
		return one && place == EVENT_SET_NO_ID ? 0 : -1;
	if (!source_word(v, place, &id))
		return -1;
	index = event_set_of_sample(events, id);
	return index < 0 && one && event_set_at(events, 0)->nr_ids == 0 ? 0 : index;
}

/*
 * False: records alone show what its samples have, or whose they are. What is behind the callchain
 * as bytes (stacks, raw data) is for readers of records.
 */
static bool
settle_source(const struct event_set *events, struct columns_view_source *v,
	      struct stream_source *ret)
{
	const struct columns_shape *form = v->form;
	const struct sample_layout *layout;
	struct columns_shape shape;
	const struct event *event;
	uint64_t cpu;
	int index;

	if ((form->flags & COLUMNS_F_TAIL) || form->time < 0 || form->task < 0)
		return false;
	index = source_event(events, v);
	if (index < 0)
		return false;
	event = event_set_at(events, (size_t)index);
	layout = &event->layout;
	/* Counts are told by what they are more than those of the sample before. */
	if (layout->read || layout->cpu < 0 || !columns_shape_of(&event->attr, 0, &shape) ||
	    !same_form(&shape, form) || !source_word(v, layout->cpu, &cpu))
		return false;
	*ret = (struct stream_source){ .event = index,
				       .cpu = (uint32_t)cpu,
				       .by_value = layout->period >= 0,
				       .period = event_attr_period(&event->attr),
				       .has_cgroup = form->extra >= 0 };
	v->value = ret->by_value ? value_at(form, layout->period) : -1;
	return v->value >= 0 || !ret->by_value;
}

static int
settle_sources(const struct event_set *events, struct batch *b)
{
	struct columns_view_source *sources;
	size_t nr = columns_view_sources(b->view, &sources);

	b->sources = calloc(nr + 1, sizeof(*b->sources));
	if (!b->sources)
		return -FMT_E_NOMEM;
	for (size_t i = 0; i < nr; i++)
		if (!settle_source(events, &sources[i], &b->sources[i]))
			return 0;
	return 1;
}

/* --- taking a block ---------------------------------------------------------------------- */

struct taking {
	struct record_stream *stream;
	struct batch *batch;
	uint64_t time; /* of the record or sample before, for one that has none */
	size_t before;
};

/* A record that is none of the samples by columns, as index_batch() takes it. */
static int
take_record(void *arg, struct span record, size_t before)
{
	struct taking *t = arg;
	struct batch *b = t->batch;
	const struct columns_view_sample *samples;
	size_t offset = b->len;
	int event;

	if (array_reserve(b->bytes, b->len, b->cap, record.len) != 0 ||
	    array_reserve(b->marks, b->nr_marks, b->marks_cap, 1) != 0)
		return -FMT_E_NOMEM;
	memcpy(b->bytes + b->len, record.p, record.len);
	b->len += record.len;
	b->marks[b->nr_marks++] = (struct mark){ (uint32_t)offset, before };
	columns_view_samples(b->view, &samples);
	if (before > t->before && stream_has(t->stream, samples[before - 1].time))
		t->time = samples[before - 1].time;
	t->before = before;
	if (event_set_parse(stream_events(t->stream), record, &t->stream->record, &event) != 0)
		return stream_batch_enter(b, t->time, offset, EVENT_BAD);
	if (!stream_wants(t->stream, &t->stream->record))
		return 0;
	t->time = t->stream->record.sid.time;
	return stream_batch_enter(b, t->time, offset, event);
}

/* The first and the last of the samples that are in the window; none: nothing is to be given. */
static void
find_times(const struct record_stream *s, struct batch *b)
{
	const struct columns_view_sample *samples;
	size_t nr = columns_view_samples(b->view, &samples);

	b->t_min = UINT64_MAX;
	b->t_max = 0;
	for (size_t i = 0; i < nr; i++) {
		uint64_t time = samples[i].time;

		if (!stream_has(s, time)) {
			b->cut = true;
			continue;
		}
		b->together = true;
		b->t_min = time < b->t_min ? time : b->t_min;
		b->t_max = time > b->t_max ? time : b->t_max;
	}
}

int
stream_columns_take(struct record_stream *s, struct batch *b, const struct block *block)
{
	struct taking t = { .stream = s, .batch = b };
	int r = columns_view_open(block->payload, block->header.records, BLOCK_RECORDS_MAX,
				  &b->view);

	if (r == 0)
		r = settle_sources(stream_events(s), b);
	if (r <= 0)
		return r;
	r = columns_view_read(b->view, take_record, &t);
	if (r)
		return r;
	find_times(s, b);
	return 1;
}

/* --- what has to be in order ------------------------------------------------------------- */

static int
compare_words(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int
add_word(struct stream_words *w, uint64_t word)
{
	if (array_reserve(w->v, w->nr, w->cap, 1) != 0)
		return -FMT_E_NOMEM;
	w->v[w->nr++] = word;
	return 0;
}

static void
sort_words(struct stream_words *w)
{
	if (w->nr > 0)
		qsort(w->v, w->nr, sizeof(*w->v), compare_words);
}

static bool
has_word(const struct stream_words *w, uint64_t word)
{
	return w->nr > 0 && bsearch(&word, w->v, w->nr, sizeof(word), compare_words);
}

static int
touch_process(struct record_stream *s, uint32_t pid)
{
	return add_word(&s->processes, pid);
}

static int
touch_thread(struct record_stream *s, uint32_t pid, uint32_t tid)
{
	return add_word(&s->threads, (uint64_t)tid << 32 | pid);
}

/* For whose samples a record changes what is so. 1: for all, 0, -FMT_E_NOMEM. */
static int
touch_by(struct record_stream *s, const struct perf_record *r)
{
	int error = 0;

	switch (r->type) {
	case REC_MMAP:
	case REC_MMAP2:
		if (r->mmap.pid == UINT32_MAX)
			return 1;
		error = touch_process(s, r->mmap.pid);
		return error ? error : touch_thread(s, r->mmap.pid, r->mmap.tid);
	case REC_COMM:
		if (r->misc & PERF_RECORD_MISC_COMM_EXEC)
			error = touch_process(s, r->comm.pid);
		return error ? error : touch_thread(s, r->comm.pid, r->comm.tid);
	case REC_FORK:
		/* A process begins with its parent's maps, a thread with its name. */
		if (r->task.pid != r->task.ppid)
			error = touch_process(s, r->task.pid);
		return error ? error : touch_thread(s, r->task.pid, r->task.tid);
	case REC_EXIT:
		if (r->task.pid == r->task.tid)
			error = touch_process(s, r->task.pid);
		return error ? error : touch_thread(s, r->task.pid, r->task.tid);
	case REC_NAMESPACES:
		return touch_thread(s, r->namespaces.pid, r->namespaces.tid);
	case REC_KSYMBOL:
	case REC_CGROUP:
	case REC_BPF_EVENT:
	case REC_TEXT_POKE:
		return 1;
	default:
		return 0;
	}
}

void
stream_columns_pay(struct record_stream *s, const struct batch *b)
{
	const struct columns_view_sample *samples;

	s->looks_left += LOOKS_EACH * b->nr;
	if (b->view)
		s->looks_left += LOOKS_EACH * columns_view_samples(b->view, &samples);
}

/*
 * By the records of one batch that are still to be given, up to the last sample of b. Where many blocks overlap many
 * records that is much to look at: it is not known then, which is as if it were for all.
 */
static int
touch_by_batch(struct record_stream *s, const struct batch *of, const struct batch *b)
{
	for (size_t i = of->next; i < of->nr && of->entries[i].time <= b->t_max; i++) {
		const struct entry *e = &of->entries[i];
		struct span rest = span_of(of->bytes + e->offset, of->len - e->offset), record;
		int r = 0;

		if (s->looks_left == 0)
			return 1;
		s->looks_left--;
		if (e->event == EVENT_SAMPLE || e->event == EVENT_BAD)
			continue;
		if (perf_record_next(&rest, &record) > 0 &&
		    event_set_parse(stream_events(s), record, &s->record, NULL) == 0)
			r = touch_by(s, &s->record);
		if (r)
			return r;
	}
	return 0;
}

/*
 * A thread's number that was another process's takes that one's thread away, and with the last one
 * all that was known of it.
 */
static int
touch_former_owners(struct record_stream *s)
{
	const struct stream_words *t = &s->threads;
	uint32_t pid, tid, owner;
	int error = 0;

	for (size_t i = 0; !error && i < t->nr; i++) {
		pid = (uint32_t)t->v[i];
		tid = (uint32_t)(t->v[i] >> 32);
		owner = s->owner ? s->owner(s->owner_arg, tid) : UINT32_MAX;
		if (owner != UINT32_MAX && owner != pid)
			error = touch_process(s, owner);
		if (!error && i > 0 && t->v[i - 1] >> 32 == tid && t->v[i - 1] != t->v[i]) {
			error = touch_process(s, (uint32_t)t->v[i - 1]);
			if (!error)
				error = touch_process(s, pid);
		}
	}
	return error;
}

/* 1: all are to be in order, 0: those that s->processes and s->threads have, -FMT_E_NOMEM. */
static int
collect_touched(struct record_stream *s, const struct batch *b)
{
	int r = 0;

	s->processes.nr = s->threads.nr = 0;
	for (size_t i = 0; r == 0 && i < s->nr_heap; i++)
		r = touch_by_batch(s, s->heap[i], b);
	if (r)
		return r;
	sort_words(&s->threads);
	r = touch_former_owners(s);
	sort_words(&s->processes);
	return r;
}

/* Fills in b->in_order. */
static int
find_order(struct record_stream *s, struct batch *b, bool all)
{
	const uint64_t(*tasks)[2];
	size_t nr_tasks = columns_view_tasks(b->view, &tasks);
	int r = all ? 1 : collect_touched(s, b);

	b->in_order = calloc(nr_tasks + 1, sizeof(*b->in_order));
	if (!b->in_order)
		return -FMT_E_NOMEM;
	if (r < 0)
		return r;
	for (size_t i = 0; i < nr_tasks; i++)
		b->in_order[i] = r > 0 || has_word(&s->processes, (uint32_t)tasks[i][0]) ||
			has_word(&s->threads, tasks[i][0]);
	return 0;
}

/* --- settling ---------------------------------------------------------------------------- */

/* How many samples stand before a record. */
static size_t
samples_before(const struct batch *b, uint32_t offset)
{
	size_t low = 0, high = b->nr_marks;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (b->marks[middle].offset <= offset)
			low = middle;
		else
			high = middle;
	}
	return b->marks[low].before;
}

/* Does the record come before the sample? Of one time, as they stand in the block. */
static bool
comes_first(const struct batch *b, const struct entry *record, const struct entry *sample)
{
	if (record->time != sample->time)
		return record->time < sample->time;
	return samples_before(b, record->offset) <= sample->offset;
}

/* Entries of the samples in order, sorted, and nothing else. */
static int
enter_samples(struct record_stream *s, struct batch *b)
{
	const struct columns_view_sample *samples;
	size_t nr = columns_view_samples(b->view, &samples);
	int error = 0;

	b->nr = b->next = 0;
	for (size_t i = 0; !error && i < nr; i++)
		if (b->in_order[samples[i].task] && stream_has(s, samples[i].time))
			error = stream_batch_enter(b, samples[i].time, i, EVENT_SAMPLE);
	return error || b->nr == 0 ? error : stream_batch_sort(s, b);
}

/* The records that were there, s->side, go among the samples. */
static int
merge_side(struct record_stream *s, struct batch *b, size_t nr_side)
{
	size_t at = b->nr + nr_side, i = b->nr, k = nr_side;

	if (nr_side == 0)
		return 0;
	if (array_reserve(b->entries, b->nr, b->entries_cap, nr_side) != 0)
		return -FMT_E_NOMEM;
	b->nr = at;
	while (k > 0)
		if (i > 0 && comes_first(b, &s->side[k - 1], &b->entries[i - 1]))
			b->entries[--at] = b->entries[--i];
		else
			b->entries[--at] = s->side[--k];
	return 0;
}

int
stream_columns_settle(struct record_stream *s, struct batch *b, bool complete)
{
	size_t nr_side = b->nr - b->next;
	int error;

	/* A block that the window cuts is looked at sample by sample. */
	error = find_order(s, b, !complete || b->cut);
	if (error)
		return error;
	if (array_reserve(s->side, 0, s->side_cap, nr_side + 1) != 0)
		return -FMT_E_NOMEM;
	if (nr_side > 0)
		memcpy(s->side, b->entries + b->next, nr_side * sizeof(*s->side));
	error = enter_samples(s, b);
	if (!error)
		error = merge_side(s, b, nr_side);
	b->together = false;
	b->columns = (struct stream_columns){ b->view, b->sources, b->in_order, b->t_min };
	return error;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/columns.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/stdlib.h>

#include "format/block.h"
#include "format/columns_shape.h"
#include "format/columns_stacks.h"

#define SOURCE_TUPLE (1 + COLUMNS_SOURCE_WORDS) /* shape, then its COLUMNS_SOURCE words */
#define TASK_TUPLE 2
#define STEPS 15   /* of a source that are looked at, to find its step */
#define TRIED 2048 /* times that are foretold in each mode, to choose one */

/* A shape of this block. */
struct shape {
	const struct event_attr *attr;
	size_t group_words;
	struct columns_shape form;
	size_t first_value; /* in the encoder's values; the samples' sources are the one before */
};

struct source {
	uint64_t time; /* of its last sample */
	uint64_t step; /* what foretells the next */
	uint32_t nr_steps;
	uint64_t steps[STEPS];
};

struct columns_encoder {
	uint64_t key;
	const struct event_set *events;
	bool failed; /* out of memory */

	struct shape *shapes;
	size_t nr_shapes;
	struct columns_tuples sources, tasks;
	struct source *source;
	size_t cap_sources;
	struct columns_stacks stacks;

	/* A number for each sample that has one. */
	struct columns_words time, time_source, task, stack, tail_words;
	struct columns_words *values;
	size_t nr_values, cap_values;

	struct columns_words run_source, run_length;
	struct buf tails, verbatim;
	uint64_t records;

	/* What samples come with again and again. */
	uint64_t last_word;
	const struct shape *last_shape;
	uint64_t last_source[SOURCE_TUPLE];
	uint32_t last_source_number;
	uint64_t last_task[TASK_TUPLE];
	uint32_t last_task_number;

	struct columns_words scratch;
	struct columns_out out;
	bool numbers; /* that was written last */
};

struct columns_encoder *
columns_encoder_new(void)
{
	struct columns_encoder *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->shapes = calloc(COLUMNS_SHAPES_MAX, sizeof(*e->shapes));
	if (!e->shapes) {
		free(e);
		return NULL;
	}
	arc4random_buf(&e->key, sizeof(e->key));
	columns_tuples_init(&e->sources, SOURCE_TUPLE, e->key);
	columns_tuples_init(&e->tasks, TASK_TUPLE, e->key);
	columns_stacks_init(&e->stacks, e->key);
	return e;
}

void
columns_encoder_free(struct columns_encoder *e)
{
	if (!e)
		return;
	free(e->shapes);
	columns_tuples_done(&e->sources);
	columns_tuples_done(&e->tasks);
	columns_stacks_done(&e->stacks);
	free(e->source);
	columns_words_done(&e->time);
	columns_words_done(&e->time_source);
	columns_words_done(&e->task);
	columns_words_done(&e->stack);
	columns_words_done(&e->tail_words);
	for (size_t i = 0; i < e->cap_values; i++)
		columns_words_done(&e->values[i]);
	free(e->values);
	columns_words_done(&e->run_source);
	columns_words_done(&e->run_length);
	columns_words_done(&e->scratch);
	buf_done(&e->tails);
	buf_done(&e->verbatim);
	free(e);
}

size_t
columns_encoder_cuts(const struct columns_encoder *e, const size_t **ret)
{
	*ret = e->out.cuts;
	return e->out.nr_cuts;
}

bool
columns_encoder_numbers(const struct columns_encoder *e)
{
	return e->numbers;
}

static bool
clear(struct columns_encoder *e, const struct event_set *events)
{
	e->events = events;
	e->failed = false;
	e->nr_shapes = 0;
	e->time.n = e->time_source.n = e->task.n = e->stack.n = e->tail_words.n = 0;
	e->nr_values = 0;
	e->run_source.n = e->run_length.n = 0;
	buf_clear(&e->tails);
	buf_clear(&e->verbatim);
	e->records = 0;
	e->last_shape = NULL;
	e->last_source_number = e->last_task_number = COLUMNS_TUPLES_NONE;
	return columns_tuples_clear(&e->sources) && columns_tuples_clear(&e->tasks) &&
		columns_stacks_clear(&e->stacks);
}

static inline void
add(struct columns_encoder *e, struct columns_words *w, uint64_t v)
{
	if (!columns_words_add(w, v))
		e->failed = true;
}

static uint64_t
word_of(struct span record, size_t i)
{
	return le64dec(record.p + PERF_RECORD_HEADER_BYTES + 8 * i);
}

static size_t
words_of(struct span record)
{
	return (record.len - PERF_RECORD_HEADER_BYTES) / 8;
}

/* --- shapes ------------------------------------------------------------------------------ */

/* The attr of the event that wrote a sample; NULL: nobody knows. */
static const struct event_attr *
attr_of(const struct columns_encoder *e, struct span record)
{
	struct perf_record parsed;
	int event;

	if (words_of(record) == 0)
		return NULL;
	event = event_set_find(e->events, word_of(record, 0));
	if (event >= 0) {
		const struct event_attr *attr = &event_set_at(e->events, (size_t)event)->attr;

		if (attr->sample_type & PERF_SAMPLE_IDENTIFIER)
			return attr;
	}
	return event_set_parse(e->events, record, &parsed, NULL) == 0 ? parsed.attr : NULL;
}

/* Takes columns for a shape's values, and one for the sources of its samples. */
static bool
take_values(struct columns_encoder *e, struct shape *s)
{
	size_t need = e->nr_values + s->form.nr_values + 1, cap = need * 2;

	if (need > e->cap_values) {
		struct columns_words *values = reallocarray(e->values, cap, sizeof(*values));

		if (!values)
			return false;
		memset(values + e->cap_values, 0, (cap - e->cap_values) * sizeof(*values));
		e->values = values;
		e->cap_values = cap;
	}
	s->first_value = e->nr_values + 1;
	for (; e->nr_values < need; e->nr_values++)
		e->values[e->nr_values].n = 0;
	return true;
}

static const struct shape *
shape_for(struct columns_encoder *e, const struct event_attr *attr, size_t group_words)
{
	struct shape *s;

	for (size_t i = 0; i < e->nr_shapes; i++) {
		s = &e->shapes[i];
		if (s->attr == attr && s->group_words == group_words)
			return s;
	}
	if (e->nr_shapes == COLUMNS_SHAPES_MAX)
		return NULL;
	s = &e->shapes[e->nr_shapes];
	s->attr = attr;
	s->group_words = group_words;
	if (!columns_shape_of(attr, group_words, &s->form))
		return NULL;
	if (!take_values(e, s)) {
		e->failed = true;
		return NULL;
	}
	e->nr_shapes++;
	return s;
}

/* Bytes of a sample's callchain; false: the sample is not of this shape. */
static bool
fits(const struct columns_shape *form, struct span record, size_t *ret_chain)
{
	size_t words = words_of(record), fixed = columns_shape_words(form), room;
	uint64_t chain = 0;

	if (words < fixed)
		return false;
	room = words - fixed;
	if (form->flags & COLUMNS_F_CHAIN)
		chain = word_of(record, form->before);
	*ret_chain = (size_t)chain;
	return (form->flags & COLUMNS_F_TAIL) ? chain <= room : chain == room;
}

/* The shape of a sample; NULL: of none that there is. */
static const struct shape *
shape_of(struct columns_encoder *e, struct span record, size_t *ret_chain)
{
	const struct shape *s = e->last_shape;
	const struct event_attr *attr;
	size_t group_words = 0;
	int group;

	if (!s || s->group_words > 0 || words_of(record) == 0 ||
	    word_of(record, 0) != e->last_word) {
		attr = attr_of(e, record);
		if (!attr)
			return NULL;
		group = columns_shape_group(attr);
		if (group >= 0) {
			if (words_of(record) <= (size_t)group)
				return NULL;
			group_words =
				columns_shape_group_words(attr, word_of(record, (size_t)group));
		}
		s = shape_for(e, attr, group_words);
		if (!s)
			return NULL;
		if (attr->sample_type & PERF_SAMPLE_IDENTIFIER) {
			e->last_word = word_of(record, 0);
			e->last_shape = s;
		}
	}
	return fits(&s->form, record, ret_chain) ? s : NULL;
}

/* --- collecting -------------------------------------------------------------------------- */

/* A word of a sample by its index in kind[]: those behind the callchain stand after it. */
static inline uint64_t
field(const struct columns_shape *form, struct span record, size_t i, size_t chain)
{
	return word_of(record,
		       i < form->before ? i
					: columns_shape_words(form) - form->before - form->behind +
				       chain + i);
}

static bool
reserve_source(struct columns_encoder *e, uint32_t number)
{
	size_t cap = (size_t)number * 2 + 8;
	struct source *source;

	if (number >= e->cap_sources) {
		source = reallocarray(e->source, cap, sizeof(*source));
		if (!source)
			return false;
		e->source = source;
		e->cap_sources = cap;
	}
	return true;
}

/* The number of a sample's source; COLUMNS_TUPLES_NONE: there are too many, or no memory. */
static uint32_t
source_of(struct columns_encoder *e, const struct shape *s, struct span record, size_t chain)
{
	uint64_t tuple[SOURCE_TUPLE] = { (uint64_t)(s - e->shapes) };
	uint32_t number;

	for (unsigned int i = 0; i < s->form.nr_sources; i++)
		tuple[1 + i] = field(&s->form, record, s->form.source[i], chain);
	if (e->last_source_number != COLUMNS_TUPLES_NONE &&
	    columns_tuples_same(tuple, e->last_source, SOURCE_TUPLE))
		return e->last_source_number;
	if (e->sources.n >= COLUMNS_SOURCES_MAX)
		return COLUMNS_TUPLES_NONE;
	number = columns_tuples_add(&e->sources, tuple);
	if (number == COLUMNS_TUPLES_NONE || !reserve_source(e, number)) {
		e->failed = true;
		return COLUMNS_TUPLES_NONE;
	}
	memcpy(e->last_source, tuple, sizeof(tuple));
	e->last_source_number = number;
	return number;
}

static void
add_task(struct columns_encoder *e, const struct shape *s, struct span record, size_t chain)
{
	const struct columns_shape *form = &s->form;
	uint64_t tuple[TASK_TUPLE] = { field(form, record, (size_t)form->task, chain) };

	if (form->extra >= 0)
		tuple[1] = field(form, record, (size_t)form->extra, chain);
	if (e->last_task_number == COLUMNS_TUPLES_NONE ||
	    !columns_tuples_same(tuple, e->last_task, TASK_TUPLE)) {
		e->last_task_number = columns_tuples_add(&e->tasks, tuple);
		memcpy(e->last_task, tuple, sizeof(tuple));
		if (e->last_task_number == COLUMNS_TUPLES_NONE)
			e->failed = true;
	}
	add(e, &e->task, e->last_task_number);
}

/* The ip that a callchain tells: its first word that is no marker. */
static bool
chain_ip(struct span chain, uint64_t *ret)
{
	for (size_t i = 0; i < span_words(chain); i++) {
		*ret = span_word(chain, i);
		if (!perf_context_marker(*ret))
			return true;
	}
	return false;
}

static void
add_stack(struct columns_encoder *e, const struct shape *s, struct span record, size_t chain)
{
	const struct columns_shape *form = &s->form;
	struct columns_stack stack = { .head = le16dec(record.p + 4) };
	uint32_t number;
	uint64_t ip;

	if (chain > 0)
		stack.chain = span_of(record.p + PERF_RECORD_HEADER_BYTES + 8 * (form->before + 1),
				      8 * chain);
	if (form->ip >= 0) {
		stack.ip = field(form, record, (size_t)form->ip, chain);
		if (chain_ip(stack.chain, &ip) && ip == stack.ip) {
			stack.ip = 0;
		} else {
			stack.head |= COLUMNS_HEAD_IP;
		}
	}
	number = columns_stacks_add(&e->stacks, &stack);
	if (number == COLUMNS_TUPLES_NONE)
		e->failed = true;
	add(e, &e->stack, number);
}

static void
add_run(struct columns_encoder *e, uint64_t source)
{
	size_t n = e->run_source.n;

	if (n > 0 && e->run_source.v[n - 1] == source) {
		e->run_length.v[n - 1]++;
		return;
	}
	add(e, &e->run_source, source);
	add(e, &e->run_length, 1);
}

/* Takes a sample apart; false: it has to stay as it is. */
static bool
add_sample(struct columns_encoder *e, struct span record)
{
	const struct shape *s;
	const struct columns_shape *form;
	size_t chain, tail;
	uint32_t source;

	s = shape_of(e, record, &chain);
	if (!s)
		return false;
	source = source_of(e, s, record, chain);
	if (source == COLUMNS_TUPLES_NONE)
		return false;
	form = &s->form;
	add_run(e, (uint64_t)source + 1);
	if (form->time >= 0) {
		add(e, &e->time, field(form, record, (size_t)form->time, chain));
		add(e, &e->time_source, source);
	}
	if (form->task >= 0)
		add_task(e, s, record, chain);
	add_stack(e, s, record, chain);
	if (form->nr_values > 0)
		add(e, &e->values[s->first_value - 1], source);
	for (unsigned int i = 0; i < form->nr_values; i++)
		add(e, &e->values[s->first_value + i], field(form, record, form->value[i], chain));
	if (form->flags & COLUMNS_F_TAIL) {
		tail = words_of(record) - columns_shape_words(form) - chain;
		add(e, &e->tail_words, tail);
		buf_append(&e->tails, record.p + record.len - 8 * tail, 8 * tail);
	}
	return true;
}

/* 0, -FMT_E_CORRUPT. */
static int
collect(struct columns_encoder *e, struct span records)
{
	struct span record;
	int more;

	while ((more = perf_record_next(&records, &record)) > 0 && !e->failed) {
		e->records++;
		if (le32dec(record.p) == REC_SAMPLE && add_sample(e, record))
			continue;
		add_run(e, 0);
		buf_append(&e->verbatim, record.p, record.len);
	}
	return more < 0 ? more : 0;
}

/* --- times and values -------------------------------------------------------------------- */

static unsigned int
bits_of(uint64_t v)
{
	return v == 0 ? 0 : 64 - (unsigned int)__builtin_clzll(v);
}

/* The median of the first steps of each source. */
static void
find_steps(struct columns_encoder *e)
{
	for (size_t i = 0; i < e->sources.n; i++) {
		struct source *s = &e->source[i];

		for (uint32_t k = 1; k < s->nr_steps; k++) {
			uint64_t step = s->steps[k];
			uint32_t at = k;

			for (; at > 0 && s->steps[at - 1] > step; at--)
				s->steps[at] = s->steps[at - 1];
			s->steps[at] = step;
		}
		s->step = s->nr_steps > 0 ? s->steps[s->nr_steps / 2] : 0;
	}
}

static void
restart_sources(struct columns_encoder *e, uint64_t time)
{
	for (size_t i = 0; i < e->sources.n; i++)
		e->source[i].time = time;
}

/* Times become steps, in place; a few of each source are kept. */
static void
make_steps(struct columns_encoder *e, uint64_t from)
{
	restart_sources(e, from);
	for (size_t i = 0; i < e->sources.n; i++)
		e->source[i].nr_steps = 0;
	for (size_t i = 0; i < e->time.n; i++) {
		struct source *s = &e->source[e->time_source.v[i]];
		uint64_t step = e->time.v[i] - s->time;

		s->time = e->time.v[i];
		e->time.v[i] = step;
		if (s->nr_steps < STEPS)
			s->steps[s->nr_steps++] = step;
	}
}

/* Steps become what was not foretold. The mode that leaves fewer bits at first is taken. */
static enum columns_time_mode
foretell(struct columns_encoder *e)
{
	enum columns_time_mode mode;
	uint64_t bits[COLUMNS_TIME_MODES] = { 0 };

	restart_sources(e, 0);
	for (size_t i = 0; i < e->time.n && i < TRIED; i++) {
		struct source *s = &e->source[e->time_source.v[i]];

		bits[COLUMNS_TIME_STEP] += bits_of(columns_zigzag(e->time.v[i] - s->step));
		bits[COLUMNS_TIME_AGAIN] += bits_of(columns_zigzag(e->time.v[i] - s->time));
		s->time = e->time.v[i];
	}
	mode = bits[COLUMNS_TIME_STEP] <= bits[COLUMNS_TIME_AGAIN] ? COLUMNS_TIME_STEP
								   : COLUMNS_TIME_AGAIN;
	restart_sources(e, 0);
	for (size_t i = 0; i < e->time.n; i++) {
		struct source *s = &e->source[e->time_source.v[i]];
		uint64_t step = e->time.v[i];

		e->time.v[i] =
			columns_zigzag(step - (mode == COLUMNS_TIME_STEP ? s->step : s->time));
		s->time = step;
	}
	return mode;
}

static bool
is_constant(const struct columns_words *w)
{
	for (size_t i = 1; i < w->n; i++) {
		if (w->v[i] != w->v[0])
			return false;
	}
	return true;
}

/*
 * A column of values, as they are or as differences to the value before of the same source,
 * whichever leaves fewer bits.
 */
static void
put_values(struct columns_encoder *e, const struct columns_words *source, struct columns_words *v)
{
	uint64_t plain = 0, change = 0;

	e->scratch.n = 0;
	if (is_constant(v)) {
		buf_u8(e->out.buf, 0);
		columns_ints_put(&e->out, v->v, v->n);
		return;
	}
	restart_sources(e, 0);
	if (!columns_words_reserve(&e->scratch, v->n)) {
		e->failed = true;
		return;
	}
	for (size_t i = 0; i < v->n; i++) {
		struct source *s = &e->source[source->v[i]];
		uint64_t difference = columns_zigzag(v->v[i] - s->time);

		plain += bits_of(columns_zigzag(v->v[i] - v->v[0]));
		change += bits_of(difference);
		s->time = v->v[i];
		e->scratch.v[i] = difference;
	}
	buf_u8(e->out.buf, change < plain);
	columns_ints_put(&e->out, change < plain ? e->scratch.v : v->v, v->n);
}

/* --- writing ----------------------------------------------------------------------------- */

static void
put_header(struct columns_encoder *e, size_t bytes, uint64_t time, enum columns_time_mode mode)
{
	struct buf *out = e->out.buf;

	buf_u32(out, (uint32_t)bytes);
	buf_u32(out, (uint32_t)e->records);
	buf_u64(out, time);
	buf_u32(out, (uint32_t)e->nr_shapes);
	buf_u32(out, (uint32_t)e->sources.n);
	buf_u32(out, (uint32_t)e->run_source.n);
	buf_u32(out, (uint32_t)e->tasks.n);
	buf_u32(out, (uint32_t)e->stacks.frames.n);
	buf_u32(out, (uint32_t)e->stacks.n);
	buf_u32(out, (uint32_t)e->stacks.strays.n);
	buf_u32(out, mode);
	for (size_t i = 0; i < e->nr_shapes; i++)
		columns_shape_put(&e->shapes[i].form, out);
}

/* One word of each tuple of a table. */
static void
put_member(struct columns_encoder *e, const struct columns_tuples *t, size_t member)
{
	e->scratch.n = 0;
	for (size_t i = 0; i < t->n; i++)
		add(e, &e->scratch, t->words.v[i * t->width + member]);
	if (!e->failed)
		columns_ints_put(&e->out, e->scratch.v, e->scratch.n);
}

static void
put_tables(struct columns_encoder *e)
{
	for (size_t i = 0; i < SOURCE_TUPLE; i++)
		put_member(e, &e->sources, i);
	e->scratch.n = 0;
	for (size_t i = 0; i < e->sources.n; i++)
		add(e, &e->scratch, e->source[i].step);
	columns_ints_put(&e->out, e->scratch.v, e->scratch.n);
	columns_ints_put(&e->out, e->run_source.v, e->run_source.n);
	columns_ints_put(&e->out, e->run_length.v, e->run_length.n);
	for (size_t i = 0; i < TASK_TUPLE; i++)
		put_member(e, &e->tasks, i);
	columns_stacks_put(&e->stacks, &e->out);
}

static void
put_samples(struct columns_encoder *e, const uint32_t *rank)
{
	for (size_t i = 0; i < e->stack.n; i++)
		e->stack.v[i] = rank[e->stack.v[i]];
	columns_ints_put(&e->out, e->time.v, e->time.n);
	columns_ints_put(&e->out, e->task.v, e->task.n);
	columns_ints_put(&e->out, e->stack.v, e->stack.n);
	for (size_t i = 0; i < e->nr_shapes; i++) {
		const struct shape *s = &e->shapes[i];

		for (unsigned int k = 0; k < s->form.nr_values; k++)
			put_values(e, &e->values[s->first_value - 1],
				   &e->values[s->first_value + k]);
	}
	columns_ints_put(&e->out, e->tail_words.v, e->tail_words.n);
	buf_append(e->out.buf, e->tails.p, e->tails.len);
	columns_out_cut(&e->out);
	buf_append(e->out.buf, e->verbatim.p, e->verbatim.len);
}

static void
put(struct columns_encoder *e, size_t bytes)
{
	uint64_t time = e->time.n > 0 ? e->time.v[0] : 0;
	enum columns_time_mode mode;
	const uint32_t *rank;

	if (!columns_stacks_sort(&e->stacks, &rank)) {
		e->failed = true;
		return;
	}
	make_steps(e, time);
	find_steps(e);
	mode = foretell(e);
	put_header(e, bytes, time, mode);
	put_tables(e);
	put_samples(e, rank);
}

int
columns_encode(struct columns_encoder *e, const struct event_set *events, struct span records,
	       struct buf *out)
{
	size_t start = out->len;
	int error = 0;

	if (records.len > BLOCK_RAW_MAX)
		return -FMT_E_TOO_BIG;
	e->out = (struct columns_out){ .buf = out, .start = start };
	e->failed = !clear(e, events);
	if (!e->failed)
		error = collect(e, records);
	e->failed = e->failed || buf_failed(&e->tails) || buf_failed(&e->verbatim);
	if (!error && !e->failed)
		put(e, records.len);
	if (!error && (e->failed || buf_failed(out))) {
		out->failed = false;
		error = -FMT_E_NOMEM;
	}
	if (error)
		out->len = start;
	e->numbers = !error && e->tails.len + e->verbatim.len <= (out->len - start) / 8;
	return error;
}

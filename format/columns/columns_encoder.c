/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/columns/columns.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/stdlib.h>

#include "format/block/block.h"
#include "format/bytes/array.h"
#include "format/columns/columns_encoder_internal.h"

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
	event = event_set_of_sample(e->events, word_of(record, 0));
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
columns_encoder_fits(const struct columns_shape *form, struct span record, size_t *ret_chain)
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
	return columns_encoder_fits(&s->form, record, ret_chain) ? s : NULL;
}

/* --- collecting -------------------------------------------------------------------------- */

/* A word of a sample by its index in kind[]: those behind the callchain stand after it. */
static inline uint64_t
columns_encoder_field(const struct columns_shape *form, struct span record, size_t i, size_t chain)
{
	return word_of(record,
		       i < form->before ? i
					: columns_shape_words(form) - form->before - form->behind +
				       chain + i);
}

static bool
reserve_source(struct columns_encoder *e, uint32_t number)
{
	return array_reserve(e->source, number, e->cap_sources, 1) == 0;
}

/* The number of a sample's source; COLUMNS_TUPLES_NONE: there are too many, or no memory. */
static uint32_t
source_of(struct columns_encoder *e, const struct shape *s, struct span record, size_t chain)
{
	uint64_t tuple[SOURCE_TUPLE] = { (uint64_t)(s - e->shapes) };
	uint32_t number;

	for (unsigned int i = 0; i < s->form.nr_sources; i++)
		tuple[1 + i] = columns_encoder_field(&s->form, record, s->form.source[i], chain);
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
	uint64_t tuple[TASK_TUPLE] = { columns_encoder_field(form, record, (size_t)form->task,
							     chain) };

	if (form->extra >= 0)
		tuple[1] = columns_encoder_field(form, record, (size_t)form->extra, chain);
	if (e->last_task_number == COLUMNS_TUPLES_NONE ||
	    !columns_tuples_same(tuple, e->last_task, TASK_TUPLE)) {
		e->last_task_number = columns_tuples_add(&e->tasks, tuple);
		memcpy(e->last_task, tuple, sizeof(tuple));
		if (e->last_task_number == COLUMNS_TUPLES_NONE)
			e->failed = true;
	}
	columns_encoder_add(e, &e->task, e->last_task_number);
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
		stack.ip = columns_encoder_field(form, record, (size_t)form->ip, chain);
		if (chain_ip(stack.chain, &ip) && ip == stack.ip) {
			stack.ip = 0;
		} else {
			stack.head |= COLUMNS_HEAD_IP;
		}
	}
	number = columns_stacks_add(&e->stacks, &stack);
	if (number == COLUMNS_TUPLES_NONE)
		e->failed = true;
	columns_encoder_add(e, &e->stack, number);
}

static void
add_run(struct columns_encoder *e, uint64_t source)
{
	size_t n = e->run_source.n;

	if (n > 0 && e->run_source.v[n - 1] == source) {
		e->run_length.v[n - 1]++;
		return;
	}
	columns_encoder_add(e, &e->run_source, source);
	columns_encoder_add(e, &e->run_length, 1);
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
		columns_encoder_add(e, &e->time,
				    columns_encoder_field(form, record, (size_t)form->time, chain));
		columns_encoder_add(e, &e->time_source, source);
	}
	if (form->task >= 0)
		add_task(e, s, record, chain);
	add_stack(e, s, record, chain);
	if (form->nr_values > 0)
		columns_encoder_add(e, &e->values[s->first_value - 1], source);
	for (unsigned int i = 0; i < form->nr_values; i++)
		columns_encoder_add(e, &e->values[s->first_value + i],
				    columns_encoder_field(form, record, form->value[i], chain));
	if (form->flags & COLUMNS_F_TAIL) {
		tail = words_of(record) - columns_shape_words(form) - chain;
		columns_encoder_add(e, &e->tail_words, tail);
		buf_append(&e->tails, record.p + record.len - 8 * tail, 8 * tail);
	}
	return true;
}

/* 0, -FMT_E_CORRUPT. */
static int
columns_encoder_collect(struct columns_encoder *e, struct span records)
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
		error = columns_encoder_collect(e, records);
	e->failed = e->failed || buf_failed(&e->tails) || buf_failed(&e->verbatim);
	if (!error && !e->failed)
		columns_encoder_put(e, records.len);
	if (!error && (e->failed || buf_failed(out))) {
		out->failed = false;
		error = -FMT_E_NOMEM;
	}
	if (error)
		out->len = start;
	e->numbers = !error && e->tails.len + e->verbatim.len <= (out->len - start) / 8;
	return error;
}

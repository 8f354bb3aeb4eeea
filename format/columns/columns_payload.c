/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/columns/columns_payload_internal.h"

#include <stdlib.h>

#include "format/bytes/fmt_error.h"
#include "format/record/perf_record.h"

void
columns_payload_drop(struct columns_payload *p)
{
	for (size_t i = 0; i < p->nr_columns; i++)
		columns_ints_done(&p->columns[i].ints);
	columns_ints_done(&p->run_source);
	columns_ints_done(&p->run_length);
	columns_ints_done(&p->times);
	columns_ints_done(&p->task);
	columns_ints_done(&p->stack);
	columns_ints_done(&p->tail_words);
}

void
columns_payload_done(struct columns_payload *p)
{
	columns_payload_drop(p);
	free(p->shapes);
	free(p->sources);
	free(p->tasks);
	free(p->columns);
	free(p->values);
	free(p->kinds);
	columns_stack_table_done(&p->stacks);
}

static int
take_header(struct columns_payload *p, uint32_t nr_records, size_t limit)
{
	struct span *s = &p->s;

	if (!span_u32(s, &p->bytes) || !span_u32(s, &p->records) || !span_u64(s, &p->time) ||
	    !span_u32(s, &p->nr_shapes) || !span_u32(s, &p->nr_sources) ||
	    !span_u32(s, &p->nr_runs) || !span_u32(s, &p->nr_tasks) ||
	    !span_u32(s, &p->stacks.nr_frames) || !span_u32(s, &p->stacks.nr_stacks) ||
	    !span_u32(s, &p->stacks.nr_strays) || !span_u32(s, &p->time_mode))
		return -FMT_E_TRUNCATED;
	if (p->bytes > limit)
		return -FMT_E_TOO_BIG;
	if (p->records != nr_records || p->records > p->bytes / PERF_RECORD_HEADER_BYTES ||
	    p->nr_shapes > COLUMNS_SHAPES_MAX || p->nr_sources > COLUMNS_SOURCES_MAX ||
	    p->nr_sources > p->records || p->nr_runs > p->records || p->nr_tasks > p->records ||
	    p->stacks.nr_stacks > p->records || p->stacks.nr_strays > p->bytes / sizeof(uint64_t) ||
	    p->time_mode >= COLUMNS_TIME_MODES)
		return -FMT_E_CORRUPT;
	return 0;
}

static int
take_shapes(struct columns_payload *p)
{
	p->shapes = calloc((size_t)p->nr_shapes + 1, sizeof(*p->shapes));
	if (!p->shapes)
		return -FMT_E_NOMEM;
	for (uint32_t i = 0; i < p->nr_shapes; i++) {
		if (!columns_shape_take(&p->s, &p->shapes[i].form))
			return -FMT_E_CORRUPT;
	}
	return 0;
}

/* The i-th numbers of the columns of sources: shape, words, step. */
static int
set_source(struct columns_payload *p, const struct columns_ints *columns, uint32_t i)
{
	struct columns_payload_source *source = &p->sources[i];

	if (columns[0].v[i] >= p->nr_shapes)
		return -FMT_E_CORRUPT;
	source->shape = &p->shapes[columns[0].v[i]];
	for (size_t k = 0; k < COLUMNS_SOURCE_WORDS; k++)
		source->word[k] = columns[1 + k].v[i];
	source->step = columns[1 + COLUMNS_SOURCE_WORDS].v[i];
	source->time = p->time;
	return 0;
}

static int
take_sources(struct columns_payload *p)
{
	struct columns_ints columns[COLUMNS_SOURCE_WORDS + 2] = { { NULL, 0, 0 } };
	const size_t nr = sizeof(columns) / sizeof(columns[0]);
	int error = 0;

	for (size_t k = 0; !error && k < nr; k++)
		error = columns_ints_take(&p->s, p->nr_sources, &columns[k]);
	if (!error) {
		p->sources = calloc((size_t)p->nr_sources + 1, sizeof(*p->sources));
		error = p->sources ? 0 : -FMT_E_NOMEM;
	}
	for (uint32_t i = 0; !error && i < p->nr_sources; i++)
		error = set_source(p, columns, i);
	for (size_t k = 0; k < nr; k++)
		columns_ints_done(&columns[k]);
	return error;
}

static bool
next_run(struct columns_payload *p, struct columns_ints *sources, struct columns_ints *lengths,
	 struct columns_payload_source **ret_source, uint64_t *ret_length)
{
	uint64_t source;

	if (!columns_ints_next(sources, &source) || !columns_ints_next(lengths, ret_length) ||
	    source > p->nr_sources || *ret_length == 0)
		return false;
	*ret_source = source > 0 ? &p->sources[source - 1] : NULL;
	return true;
}

/*
 * Reads the runs once: how many samples each column has. Every source has to have some, and
 * together they must not be longer than the records are: what is allocated for them is bounded
 * by that.
 */
static int
take_runs(struct columns_payload *p)
{
	struct columns_ints sources, lengths;
	uint64_t length, records = 0, bytes = 0;
	struct columns_payload_source *source;
	int error = columns_ints_take(&p->s, p->nr_runs, &p->run_source);

	if (!error)
		error = columns_ints_take(&p->s, p->nr_runs, &p->run_length);
	if (error)
		return error;
	sources = p->run_source;
	lengths = p->run_length;
	for (uint32_t i = 0; i < p->nr_runs; i++) {
		if (!next_run(p, &sources, &lengths, &source, &length) ||
		    length > p->records - records)
			return -FMT_E_CORRUPT;
		records += length;
		bytes += length * PERF_RECORD_HEADER_BYTES;
		if (source) {
			bytes += length * 8 * columns_shape_words(&source->shape->form);
			source->samples += length;
			source->shape->samples += length;
		}
	}
	for (uint32_t i = 0; i < p->nr_sources; i++) {
		if (p->sources[i].samples == 0)
			return -FMT_E_CORRUPT;
	}
	return records == p->records && bytes <= p->bytes ? 0 : -FMT_E_CORRUPT;
}

static void
count_samples(struct columns_payload *p)
{
	for (uint32_t i = 0; i < p->nr_shapes; i++) {
		const struct columns_payload_shape *shape = &p->shapes[i];

		p->samples += shape->samples;
		if (shape->form.time >= 0)
			p->time_samples += shape->samples;
		if (shape->form.task >= 0)
			p->task_samples += shape->samples;
		if (shape->form.flags & COLUMNS_F_TAIL)
			p->tail_samples += shape->samples;
	}
}

static int
take_tasks(struct columns_payload *p)
{
	struct columns_ints task, extra = { NULL, 0, 0 };
	int error = columns_ints_take(&p->s, p->nr_tasks, &task);

	if (!error)
		error = columns_ints_take(&p->s, p->nr_tasks, &extra);
	if (!error) {
		p->tasks = reallocarray(NULL, (size_t)p->nr_tasks + 1, sizeof(*p->tasks));
		error = p->tasks ? 0 : -FMT_E_NOMEM;
	}
	for (uint32_t i = 0; !error && i < p->nr_tasks; i++) {
		p->tasks[i][0] = task.v[i];
		p->tasks[i][1] = extra.v[i];
	}
	columns_ints_done(&task);
	columns_ints_done(&extra);
	return error;
}

/* Room for the columns of all shapes, and for the last values of all sources. */
static int
make_values(struct columns_payload *p)
{
	size_t columns = 0, values = 0;

	for (uint32_t i = 0; i < p->nr_shapes; i++)
		columns += p->shapes[i].form.nr_values;
	for (uint32_t i = 0; i < p->nr_sources; i++)
		values += p->sources[i].shape->form.nr_values;
	p->columns = calloc(columns + 1, sizeof(*p->columns));
	p->values = calloc(values + 1, sizeof(*p->values));
	if (!p->columns || !p->values)
		return -FMT_E_NOMEM;
	p->nr_columns = columns;
	columns = values = 0;
	for (uint32_t i = 0; i < p->nr_shapes; i++) {
		p->shapes[i].values = p->columns + columns;
		columns += p->shapes[i].form.nr_values;
	}
	for (uint32_t i = 0; i < p->nr_sources; i++) {
		p->sources[i].values = p->values + values;
		values += p->sources[i].shape->form.nr_values;
	}
	return 0;
}

static int
take_values(struct columns_payload *p)
{
	int error = make_values(p);
	uint8_t changes;

	for (uint32_t i = 0; !error && i < p->nr_shapes; i++) {
		struct columns_payload_shape *shape = &p->shapes[i];

		for (unsigned int k = 0; !error && k < shape->form.nr_values; k++) {
			if (!span_u8(&p->s, &changes) || changes > 1)
				return -FMT_E_CORRUPT;
			shape->values[k].changes = changes;
			error = columns_ints_take(&p->s, shape->samples, &shape->values[k].ints);
		}
	}
	return error;
}

static int
take_tails(struct columns_payload *p)
{
	struct columns_ints words;
	uint64_t n, total = 0;
	int error = columns_ints_take(&p->s, p->tail_samples, &p->tail_words);

	if (error)
		return error;
	words = p->tail_words;
	for (size_t i = 0; i < p->tail_samples; i++) {
		if (!columns_ints_next(&words, &n) || n > p->s.len / 8 - total)
			return -FMT_E_CORRUPT;
		total += n;
	}
	span_take(&p->s, (size_t)total * 8, &p->tails);
	p->verbatim = p->s;
	return 0;
}

/* The first word of a chain that is an address; false: none is. */
static bool
chain_ip(const struct columns_stack_table *t, const uint32_t *chain, size_t words, uint32_t *ret)
{
	for (size_t i = 0; i < words; i++) {
		*ret = chain[i];
		if (!perf_context_marker(t->frames[*ret]))
			return true;
	}
	return false;
}

static int
take_kinds(struct columns_payload *p)
{
	const struct columns_stack_table *t = &p->stacks;
	uint32_t ip;

	p->kinds = calloc((size_t)t->nr_stacks + 1, sizeof(*p->kinds));
	if (!p->kinds)
		return -FMT_E_NOMEM;
	for (uint32_t i = 0; i < t->nr_stacks; i++) {
		struct columns_payload_stack_kind *k = &p->kinds[i];
		const uint32_t *w = t->words + t->start[i];
		uint32_t words = t->start[i + 1] - t->start[i] - 1;
		uint64_t head = t->frames[*w++];

		k->has_ip = head & COLUMNS_HEAD_IP;
		k->good = !(head & ~(uint64_t)COLUMNS_HEAD_KNOWN) && (!k->has_ip || words > 0);
		if (!k->good)
			continue;
		k->chain_words = words - k->has_ip;
		k->chain_has_ip = chain_ip(t, w + k->has_ip, k->chain_words, &ip);
	}
	return 0;
}

int
columns_payload_take(struct columns_payload *p, struct span payload, uint32_t nr_records,
		     size_t limit)
{
	int error;

	*p = (struct columns_payload){ .s = payload };
	error = take_header(p, nr_records, limit);
	if (!error)
		error = take_shapes(p);
	if (!error)
		error = take_sources(p);
	if (!error)
		error = take_runs(p);
	if (!error)
		error = take_tasks(p);
	if (error)
		return error;
	count_samples(p);
	/* Each stack is some sample's, which has all of its words but the head. */
	error = columns_stack_table_take(&p->stacks, &p->s, p->bytes / 8 + p->samples);
	if (!error)
		error = take_kinds(p);
	if (!error)
		error = columns_ints_take(&p->s, p->time_samples, &p->times);
	if (!error)
		error = columns_ints_take(&p->s, p->task_samples, &p->task);
	if (!error)
		error = columns_ints_take(&p->s, p->samples, &p->stack);
	if (!error)
		error = take_values(p);
	return error ? error : take_tails(p);
}

/* --- sample by sample -------------------------------------------------------------------- */

bool
columns_payload_run(struct columns_payload *p, struct columns_payload_source **ret_source,
		    uint64_t *ret_length)
{
	return next_run(p, &p->run_source, &p->run_length, ret_source, ret_length);
}

bool
columns_payload_time(struct columns_payload *p, struct columns_payload_source *source,
		     uint64_t *ret)
{
	uint64_t v;

	if (!columns_ints_next(&p->times, &v))
		return false;
	v = columns_unzigzag(v);
	v += p->time_mode == COLUMNS_TIME_STEP ? source->step : source->last_step;
	source->last_step = v;
	source->time += v;
	*ret = source->time;
	return true;
}

bool
columns_payload_task(struct columns_payload *p, uint32_t *ret)
{
	uint64_t v;

	if (!columns_ints_next(&p->task, &v) || v >= p->nr_tasks)
		return false;
	*ret = (uint32_t)v;
	return true;
}

bool
columns_payload_value(struct columns_payload_source *source, unsigned int i, uint64_t *ret)
{
	struct columns_payload_value *column = &source->shape->values[i];
	uint64_t v;

	if (!columns_ints_next(&column->ints, &v))
		return false;
	if (column->changes)
		v = source->values[i] += columns_unzigzag(v);
	*ret = v;
	return true;
}

bool
columns_payload_stack(struct columns_payload *p, uint32_t *ret)
{
	uint64_t v;

	if (!columns_ints_next(&p->stack, &v) || v >= p->stacks.nr_stacks)
		return false;
	*ret = (uint32_t)v;
	return true;
}

bool
columns_payload_stack_fits(const struct columns_payload *p, uint32_t number,
			   const struct columns_shape *form)
{
	const struct columns_payload_stack_kind *k = &p->kinds[number];

	if (!k->good || (k->has_ip && form->ip < 0) ||
	    (k->chain_words > 0 && !(form->flags & COLUMNS_F_CHAIN)))
		return false;
	return form->ip < 0 || k->has_ip || k->chain_has_ip;
}

void
columns_payload_stack_of(const struct columns_payload *p, uint32_t number,
			 const struct columns_shape *form, struct columns_payload_stack *ret)
{
	const struct columns_payload_stack_kind *k = &p->kinds[number];
	const struct columns_stack_table *t = &p->stacks;
	const uint32_t *w = t->words + t->start[number];

	ret->misc = (uint16_t)(t->frames[*w++] & COLUMNS_HEAD_MISC);
	ret->ip = k->has_ip ? *w++ : 0;
	ret->chain = w;
	ret->chain_words = k->chain_words;
	if (form->ip >= 0 && !k->has_ip)
		(void)chain_ip(t, w, k->chain_words, &ret->ip);
}

bool
columns_payload_tail(struct columns_payload *p, const struct columns_shape *form, struct span *ret)
{
	uint64_t words;

	*ret = span_of(NULL, 0);
	if (!(form->flags & COLUMNS_F_TAIL))
		return true;
	return columns_ints_next(&p->tail_words, &words) &&
		span_take_words(&p->tails, words, 1, ret);
}

size_t
columns_payload_size(const struct columns_payload *p, uint32_t stack,
		     const struct columns_shape *form, struct span tail)
{
	return PERF_RECORD_HEADER_BYTES +
		8 * (columns_shape_words(form) + p->kinds[stack].chain_words) + tail.len;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was collected of a block, as columns: times foretold, values, tables. */
#include "format/columns/columns_encoder_internal.h"

#include <string.h>

#include "format/bytes/array.h"

#define TRIED 2048 /* times that are foretold in each mode, to choose one */

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
		columns_encoder_add(e, &e->scratch, t->words.v[i * t->width + member]);
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
		columns_encoder_add(e, &e->scratch, e->source[i].step);
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

void
columns_encoder_put(struct columns_encoder *e, size_t bytes)
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

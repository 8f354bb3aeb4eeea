/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/columns.h"

#include <stdlib.h>
#include <string.h>

#include "format/columns_shape.h"
#include "format/columns_stack_table.h"

/* A column of values, of the samples of one shape. */
struct value_column {
	struct columns_ints ints;
	bool changes; /* differences to the value before, of the same source */
};

struct shape {
	struct columns_shape form;
	size_t samples;
	struct value_column *values;
};

struct source {
	struct shape *shape;
	uint64_t word[COLUMNS_SOURCE_WORDS];
	uint64_t step, time, last_step;
	size_t samples;
	uint64_t *values; /* of its last sample */
};

struct decoder {
	struct span s; /* payload yet to be read */
	uint32_t bytes, records, nr_shapes, nr_sources, nr_runs, nr_tasks, time_mode;
	uint64_t time;
	struct shape *shapes;
	struct source *sources;
	uint64_t (*tasks)[2];
	struct columns_stack_table stacks;
	struct value_column *columns; /* of all shapes */
	uint64_t *values;	      /* of all sources */

	struct columns_ints run_source, run_length, times, task, stack, tail_words;
	struct span tails, verbatim;
	size_t samples, time_samples, task_samples, tail_samples;
	uint8_t *out; /* where the next record goes */
	size_t left;  /* bytes of records yet to be written */
};

static void
done(struct decoder *d)
{
	free(d->shapes);
	free(d->sources);
	free(d->tasks);
	free(d->columns);
	free(d->values);
	columns_stack_table_done(&d->stacks);
}

static int
take_header(struct decoder *d, uint32_t nr_records, size_t limit)
{
	struct span *s = &d->s;

	if (!span_u32(s, &d->bytes) || !span_u32(s, &d->records) || !span_u64(s, &d->time) ||
	    !span_u32(s, &d->nr_shapes) || !span_u32(s, &d->nr_sources) ||
	    !span_u32(s, &d->nr_runs) || !span_u32(s, &d->nr_tasks) ||
	    !span_u32(s, &d->stacks.nr_frames) || !span_u32(s, &d->stacks.nr_stacks) ||
	    !span_u32(s, &d->stacks.nr_strays) || !span_u32(s, &d->time_mode))
		return -FMT_E_TRUNCATED;
	if (d->bytes > limit)
		return -FMT_E_TOO_BIG;
	if (d->records != nr_records || d->records > d->bytes / PERF_RECORD_HEADER_BYTES ||
	    d->nr_shapes > COLUMNS_SHAPES_MAX || d->nr_sources > COLUMNS_SOURCES_MAX ||
	    d->nr_sources > d->records || d->nr_runs > d->records || d->nr_tasks > d->records ||
	    d->stacks.nr_stacks > d->records || d->stacks.nr_strays > d->bytes / sizeof(uint64_t) ||
	    d->time_mode >= COLUMNS_TIME_MODES)
		return -FMT_E_CORRUPT;
	return 0;
}

static int
take_shapes(struct decoder *d)
{
	d->shapes = calloc((size_t)d->nr_shapes + 1, sizeof(*d->shapes));
	if (!d->shapes)
		return -FMT_E_NOMEM;
	for (uint32_t i = 0; i < d->nr_shapes; i++) {
		if (!columns_shape_take(&d->s, &d->shapes[i].form))
			return -FMT_E_CORRUPT;
	}
	return 0;
}

static int
take_sources(struct decoder *d)
{
	struct columns_ints shape, word[COLUMNS_SOURCE_WORDS], step;
	uint64_t number;
	bool ok;

	ok = columns_ints_take(&d->s, d->nr_sources, &shape);
	for (size_t k = 0; k < COLUMNS_SOURCE_WORDS; k++)
		ok = ok && columns_ints_take(&d->s, d->nr_sources, &word[k]);
	if (!ok || !columns_ints_take(&d->s, d->nr_sources, &step))
		return -FMT_E_CORRUPT;
	d->sources = calloc((size_t)d->nr_sources + 1, sizeof(*d->sources));
	if (!d->sources)
		return -FMT_E_NOMEM;
	for (uint32_t i = 0; i < d->nr_sources; i++) {
		struct source *source = &d->sources[i];

		ok = columns_ints_next(&shape, &number) && number < d->nr_shapes;
		for (size_t k = 0; k < COLUMNS_SOURCE_WORDS; k++)
			ok = ok && columns_ints_next(&word[k], &source->word[k]);
		if (!ok || !columns_ints_next(&step, &source->step))
			return -FMT_E_CORRUPT;
		source->shape = &d->shapes[number];
		source->time = d->time;
	}
	return 0;
}

/* One run: its source (NULL: records that stayed as they are) and how many records. */
static bool
next_run(struct decoder *d, struct columns_ints *sources, struct columns_ints *lengths,
	 struct source **ret_source, uint64_t *ret_length)
{
	uint64_t source;

	if (!columns_ints_next(sources, &source) || !columns_ints_next(lengths, ret_length) ||
	    source > d->nr_sources || *ret_length == 0)
		return false;
	*ret_source = source > 0 ? &d->sources[source - 1] : NULL;
	return true;
}

/*
 * Reads the runs once: how many samples each column has. Every source has to have some, and
 * together they must not be longer than the records are: what is allocated for them is bounded
 * by that.
 */
static int
take_runs(struct decoder *d)
{
	struct columns_ints sources, lengths;
	uint64_t length, records = 0, bytes = 0;
	struct source *source;

	if (!columns_ints_take(&d->s, d->nr_runs, &d->run_source) ||
	    !columns_ints_take(&d->s, d->nr_runs, &d->run_length))
		return -FMT_E_CORRUPT;
	sources = d->run_source;
	lengths = d->run_length;
	for (uint32_t i = 0; i < d->nr_runs; i++) {
		if (!next_run(d, &sources, &lengths, &source, &length) ||
		    length > d->records - records)
			return -FMT_E_CORRUPT;
		records += length;
		bytes += length * PERF_RECORD_HEADER_BYTES;
		if (source) {
			bytes += length * 8 * columns_shape_words(&source->shape->form);
			source->samples += length;
			source->shape->samples += length;
		}
	}
	for (uint32_t i = 0; i < d->nr_sources; i++) {
		if (d->sources[i].samples == 0)
			return -FMT_E_CORRUPT;
	}
	return records == d->records && bytes <= d->bytes ? 0 : -FMT_E_CORRUPT;
}

static void
count_samples(struct decoder *d)
{
	for (uint32_t i = 0; i < d->nr_shapes; i++) {
		const struct shape *shape = &d->shapes[i];

		d->samples += shape->samples;
		if (shape->form.time >= 0)
			d->time_samples += shape->samples;
		if (shape->form.task >= 0)
			d->task_samples += shape->samples;
		if (shape->form.flags & COLUMNS_F_TAIL)
			d->tail_samples += shape->samples;
	}
}

static int
take_tasks(struct decoder *d)
{
	struct columns_ints task, extra;

	if (!columns_ints_take(&d->s, d->nr_tasks, &task) ||
	    !columns_ints_take(&d->s, d->nr_tasks, &extra))
		return -FMT_E_CORRUPT;
	d->tasks = reallocarray(NULL, (size_t)d->nr_tasks + 1, sizeof(*d->tasks));
	if (!d->tasks)
		return -FMT_E_NOMEM;
	for (uint32_t i = 0; i < d->nr_tasks; i++) {
		if (!columns_ints_next(&task, &d->tasks[i][0]) ||
		    !columns_ints_next(&extra, &d->tasks[i][1]))
			return -FMT_E_CORRUPT;
	}
	return 0;
}

/* Room for the columns of all shapes, and for the last values of all sources. */
static int
make_values(struct decoder *d)
{
	size_t columns = 0, values = 0;

	for (uint32_t i = 0; i < d->nr_shapes; i++)
		columns += d->shapes[i].form.nr_values;
	for (uint32_t i = 0; i < d->nr_sources; i++)
		values += d->sources[i].shape->form.nr_values;
	d->columns = calloc(columns + 1, sizeof(*d->columns));
	d->values = calloc(values + 1, sizeof(*d->values));
	if (!d->columns || !d->values)
		return -FMT_E_NOMEM;
	columns = values = 0;
	for (uint32_t i = 0; i < d->nr_shapes; i++) {
		d->shapes[i].values = d->columns + columns;
		columns += d->shapes[i].form.nr_values;
	}
	for (uint32_t i = 0; i < d->nr_sources; i++) {
		d->sources[i].values = d->values + values;
		values += d->sources[i].shape->form.nr_values;
	}
	return 0;
}

static int
take_values(struct decoder *d)
{
	int error = make_values(d);
	uint8_t changes;

	if (error)
		return error;
	for (uint32_t i = 0; i < d->nr_shapes; i++) {
		struct shape *shape = &d->shapes[i];

		for (unsigned int k = 0; k < shape->form.nr_values; k++) {
			if (!span_u8(&d->s, &changes) || changes > 1 ||
			    !columns_ints_take(&d->s, shape->samples, &shape->values[k].ints))
				return -FMT_E_CORRUPT;
			shape->values[k].changes = changes;
		}
	}
	return 0;
}

static int
take_tails(struct decoder *d)
{
	struct columns_ints words;
	uint64_t n, total = 0;

	if (!columns_ints_take(&d->s, d->tail_samples, &d->tail_words))
		return -FMT_E_CORRUPT;
	words = d->tail_words;
	for (size_t i = 0; i < d->tail_samples; i++) {
		if (!columns_ints_next(&words, &n) || n > d->s.len / 8 - total)
			return -FMT_E_CORRUPT;
		total += n;
	}
	span_take(&d->s, (size_t)total * 8, &d->tails);
	d->verbatim = d->s;
	return 0;
}

/* Reads everything but the numbers of the samples themselves. */
static int
take_payload(struct decoder *d, uint32_t nr_records, size_t limit)
{
	int error = take_header(d, nr_records, limit);

	if (!error)
		error = take_shapes(d);
	if (!error)
		error = take_sources(d);
	if (!error)
		error = take_runs(d);
	if (!error)
		error = take_tasks(d);
	if (error)
		return error;
	count_samples(d);
	/* Each stack is some sample's, which has all of its words but the head. */
	error = columns_stack_table_take(&d->stacks, &d->s, d->bytes / 8 + d->samples);
	if (error)
		return error;
	if (!columns_ints_take(&d->s, d->time_samples, &d->times) ||
	    !columns_ints_take(&d->s, d->task_samples, &d->task) ||
	    !columns_ints_take(&d->s, d->samples, &d->stack))
		return -FMT_E_CORRUPT;
	error = take_values(d);
	return error ? error : take_tails(d);
}

/* --- records ----------------------------------------------------------------------------- */

/* A sample before it is written. */
struct sample {
	const uint32_t *chain;
	size_t chain_words;
	uint32_t head;
	uint64_t ip;
	struct span tail;
};

static bool
chain_ip(const struct decoder *d, const struct sample *sample, uint64_t *ret)
{
	for (size_t i = 0; i < sample->chain_words; i++) {
		*ret = d->stacks.frames[sample->chain[i]];
		if (!perf_context_marker(*ret))
			return true;
	}
	return false;
}

static bool
next_stack(struct decoder *d, const struct columns_shape *form, struct sample *ret)
{
	const struct columns_stack_table *t = &d->stacks;
	uint64_t number, head;
	const uint32_t *w;
	size_t words;

	if (!columns_ints_next(&d->stack, &number) || number >= t->nr_stacks)
		return false;
	w = t->words + t->start[number];
	words = t->start[number + 1] - t->start[number];
	head = t->frames[*w++];
	words--;
	if (head & ~(uint64_t)COLUMNS_HEAD_KNOWN)
		return false;
	ret->head = (uint32_t)head;
	if (head & COLUMNS_HEAD_IP) {
		if (form->ip < 0 || words == 0)
			return false;
		ret->ip = t->frames[*w++];
		words--;
	}
	ret->chain = w;
	ret->chain_words = words;
	if (words > 0 && !(form->flags & COLUMNS_F_CHAIN))
		return false;
	return form->ip < 0 || (head & COLUMNS_HEAD_IP) || chain_ip(d, ret, &ret->ip);
}

static bool
next_tail(struct decoder *d, const struct columns_shape *form, struct sample *ret)
{
	uint64_t words;

	ret->tail = span_of(NULL, 0);
	if (!(form->flags & COLUMNS_F_TAIL))
		return true;
	return columns_ints_next(&d->tail_words, &words) &&
		span_take_words(&d->tails, words, 1, &ret->tail);
}

static bool
next_time(struct decoder *d, struct source *source, uint64_t *ret)
{
	uint64_t v;

	if (!columns_ints_next(&d->times, &v))
		return false;
	v = columns_unzigzag(v);
	v += d->time_mode == COLUMNS_TIME_STEP ? source->step : source->last_step;
	source->last_step = v;
	source->time += v;
	*ret = source->time;
	return true;
}

/* The words of a sample but its callchain and tail, in the order of kind[]. */
static bool
next_words(struct decoder *d, struct source *source, const struct sample *sample, uint64_t *words)
{
	struct shape *shape = source->shape;
	const struct columns_shape *form = &shape->form;
	uint64_t v;

	for (unsigned int i = 0; i < form->nr_sources; i++)
		words[form->source[i]] = source->word[i];
	if (form->time >= 0 && !next_time(d, source, &words[form->time]))
		return false;
	if (form->task >= 0) {
		if (!columns_ints_next(&d->task, &v) || v >= d->nr_tasks)
			return false;
		words[form->task] = d->tasks[v][0];
		if (form->extra >= 0)
			words[form->extra] = d->tasks[v][1];
	}
	if (form->ip >= 0)
		words[form->ip] = sample->ip;
	for (unsigned int i = 0; i < form->nr_values; i++) {
		if (!columns_ints_next(&shape->values[i].ints, &v))
			return false;
		if (shape->values[i].changes)
			v = source->values[i] += columns_unzigzag(v);
		words[form->value[i]] = v;
	}
	return true;
}

static uint8_t *
put_word(uint8_t *to, uint64_t word)
{
	le64enc(to, word);
	return to + sizeof(word);
}

static void
write_sample(struct decoder *d, const struct columns_shape *form, const struct sample *sample,
	     const uint64_t *words, size_t size)
{
	uint8_t *to = d->out;

	le32enc(to, REC_SAMPLE);
	le16enc(to + 4, (uint16_t)(sample->head & COLUMNS_HEAD_MISC));
	le16enc(to + 6, (uint16_t)size);
	to += PERF_RECORD_HEADER_BYTES;
	for (unsigned int i = 0; i < form->before; i++)
		to = put_word(to, words[i]);
	if (form->flags & COLUMNS_F_CHAIN)
		to = put_word(to, sample->chain_words);
	for (size_t i = 0; i < sample->chain_words; i++)
		to = put_word(to, d->stacks.frames[sample->chain[i]]);
	for (unsigned int i = 0; i < form->behind; i++)
		to = put_word(to, words[form->before + i]);
	if (sample->tail.len > 0)
		memcpy(to, sample->tail.p, sample->tail.len);
	d->out += size;
	d->left -= size;
}

static bool
next_sample(struct decoder *d, struct source *source)
{
	const struct columns_shape *form = &source->shape->form;
	uint64_t words[2 * COLUMNS_WORDS_MAX];
	struct sample sample = { 0 };
	size_t size;

	if (!next_stack(d, form, &sample) || !next_tail(d, form, &sample))
		return false;
	size = PERF_RECORD_HEADER_BYTES + 8 * (columns_shape_words(form) + sample.chain_words) +
		sample.tail.len;
	if (size > PERF_RECORD_MAX_BYTES || size > d->left ||
	    !next_words(d, source, &sample, words))
		return false;
	write_sample(d, form, &sample, words, size);
	return true;
}

static bool
next_verbatim(struct decoder *d)
{
	struct span record;

	if (perf_record_next(&d->verbatim, &record) <= 0 || record.len > d->left)
		return false;
	memcpy(d->out, record.p, record.len);
	d->out += record.len;
	d->left -= record.len;
	return true;
}

static bool
write_records(struct decoder *d)
{
	struct source *source;
	uint64_t length;

	for (uint32_t i = 0; i < d->nr_runs; i++) {
		if (!next_run(d, &d->run_source, &d->run_length, &source, &length))
			return false;
		while (length-- > 0) {
			if (!(source ? next_sample(d, source) : next_verbatim(d)))
				return false;
		}
	}
	return d->left == 0 && d->tails.len == 0 && d->verbatim.len == 0;
}

int
columns_decode(struct span payload, uint32_t nr_records, size_t limit, struct buf *out,
	       struct fmt_where *where)
{
	struct decoder d = { .s = payload };
	int error = take_payload(&d, nr_records, limit);

	if (!error) {
		d.left = d.bytes;
		d.out = buf_reserve(out, d.bytes);
		if (!d.out) {
			out->failed = false;
			error = -FMT_E_NOMEM;
		} else if (!write_records(&d)) {
			error = -FMT_E_CORRUPT;
		} else {
			out->len += d.bytes;
		}
	}
	done(&d);
	if (error)
		return fmt_fail(where, (enum fmt_error) - error, 0, "columns of %u records",
				nr_records);
	return 0;
}

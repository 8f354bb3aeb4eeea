/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/columns/columns.h"

#include <string.h>

#include "format/columns/columns_payload_internal.h"

struct decoder {
	struct columns_payload p;
	uint8_t *out; /* where the next record goes */
	size_t left;  /* bytes of records yet to be written */
};

static uint8_t *
put_word(uint8_t *to, uint64_t word)
{
	le64enc(to, word);
	return to + sizeof(word);
}

/* The words of a sample but its callchain and tail, in the order of kind[]. */
static bool
next_words(struct decoder *d, struct columns_payload_source *source,
	   const struct columns_payload_stack *stack, uint64_t *words)
{
	const struct columns_shape *form = &source->shape->form;
	uint32_t task;

	for (unsigned int i = 0; i < form->nr_sources; i++)
		words[form->source[i]] = source->word[i];
	if (form->time >= 0 && !columns_payload_time(&d->p, source, &words[form->time]))
		return false;
	if (form->task >= 0) {
		if (!columns_payload_task(&d->p, &task))
			return false;
		words[form->task] = d->p.tasks[task][0];
		if (form->extra >= 0)
			words[form->extra] = d->p.tasks[task][1];
	}
	if (form->ip >= 0)
		words[form->ip] = d->p.stacks.frames[stack->ip];
	for (unsigned int i = 0; i < form->nr_values; i++)
		if (!columns_payload_value(source, i, &words[form->value[i]]))
			return false;
	return true;
}

static void
write_sample(struct decoder *d, const struct columns_shape *form,
	     const struct columns_payload_stack *stack, struct span tail, const uint64_t *words,
	     size_t size)
{
	uint8_t *to = d->out;

	le32enc(to, REC_SAMPLE);
	le16enc(to + 4, stack->misc);
	le16enc(to + 6, (uint16_t)size);
	to += PERF_RECORD_HEADER_BYTES;
	for (unsigned int i = 0; i < form->before; i++)
		to = put_word(to, words[i]);
	if (form->flags & COLUMNS_F_CHAIN)
		to = put_word(to, stack->chain_words);
	for (size_t i = 0; i < stack->chain_words; i++)
		to = put_word(to, d->p.stacks.frames[stack->chain[i]]);
	for (unsigned int i = 0; i < form->behind; i++)
		to = put_word(to, words[form->before + i]);
	if (tail.len > 0)
		memcpy(to, tail.p, tail.len);
	d->out += size;
	d->left -= size;
}

static bool
next_sample(struct decoder *d, struct columns_payload_source *source)
{
	const struct columns_shape *form = &source->shape->form;
	uint64_t words[2 * COLUMNS_WORDS_MAX];
	struct columns_payload_stack stack;
	struct span tail;
	uint32_t number;
	size_t size;

	if (!columns_payload_stack(&d->p, &number) ||
	    !columns_payload_stack_fits(&d->p, number, form) ||
	    !columns_payload_tail(&d->p, form, &tail))
		return false;
	columns_payload_stack_of(&d->p, number, form, &stack);
	size = columns_payload_size(&d->p, number, form, tail);
	if (size > PERF_RECORD_MAX_BYTES || size > d->left || !next_words(d, source, &stack, words))
		return false;
	write_sample(d, form, &stack, tail, words, size);
	return true;
}

static bool
next_verbatim(struct decoder *d)
{
	struct span record;

	if (perf_record_next(&d->p.verbatim, &record) <= 0 || record.len > d->left)
		return false;
	memcpy(d->out, record.p, record.len);
	d->out += record.len;
	d->left -= record.len;
	return true;
}

static bool
write_records(struct decoder *d)
{
	struct columns_payload_source *source;
	uint64_t length;

	for (uint32_t i = 0; i < d->p.nr_runs; i++) {
		if (!columns_payload_run(&d->p, &source, &length))
			return false;
		while (length-- > 0) {
			if (!(source ? next_sample(d, source) : next_verbatim(d)))
				return false;
		}
	}
	return d->left == 0 && d->p.tails.len == 0 && d->p.verbatim.len == 0;
}

int
columns_decode(struct span payload, uint32_t nr_records, size_t limit, struct buf *out,
	       struct fmt_where *where)
{
	struct decoder d = { .left = 0 };
	int error = columns_payload_take(&d.p, payload, nr_records, limit);

	if (!error) {
		d.left = d.p.bytes;
		d.out = buf_reserve(out, d.p.bytes);
		if (!d.out) {
			out->failed = false;
			error = -FMT_E_NOMEM;
		} else if (!write_records(&d)) {
			error = -FMT_E_CORRUPT;
		} else {
			out->len += d.p.bytes;
		}
	}
	columns_payload_done(&d.p);
	if (error)
		return fmt_fail(where, error, 0, "columns of %u records", nr_records);
	return 0;
}

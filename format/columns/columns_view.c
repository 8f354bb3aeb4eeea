/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/columns/columns_view.h"

#include <stdlib.h>

#include "format/bytes/fmt_error.h"
#include "format/columns/columns_payload_internal.h"
#include "format/record/perf_record.h"

struct columns_view {
	struct columns_payload p;
	struct columns_view_source *sources;
	struct columns_view_sample *samples;
	size_t nr;
	size_t left; /* bytes of records yet to be read */
};

void
columns_view_close(struct columns_view *v)
{
	if (!v)
		return;
	columns_payload_done(&v->p);
	free(v->sources);
	free(v->samples);
	free(v);
}

int
columns_view_open(struct span payload, uint32_t nr_records, size_t limit, struct columns_view **ret)
{
	struct columns_view *v = calloc(1, sizeof(*v));
	int error;

	if (!v)
		return -FMT_E_NOMEM;
	error = columns_payload_take(&v->p, payload, nr_records, limit);
	if (!error) {
		v->sources = calloc((size_t)v->p.nr_sources + 1, sizeof(*v->sources));
		v->samples = calloc(v->p.samples + 1, sizeof(*v->samples));
		error = v->sources && v->samples ? 0 : -FMT_E_NOMEM;
	}
	if (error) {
		columns_view_close(v);
		return error;
	}
	for (uint32_t i = 0; i < v->p.nr_sources; i++)
		v->sources[i] = (struct columns_view_source){ &v->p.sources[i].shape->form,
							      v->p.sources[i].word, -1 };
	v->left = v->p.bytes;
	*ret = v;
	return 0;
}

size_t
columns_view_sources(struct columns_view *v, struct columns_view_source **ret)
{
	*ret = v->sources;
	return v->p.nr_sources;
}

/* All values are read, so that the columns stay in step; one of them is kept. */
static bool
next_value(const struct columns_view *v, struct columns_payload_source *source, uint32_t number,
	   uint64_t *ret)
{
	uint64_t value;

	*ret = 0;
	for (unsigned int i = 0; i < source->shape->form.nr_values; i++) {
		if (!columns_payload_value(source, i, &value))
			return false;
		if ((int)i == v->sources[number].value)
			*ret = value;
	}
	return true;
}

static bool
next_sample(struct columns_view *v, struct columns_payload_source *source)
{
	const struct columns_shape *form = &source->shape->form;
	struct columns_view_sample *s = &v->samples[v->nr];
	struct span tail;
	size_t size;

	s->source = (uint32_t)(source - v->p.sources);
	if (!columns_payload_stack(&v->p, &s->stack) ||
	    !columns_payload_stack_fits(&v->p, s->stack, form) ||
	    !columns_payload_tail(&v->p, form, &tail))
		return false;
	size = columns_payload_size(&v->p, s->stack, form, tail);
	if (size > PERF_RECORD_MAX_BYTES || size > v->left)
		return false;
	if (form->time >= 0 && !columns_payload_time(&v->p, source, &s->time))
		return false;
	if (form->task >= 0 && !columns_payload_task(&v->p, &s->task))
		return false;
	if (!next_value(v, source, s->source, &s->value))
		return false;
	v->nr++;
	v->left -= size;
	return true;
}

static int
next_records(struct columns_view *v, uint64_t length, columns_view_record_fn *on_record, void *arg)
{
	struct span record;
	int error = 0;

	while (!error && length-- > 0) {
		if (perf_record_next(&v->p.verbatim, &record) <= 0 || record.len > v->left)
			return -FMT_E_CORRUPT;
		v->left -= record.len;
		error = on_record(arg, record, v->nr);
	}
	return error;
}

int
columns_view_read(struct columns_view *v, columns_view_record_fn *on_record, void *arg)
{
	struct columns_payload_source *source;
	uint64_t length;
	int error = 0;

	for (uint32_t i = 0; !error && i < v->p.nr_runs; i++) {
		if (!columns_payload_run(&v->p, &source, &length))
			return -FMT_E_CORRUPT;
		if (!source)
			error = next_records(v, length, on_record, arg);
		for (; source && length > 0; length--)
			if (!next_sample(v, source))
				return -FMT_E_CORRUPT;
	}
	columns_payload_drop(&v->p);
	if (!error && (v->left > 0 || v->p.tails.len > 0 || v->p.verbatim.len > 0))
		return -FMT_E_CORRUPT;
	return error;
}

size_t
columns_view_samples(const struct columns_view *v, const struct columns_view_sample **ret)
{
	*ret = v->samples;
	return v->nr;
}

size_t
columns_view_tasks(const struct columns_view *v, const uint64_t (**ret)[2])
{
	*ret = (const uint64_t(*)[2])v->p.tasks;
	return v->p.nr_tasks;
}

size_t
columns_view_stacks(const struct columns_view *v)
{
	return v->p.stacks.nr_stacks;
}

size_t
columns_view_frames(const struct columns_view *v, const uint64_t **ret)
{
	*ret = v->p.stacks.frames;
	return v->p.stacks.nr_frames;
}

void
columns_view_stack(const struct columns_view *v, uint32_t source, uint32_t stack,
		   struct columns_view_stack *ret)
{
	const struct columns_shape *form = v->sources[source].form;
	struct columns_payload_stack s;

	columns_payload_stack_of(&v->p, stack, form, &s);
	*ret = (struct columns_view_stack){ s.misc, form->ip >= 0, s.ip, s.chain, s.chain_words };
}

size_t
columns_view_bytes(const struct columns_view *v)
{
	const struct columns_payload *p = &v->p;

	return sizeof(*v) + v->p.samples * sizeof(*v->samples) +
		p->nr_sources * (sizeof(*v->sources) + sizeof(*p->sources)) +
		(size_t)p->nr_tasks * sizeof(*p->tasks) +
		(size_t)p->stacks.nr_frames * sizeof(*p->stacks.frames) +
		(size_t)p->stacks.nr_stacks * sizeof(*p->kinds) +
		(p->bytes / 8 + p->samples) * sizeof(*p->stacks.words);
}

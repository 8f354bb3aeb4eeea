/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * columns_encoder_internal: what the two halves of the encoder share: what is collected of the
 * records (columns_encoder.c), and how it is written (columns_put.c).
 */
#ifndef FORMAT_COLUMNS_COLUMNS_ENCODER_INTERNAL_H
#define FORMAT_COLUMNS_COLUMNS_ENCODER_INTERNAL_H

#include "format/columns/columns.h"
#include "format/columns/columns_shape.h"
#include "format/columns/columns_stacks.h"

#define SOURCE_TUPLE (1 + COLUMNS_SOURCE_WORDS) /* shape, then its COLUMNS_SOURCE words */
#define TASK_TUPLE 2
#define STEPS 15 /* of a source that are looked at, to find its step */

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

static inline void
columns_encoder_add(struct columns_encoder *e, struct columns_words *w, uint64_t v)
{
	if (!columns_words_add(w, v))
		e->failed = true;
}

void columns_encoder_put(struct columns_encoder *e, size_t bytes);

#endif

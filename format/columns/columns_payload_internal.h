/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * columns_payload: a payload of columns taken apart, with nothing believed: tables read, columns
 * ready to be read number by number. What the decoder and columns_view have in common.
 */
#ifndef FORMAT_COLUMNS_COLUMNS_PAYLOAD_INTERNAL_H
#define FORMAT_COLUMNS_COLUMNS_PAYLOAD_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bytes/span.h"
#include "format/columns/columns_ints.h"
#include "format/columns/columns_shape.h"
#include "format/columns/columns_stack_table.h"

/* A column of values, of the samples of one shape. */
struct columns_payload_value {
	struct columns_ints ints;
	bool changes; /* differences to the value before, of the same source */
};

struct columns_payload_shape {
	struct columns_shape form;
	size_t samples;
	struct columns_payload_value *values;
};

struct columns_payload_source {
	struct columns_payload_shape *shape;
	uint64_t word[COLUMNS_SOURCE_WORDS];
	uint64_t step, time, last_step;
	size_t samples;
	uint64_t *values; /* of its last sample */
};

/* What a stack can be, whatever sample has it. */
struct columns_payload_stack_kind {
	uint32_t chain_words;
	bool good;   /* its first word is one that is known */
	bool has_ip; /* a word of its own */
	bool chain_has_ip;
};

struct columns_payload {
	struct span s; /* yet to be read */
	uint32_t bytes, records, nr_shapes, nr_sources, nr_runs, nr_tasks, time_mode;
	uint64_t time;
	struct columns_payload_shape *shapes;
	struct columns_payload_source *sources;
	uint64_t (*tasks)[2];
	struct columns_stack_table stacks;
	struct columns_payload_value *columns; /* of all shapes */
	size_t nr_columns;
	uint64_t *values;			  /* of all sources */
	struct columns_payload_stack_kind *kinds; /* of all stacks */

	struct columns_ints run_source, run_length, times, task, stack, tail_words;
	struct span tails, verbatim;
	size_t samples, time_samples, task_samples, tail_samples;
};

/*
 * Takes a payload of nr_records records apart, that are no more than limit bytes. 0,
 * -FMT_E_CORRUPT, -FMT_E_TRUNCATED, -FMT_E_TOO_BIG, -FMT_E_NOMEM; columns_payload_done() in any case.
 */
int columns_payload_take(struct columns_payload *p, struct span payload, uint32_t nr_records,
			 size_t limit);
void columns_payload_done(struct columns_payload *p);
/* The columns of samples, which were read: tables stay. */
void columns_payload_drop(struct columns_payload *p);

/* What a sample has of its stack's words. */
struct columns_payload_stack {
	const uint32_t *chain; /* indexes of frames */
	size_t chain_words;
	uint16_t misc; /* of the record's header */
	uint32_t ip;   /* likewise an index, where the shape has one */
};

/*
 * The numbers of the samples, each in its order; false: there is none, or it cannot be. A run's
 * source is NULL: records that stayed as they are.
 */
bool columns_payload_run(struct columns_payload *p, struct columns_payload_source **ret_source,
			 uint64_t *ret_length);
bool columns_payload_time(struct columns_payload *p, struct columns_payload_source *source,
			  uint64_t *ret);
bool columns_payload_task(struct columns_payload *p, uint32_t *ret);
/* Of the i-th value of the source's shape. */
bool columns_payload_value(struct columns_payload_source *source, unsigned int i, uint64_t *ret);
bool columns_payload_stack(struct columns_payload *p, uint32_t *ret);
/* Can a sample of this shape have this stack? */
bool columns_payload_stack_fits(const struct columns_payload *p, uint32_t number,
				const struct columns_shape *form);
/* What it is to that sample. */
void columns_payload_stack_of(const struct columns_payload *p, uint32_t number,
			      const struct columns_shape *form, struct columns_payload_stack *ret);
/* Whatever follows the last word of a sample. */
bool columns_payload_tail(struct columns_payload *p, const struct columns_shape *form,
			  struct span *ret);
/* Bytes of a sample's record. */
size_t columns_payload_size(const struct columns_payload *p, uint32_t stack,
			    const struct columns_shape *form, struct span tail);

#endif

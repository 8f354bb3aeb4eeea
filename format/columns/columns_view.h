/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * columns_view: the samples of a payload as the tables and columns that they are kept in, for
 * readers that count samples and need no records.
 *
 * Opened first: what its sources are, the reader looks at. Then it is read: one small struct a
 * sample, whose task and stack are numbers in tables.
 */
#ifndef FORMAT_COLUMNS_COLUMNS_VIEW_H
#define FORMAT_COLUMNS_COLUMNS_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bytes/span.h"
#include "format/columns/columns_shape.h"

struct columns_view_sample {
	uint64_t time;	/* ns; 0: samples of its source have none */
	uint64_t value; /* the one that was asked for of its source, else 0 */
	uint32_t source, task, stack;
};

/* What an event on a CPU is in a block. */
struct columns_view_source {
	const struct columns_shape *form;
	const uint64_t *word; /* of form->source[], in its order: ids, the CPU */
	int value;	      /* to be set: which of form->value[] is asked for; -1: none */
};

/* Frames of a stack as they stood in the record: with context markers. By their numbers. */
struct columns_view_stack {
	uint16_t misc; /* of the record's header */
	bool has_ip;
	uint32_t ip;
	const uint32_t *chain;
	size_t chain_words;
};

struct columns_view;

/* 0, -FMT_E_CORRUPT, -FMT_E_TRUNCATED, -FMT_E_TOO_BIG, -FMT_E_NOMEM. payload is borrowed until the read. */
int columns_view_open(struct span payload, uint32_t nr_records, size_t limit,
		      struct columns_view **ret);
void columns_view_close(struct columns_view *v);

size_t columns_view_sources(struct columns_view *v, struct columns_view_source **ret);

/*
 * Records that stayed as they are stand between samples: calls back for each, with the number
 * of samples before it. What the callback returns other than 0 ends it, and is returned.
 */
typedef int columns_view_record_fn(void *arg, struct span record, size_t before);

/*
 * Reads all samples, in the order of their records. 0, -FMT_E_CORRUPT, -FMT_E_NOMEM, or what
 * on_record returned. After it the payload is not needed any more.
 */
int columns_view_read(struct columns_view *v, columns_view_record_fn *on_record, void *arg);

size_t columns_view_samples(const struct columns_view *v, const struct columns_view_sample **ret);
/* pid in the low half, tid in the high one, as in the record; extra: the cgroup, or 0. */
size_t columns_view_tasks(const struct columns_view *v, const uint64_t (**ret)[2]);
size_t columns_view_stacks(const struct columns_view *v);
size_t columns_view_frames(const struct columns_view *v, const uint64_t **ret);
/* A stack of a sample of this source. */
void columns_view_stack(const struct columns_view *v, uint32_t source, uint32_t stack,
			struct columns_view_stack *ret);
/* Bytes that it takes. */
size_t columns_view_bytes(const struct columns_view *v);

#endif

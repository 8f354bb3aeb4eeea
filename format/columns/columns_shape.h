/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * columns_shape: which words a sample has, and what each of them is: what a decoder needs to
 * know of an event, and all that it is told.
 */
#ifndef FORMAT_COLUMNS_COLUMNS_SHAPE_H
#define FORMAT_COLUMNS_COLUMNS_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bytes/buf.h"
#include "format/columns/columns_wire.h"
#include "format/record/event_attr.h"

struct columns_shape {
	uint8_t before, behind; /* words before the callchain and behind it */
	uint8_t flags;		/* COLUMNS_F_* */
	uint8_t kind[2 * COLUMNS_WORDS_MAX];

	/* From the above: where the words of each kind are, in kind[]; -1: nowhere. */
	int time, task, extra, ip;
	unsigned int nr_sources, nr_values;
	uint16_t source[COLUMNS_SOURCE_WORDS];
	uint16_t value[2 * COLUMNS_WORDS_MAX];
};

/*
 * The shape of the samples of an event. group_words: words that READ has in them, which the
 * event alone does not tell when its values come in groups; 0 otherwise. False: not one that
 * columns can be made of.
 */
bool columns_shape_of(const struct event_attr *attr, size_t group_words, struct columns_shape *ret);
/* The position of a group's number of values among the words of a sample; -1: no group. */
int columns_shape_group(const struct event_attr *attr);
/* Words of a group of nr values. */
size_t columns_shape_group_words(const struct event_attr *attr, uint64_t nr);

void columns_shape_put(const struct columns_shape *shape, struct buf *out);
/* Takes a shape off s; false: it is not one. */
bool columns_shape_take(struct span *s, struct columns_shape *ret);

/* Words of a sample of this shape, without its callchain and its tail. */
static inline size_t
columns_shape_words(const struct columns_shape *shape)
{
	return (size_t)shape->before + shape->behind + ((shape->flags & COLUMNS_F_CHAIN) ? 1 : 0);
}

#endif

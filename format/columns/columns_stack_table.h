/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * columns_stack_table: the frames and stacks of a payload, read back. Counterpart of
 * columns_stacks, with nothing believed.
 */
#ifndef FORMAT_COLUMNS_COLUMNS_STACK_TABLE_H
#define FORMAT_COLUMNS_COLUMNS_STACK_TABLE_H

#include "format/columns/columns_ints.h"

struct columns_stack_table {
	uint64_t *frames;
	uint32_t *words; /* frames of all stacks */
	uint32_t *start; /* of each, and the end of the last */
	uint32_t nr_frames, nr_stacks, nr_strays;
};

/*
 * Takes the tables off s. The counts are set in *t; words_max is how many words the stacks may
 * have together, so that a few bytes cannot ask for any amount of memory. 0, -FMT_E_CORRUPT,
 * -FMT_E_NOMEM; columns_stack_table_done() in any case.
 */
int columns_stack_table_take(struct columns_stack_table *t, struct span *s, size_t words_max);
void columns_stack_table_done(struct columns_stack_table *t);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * covered: how much CPU time the recordings of a set looked at: what rates are of.
 */
#ifndef SYMBOLIZER_INPUT_COVERED_H
#define SYMBOLIZER_INPUT_COVERED_H

#include "symbolizer/input/input_set.h"

/* From the first one's beginning to the last one's end; false: none has any time. */
bool covered_range(const struct input_set *s, uint64_t *ret_from, uint64_t *ret_until);

struct covered;

/*
 * Of a set whose last recording was read, where wants_spans was set: its spans and gaps, ready to be asked. Borrows
 * the set. The work grows with the gaps as n log n. NULL: out of memory.
 */
struct covered *covered_new(const struct input_set *s);
void covered_free(struct covered *c);

/*
 * Between two times on the clock of the set's first recording, ns of CPUs: those that were looked at,
 * without their gaps. Of a recording of tasks, ns.
 */
double covered_ns(const struct covered *c, uint64_t from_ns, uint64_t until_ns);

/*
 * The part of what was sampled that is there: what is lost is nowhere in time, but makes all rates
 * less alike.
 */
double covered_kept(const struct input_set *s);

#endif

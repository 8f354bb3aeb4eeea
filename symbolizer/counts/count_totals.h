/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_totals: what events counted in all of several recordings. Events that are counted alone are the same in two
 * recordings if they have one name, and are the first of that name in both, or the second...
 *
 * The work is that of the counts that are added, and, once in each recording, of its events up to the last one
 * that is counted.
 *
 * The total of a level (count_unit.snapshot) is the one that was added last.
 */
#ifndef SYMBOLIZER_COUNTS_COUNT_TOTALS_H
#define SYMBOLIZER_COUNTS_COUNT_TOTALS_H

#include "format/record/event_set.h"
#include "symbolizer/counts/count_ratio.h"

#define COUNT_TOTALS_MAX 4096 /* further ones are left out, which is told */

struct count_totals;

struct count_totals *count_totals_new(void); /* NULL: out of memory */
void count_totals_free(struct count_totals *t);

/* Another recording, whose events may grow while it is read: counts that follow are of these. */
void count_totals_begin(struct count_totals *t);
/* More of an event of the recording. 0, -FMT_E_NOMEM. */
int count_totals_add(struct count_totals *t, const struct event_set *events, size_t event,
		     const struct read_total *total);
bool count_totals_left_out(const struct count_totals *t);

/* In the order in which they came first. Borrowed until more is added. NULL: out of memory. */
const struct counted_list *count_totals_all(struct count_totals *t);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_rows: what events without samples counted from one reading to the next, of the READ records
 * that tell their counts so far. A row is what was read at one time, of all CPUs or tasks.
 *
 * The first READ of an id is where it begins: what was counted before is not of this recording. An
 * id that comes later (a CPU that came online) joins a row with what it has; a reading that is
 * missing makes that interval longer, and costs no count. A level (count_unit.snapshot) is what its last reading
 * in the row told.
 */
#ifndef SYMBOLIZER_COUNTS_COUNT_ROWS_H
#define SYMBOLIZER_COUNTS_COUNT_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bytes/slots.h"
#include "format/record/event_set.h"
#include "format/record/read_counts.h"

/* Of one interval. */
struct count_row {
	uint64_t from_ns, until_ns;
	struct read_counts counts; /* settled, of this interval alone */
};

struct count_rows_options {
	uint64_t interval_ns; /* of the recording; 0: not known */
	uint64_t span_ns;     /* readings of so long make one row; 0: each makes one */
	/* What is returned, if it is not 0, ends the walk. The row is the callee's to look at. */
	int (*see)(void *arg, const struct count_row *row);
	void *arg;
};

struct count_last {
	uint64_t id;
	uint64_t time_ns, value, enabled_ns, running_ns;
	uint64_t row; /* in which it has a count, and which one */
	size_t row_at;
};

struct count_rows {
	struct count_rows_options options;
	struct count_last *last;
	size_t nr, cap;
	struct slots slots;
	struct count_row row; /* that is open, if it has counts */
	uint64_t rows;	      /* that have ended */
	uint64_t backwards;   /* counts that were less than before: of them nothing is known */
};

void count_rows_init(struct count_rows *c, const struct count_rows_options *options);
void count_rows_done(struct count_rows *c);

/*
 * READ records in the order of their times; other records, and other events' READs, are passed over. One that
 * is outside of what is asked for is where a count begins, and no row's. 0, -FMT_E_*.
 */
int count_rows_add(struct count_rows *c, const struct event_set *events,
		   const struct perf_record *record, bool outside);
/* After the last one: the row that is open, if one is. */
int count_rows_end(struct count_rows *c);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counters_print: what events counted in an interval, in lines as perf stat -I prints them, in fields
 * between separators as its -x does, and as JSON.
 */
#ifndef SYMBOLIZER_VIEW_COUNTERS_PRINT_H
#define SYMBOLIZER_VIEW_COUNTERS_PRINT_H

#include <stdio.h>

#include "symbolizer/counts/count_ratio.h"

#define COUNTERS_ALL UINT32_MAX /* CPUs */

struct counters_row {
	const struct counted_list *counted;
	uint32_t cpu;		    /* COUNTERS_ALL, or the one that they are of */
	uint64_t from_ns, until_ns; /* on the clock of the first recording */
	uint64_t start_ns;	    /* when that began */
	uint64_t realtime_ns;	    /* until_ns, since 1970; 0: not known */
	uint64_t counted_ns;	    /* how long was counted: of a total the sum of its rows */
	bool total;
};

/* What stands above the lines. */
void counters_text_header(FILE *out, bool per_cpu);
void counters_text(FILE *out, const struct counters_row *row, bool per_cpu);
/* time, CPU (with per_cpu), count, unit, event, ns that it ran, percent of its time, ratio and unit. */
void counters_fields(FILE *out, const struct counters_row *row, bool per_cpu,
		     const char *separator);
/* One object in one line. 0, -FMT_E_NOMEM. */
int counters_json(FILE *out, const struct counters_row *row);

#endif

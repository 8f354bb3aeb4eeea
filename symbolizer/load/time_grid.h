/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * time_grid: the columns of time of a picture: how wide, from when on, what stands above them, and in
 * which of them nothing was recorded.
 */
#ifndef SYMBOLIZER_LOAD_TIME_GRID_H
#define SYMBOLIZER_LOAD_TIME_GRID_H

#include <stddef.h>
#include <stdint.h>

#include "format/bytes/buf.h"
#include "symbolizer/load/load.h"

enum time_mark {
	TIME_RECORDED,
	TIME_PART,	   /* a part of it, or of its samples, is missing */
	TIME_NOT_RECORDED, /* all of it */
};

struct time_grid {
	const struct load *load;
	uint64_t from; /* the first bucket */
	uint64_t per;  /* buckets in a column */
	size_t nr;     /* columns; 0: there are no samples */
	uint64_t width_ns;
	uint8_t *marks; /* enum time_mark, by column */
};

/*
 * The least width that a person reads easily (1, 2, 5 ms, ..., 15 min, ...) and of which columns
 * (two at least) cover ns.
 */
uint64_t time_grid_width(uint64_t ns, size_t columns);

/*
 * Of what was loaded with by_time, from its first sample to its last. Columns are buckets; or several
 * of them where there are more than columns_max. 0, -FMT_E_NOMEM.
 */
int time_grid_make(struct time_grid *g, const struct load *l, size_t columns_max);
void time_grid_done(struct time_grid *g);

/* Where a column begins, on the clock of the first recording; modulo 2^64. */
uint64_t time_grid_start(const struct time_grid *g, size_t column);
/* The same as people read it (time_buckets_text()). */
void time_grid_text(const struct time_grid *g, size_t column, char *out, size_t size);
/* "2 s", "15 min" */
void time_grid_span_text(uint64_t ns, char *out, size_t size);

/* Times above columns [first, first + nr), each with a '|' above the column that it is of. */
void time_grid_axis(const struct time_grid *g, size_t first, size_t nr, struct buf *out);

/* Is there a column with this mark? */
bool time_grid_has(const struct time_grid *g, enum time_mark mark);

#endif

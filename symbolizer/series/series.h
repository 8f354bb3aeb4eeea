/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * series: what spoor timeline and spoor heatmap have in common: their options, the way from them to
 * series over time, and what stands above those and beside them.
 */
#ifndef SYMBOLIZER_SERIES_SERIES_H
#define SYMBOLIZER_SERIES_SERIES_H

#include "symbolizer/profile/time_series.h"
#include "symbolizer/load/event_units.h"
#include "symbolizer/load/load.h"
#include "symbolizer/load/time_grid.h"

/* name in code, letter, long name, argument, help */
#define SERIES_OPTIONS_OF(X)                                                                       \
	X(bucket, 0, "bucket", "SPAN", "width of a column: 1s, 5m... (as fits)")                   \
	X(max, 0, "max", "NUMBER", "as many rows, the heaviest, and the others as one (20)")       \
	X(each, 0, "each", NULL, "each row on a scale of its own")                                 \
	X(percentage, 0, "percentage", "OF",                                                       \
	  "shares are relative, of what filters leave (default), or absolute, of the whole")       \
	X(json, 0, "json", NULL, "one JSON object instead of text")

enum series_option {
	SERIES_OPTION_FIRST = 0x400,
#define X(id, letter, name, arg, help) SERIES_OPTION_##id,
	SERIES_OPTIONS_OF(X)
#undef X
};
#define SERIES_ROW(id, letter, name, arg, help) { SERIES_OPTION_##id, letter, name, arg, help },
#define SERIES_OPTIONS SERIES_OPTIONS_OF(SERIES_ROW) CLI_COLOR_ROW CLI_NO_PAGER_ROW

#define SERIES_ROWS_MAX 20
#define SERIES_PARTS_EXTENT_NS (UINT64_C(3600) * 1000000000)
#define SERIES_PARTS_LEAST_NS UINT64_C(1000000000) /* width of a column, unless it is asked for */
#define SERIES_PARTS 50 /* of a column that is drawn as parts, from its bottom up */

struct series_options {
	struct load_options load;
	enum time_series_key key; /* of rows */
	bool key_given; /* without: control groups' units, or commands if there are none */
	/* One row, and buckets are a SERIES_PARTS-th of a column. */
	bool parts;
	bool parts_if_short; /* up to SERIES_PARTS_EXTENT_NS, unless there is a key or a bucket */
	uint64_t bucket_ns;  /* of a column; 0: so that columns cover it all */
	size_t columns, columns_of_parts; /* that fit */
	size_t rows_max;
	bool each, json;
	bool absolute;	    /* shares are of the whole event, not of what filters left */
	const char *output; /* of a page; NULL: text, or JSON, on stdout */
};

struct series {
	struct load load;
	const struct series_options *options;
	enum time_series_key key;
	struct event_units *units;
	struct time_grid grid; /* nr 0: there is nothing */
	/* Of the event that is looked at. */
	struct time_series *rows;
	int event;
	enum event_unit unit;
	double hz;
};

/* 0 or an exit status, said. */
int series_init(struct series_options *o, const char *command);
void series_done(struct series_options *o);
/* An option of SERIES_OPTIONS or of load: CLI_GO_ON, or an exit status, said. */
int series_set(struct series_options *o, int value, const char *text);
int series_set_key(struct series_options *o, const char *text);

/* As load_open(): 0, or an exit status after a message; series_close() in any case. */
int series_open(struct series *s, struct series_options *o);
void series_close(struct series *s);

/*
 * The next event that has samples, from *event on (at first -1, which is itself one): 1; 0: there is
 * none; -FMT_E_NOMEM.
 */
int series_next(struct series *s, int *event);

/* "cpu-seconds", "estimated-cpu-seconds" or "events". */
const char *series_unit_name(const struct series *s);
/* What samples weigh in the event's unit. */
double series_value(const struct series *s, const struct profile_weight *w);
/* Of a span of time: of seconds as many CPUs, else as often a second. */
double series_rate(const struct series *s, const struct profile_weight *w, uint64_t ns);
/* What shares are of, once rows are there; and percent of that. */
struct profile_weight series_base(const struct series *s);
double series_share(const struct series *s, const struct profile_weight *w);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_filters: which hits of a tracepoint spoor record samples: --filter and --exclude-perf, as perf's. */
#ifndef SYMBOLIZER_RECORD_RECORD_FILTERS_H
#define SYMBOLIZER_RECORD_RECORD_FILTERS_H

#include "recorder/session/session.h"

#define RECORD_FILTERS_MAX 1024 /* as many as there can be -e */

enum {
	RECORD_FILTER = 0x400,
	RECORD_EXCLUDE_PERF,
};

/* Rows of a table of struct cli_option. */
#define RECORD_FILTER_OPTIONS                                                                      \
	{ RECORD_FILTER, 0, "filter", "EXPR", "of the tracepoint before it, those hits only" },    \
	{                                                                                          \
		RECORD_EXCLUDE_PERF, 0, "exclude-perf", NULL,                                      \
			"of the tracepoint before it, not those of the recorder"                   \
	}

/* All zero: none. */
struct record_filters {
	struct session_filter of[RECORD_FILTERS_MAX]; /* by -e */
	char *text[RECORD_FILTERS_MAX];		      /* owned: what of points to */
};

/*
 * Takes one of them, behind so many -e. Several of one -e all have to hold. CLI_GO_ON, or the status
 * of an error, which was told.
 */
int record_filters_set(struct record_filters *f, size_t nr_events, int value, const char *text);
void record_filters_done(struct record_filters *f);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top_print: what the CPUs do now: of the last seconds of a recording that is being written, the rows that take
 * most, in lines for a screen.
 */
#ifndef SYMBOLIZER_VIEW_TOP_PRINT_H
#define SYMBOLIZER_VIEW_TOP_PRINT_H

#include <stdio.h>

#include "symbolizer/profile/report.h"
#include "symbolizer/load/load.h"

struct top_print {
	struct load *load; /* its set has spans (wants_spans) */
	const struct report *report;
	const struct report_options *options;
	const char *by;	    /* what it is by, in words */
	const char *about;  /* a line of keys; NULL: none */
	int lines, columns; /* 0: no terminal: all rows, names in full */
	bool color;
	uint64_t now_ns; /* since 1970 */
};

/* 0, -FMT_E_NOMEM. */
int top_print(const struct top_print *p, FILE *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peek_print: functions with their callers and callees on stdout, for a person or as JSON.
 */
#ifndef SYMBOLIZER_VIEW_PEEK_PRINT_H
#define SYMBOLIZER_VIEW_PEEK_PRINT_H

#include "symbolizer/profile/peek.h"
#include "symbolizer/load/load.h"

struct peek_print {
	const struct load *load;
	const char *regex;    /* as it was given */
	size_t functions_max; /* those behind it are left out; 0: none are */
	bool absolute; /* shares of functions are of the whole, and not of what filters leave */
	double percent_limit; /* calls that are less of their function's total are left out */
	int terminal;	      /* columns; 0: it is none */
	bool color;
};

/* Of one event. 0, -FMT_E_NOMEM. A failed write is found out at exit. */
int peek_print_text(const struct peek_print *p, const struct peek *k, int event);
/* As an object; the same of several events are an array's elements. */
int peek_print_json(const struct peek_print *p, const struct peek *k, int event);

/* For both: how many functions are shown, and how many of a function's n calls from first on. */
size_t peek_print_functions(const struct peek_print *p, const struct peek *k);
size_t peek_print_calls(const struct peek_print *p, const struct peek *k,
			const struct peek_function *f, size_t first, size_t n);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * annotate_print: functions with their instructions and lines, to people or as JSON. One function at a
 * time is listed, and forgotten when it was printed.
 */
#ifndef SYMBOLIZER_VIEW_ANNOTATE_PRINT_H
#define SYMBOLIZER_VIEW_ANNOTATE_PRINT_H

#include "symbolizer/code/annotation.h"
#include "symbolizer/code/listing.h"
#include "symbolizer/code/source_text.h"
#include "symbolizer/text/table.h"
#include "symbolizer/load/load.h"
#include "symbolizer/view/skid_text.h"

struct annotate_print {
	struct load *load;
	const struct annotation *annotation;
	const struct annotation_function *const *functions; /* those that are asked for */
	size_t nr_functions;
	const struct skid_events *events;
	struct kernel_code *kernel;
	struct source_text *source;
	struct listing_options listing;
	bool no_lines;		    /* instructions alone */
	bool full_paths;	    /* of sources; else the last part of their names */
	double min_percent;	    /* of the function: what has less is left out */
	struct table_options table; /* of the text */
};

/* 0, or -FMT_E_NOMEM. A failed write is found out at exit. */
int annotate_print_text(const struct annotate_print *p);
int annotate_print_json(const struct annotate_print *p);

/* Shares of a function, in percent. */
double annotate_percent(const struct annotation_function *f, const struct profile_weight *w);
/* Why there are no lines of the source; NULL: there are. */
const char *annotate_no_lines(const struct listing *l);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_print: a report on stdout, for a person or as JSON.
 */
#ifndef SYMBOLIZER_VIEW_REPORT_PRINT_H
#define SYMBOLIZER_VIEW_REPORT_PRINT_H

#include "symbolizer/profile/call_graph.h"
#include "symbolizer/profile/report.h"
#include "symbolizer/text/table.h"
#include "symbolizer/load/load.h"

struct report_print {
	struct load *load;
	const struct report *report;
	const struct report_options *options;
	double percent_limit;	    /* rows below it are left out */
	size_t rows_max;	    /* likewise those behind so many of an event; 0: none are */
	struct table_options table; /* of the text; rows_only: and nothing besides */
	const struct call_graph_options *graph;
	struct call_graphs *graphs; /* NULL: rows have none */
};

/* 0, or -FMT_E_NOMEM. A failed write is found out at exit. */
int report_print_text(const struct report_print *p);
int report_print_json(const struct report_print *p);

/* On the way through a section's rows that are shown; all zero is the start of it. */
struct report_rows {
	size_t at, shown;
	size_t left_out; /* at the end: those behind rows_max */
};
bool report_rows_next(const struct report_print *p, const struct report_section *s,
		      struct report_rows *rows, const struct report_row **ret);

/* What the call graph of a row is of. */
struct call_graph_print report_graph(const struct report_print *p, const struct report_section *s,
				     const struct report_row *row);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_print: a report on stdout, for a person or as JSON.
 */
#ifndef SYMBOLIZER_VIEW_REPORT_PRINT_H
#define SYMBOLIZER_VIEW_REPORT_PRINT_H

#include "symbolizer/profile/report.h"
#include "symbolizer/text/table.h"
#include "symbolizer/view/load.h"

struct report_print {
	struct load *load;
	const struct report *report;
	const struct report_options *options;
	double percent_limit;	    /* rows below it are left out */
	struct table_options table; /* of the text; rows_only: and nothing besides */
};

/* 0, or -FMT_E_NOMEM. A failed write is found out at exit. */
int report_print_text(const struct report_print *p);
int report_print_json(const struct report_print *p);

/* Is the row below the limit? */
bool report_below_limit(const struct report_print *p, const struct report_section *s,
			const struct report_row *row);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_print: a comparison on stdout, for a person, as JSON, or as stacks with two counts.
 */
#ifndef SYMBOLIZER_VIEW_DIFF_PRINT_H
#define SYMBOLIZER_VIEW_DIFF_PRINT_H

#include "symbolizer/compare/comparison.h"
#include "symbolizer/text/table.h"
#include "symbolizer/view/sides.h"

struct diff_print {
	struct sides *sides;
	const struct comparison *comparison;
	const struct comparison_options *options;
	const struct report *reports[COMPARISON_SIDES];
	double percent_limit; /* noise of less on both sides is left out, in percent of all */
	struct table_options table;
};

/* 0, or -FMT_E_NOMEM. A failed write is found out at exit. */
int diff_print_text(const struct diff_print *p);
int diff_print_json(const struct diff_print *p);

/*
 * "comm;frame;frame BASELINE NEW", as difffolded.pl has it, of the one event that both sides have: in samples of the
 * new side, the baseline's scaled by what is normalised. Of several events, or none: 1 after a message.
 */
int diff_print_folded(const struct sides *s, const struct sides_options *o);

/* Is the row noise, and small? */
bool diff_below_limit(const struct diff_print *p, const struct comparison_row *row);
/* Of what rows are ordered by. */
const struct rate_change *diff_change(const struct diff_print *p, const struct comparison_row *row);

#endif

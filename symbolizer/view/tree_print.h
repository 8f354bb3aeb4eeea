/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree_print: the call trees of a profile on stdout, one for each event, for a person or as JSON.
 */
#ifndef SYMBOLIZER_VIEW_TREE_PRINT_H
#define SYMBOLIZER_VIEW_TREE_PRINT_H

#include "symbolizer/profile/call_tree.h"
#include "symbolizer/load/load.h"

struct tree_print {
	const struct load *load;
	bool inverted;
	bool absolute;	      /* shares are of the whole, and not of what filters leave */
	double percent_limit; /* nodes below it, and what is below them, are left out */
	int terminal;	      /* columns; 0: it is none */
};

/* event: its name is above the tree. 0, -FMT_E_NOMEM. A failed write is found out at exit. */
int tree_print_text(const struct tree_print *p, const struct call_tree *t, int event);
/* As an object; the same of several events are an array's elements. */
int tree_print_json(const struct tree_print *p, const struct call_tree *t, int event);

/*
 * The next node that is shown, from *at on (at first the root, of depth 0): its children, its siblings,
 * its parents' siblings. false: there are no more.
 */
bool tree_print_next(const struct tree_print *p, const struct call_tree *t, int event, uint32_t *at,
		     uint32_t *depth);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_graph_print: the call graph of a row of a report, below that row as perf report prints it, or as
 * JSON.
 */
#ifndef SYMBOLIZER_VIEW_CALL_GRAPH_PRINT_H
#define SYMBOLIZER_VIEW_CALL_GRAPH_PRINT_H

#include <jansson.h>

#include "symbolizer/profile/call_graph.h"

struct call_graph_print {
	const struct profile *profile;
	const struct call_graph_options *options;
	struct profile_weight whole; /* that shares of rows are of */
	struct profile_weight row;   /* that the row has */
	int terminal;		     /* columns; 0: it is none */
};

/* Does any function of the row's graph have enough for its limit? Of most rows it is known without the graph. */
bool call_graph_any(const struct call_graph_print *p);

/* On stdout. 0, -FMT_E_NOMEM. */
int call_graph_print_text(const struct call_graph_print *p, const struct call_tree *t);
/*
 * An array of nodes in the order of the text, with their depth from 1 on. NULL: out of memory.
 */
json_t *call_graph_print_json(const struct call_graph_print *p, const struct call_tree *t);

/*
 * For both. The share of a node that its limit is for, and that is shown: of what its siblings have in all
 * (fractal), or of the whole.
 */
struct profile_weight call_graph_base(const struct call_graph_print *p, const struct call_tree *t,
				      uint32_t parent);
/* The node, if it is one and has enough; else CALL_TREE_NONE, as siblings behind it have no more. */
uint32_t call_graph_shown(const struct call_graph_print *p, const struct call_tree *t,
			  uint32_t node);

#endif

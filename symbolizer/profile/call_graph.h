/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_graph: below a row of a report, who called it, or what it called: a tree of the stacks that the row
 * counts, for one row at a time.
 *
 * As perf report has it: without children the tree has whole stacks, from the sampled function on (callee)
 * or from the outermost caller (caller). With children a row counts stacks that it is in the middle of:
 * callee goes from there to its callers, caller from there to what it called; of a stack that ends in the
 * row, caller has all.
 */
#ifndef SYMBOLIZER_PROFILE_CALL_GRAPH_H
#define SYMBOLIZER_PROFILE_CALL_GRAPH_H

#include "symbolizer/profile/call_tree.h"
#include "symbolizer/profile/report.h"

enum call_graph_mode {
	CALL_GRAPH_NONE,
	CALL_GRAPH_GRAPH,   /* a tree, shares are of what those of rows are of */
	CALL_GRAPH_FRACTAL, /* a tree, shares are of what the caller (callee) passes on */
	CALL_GRAPH_FLAT,    /* stacks, one function a line */
	CALL_GRAPH_FOLDED,  /* stacks, one a line */
};

enum call_graph_value { CALL_GRAPH_PERCENT, CALL_GRAPH_PERIOD, CALL_GRAPH_COUNT };

struct call_graph_options {
	enum call_graph_mode mode;
	enum call_graph_value value;
	bool caller, order_given; /* not given: caller with children, else callee */
	double percent_limit;
	uint32_t print_limit; /* of the functions below one; 0: none */
};

#define CALL_GRAPH_DEFAULT                                                                         \
	{                                                                                          \
		.percent_limit = 0.5                                                               \
	}
/* What -g has without an argument. */
#define CALL_GRAPH_TEXT "graph,0.5,caller"

/*
 * As perf report's -g: graph, fractal, flat, folded or none; a percentage, and then a number of functions;
 * caller or callee; percent, period or count; in any order, words as short as they are clear. 0, or -1 with
 * *o unchanged: the word of *ret_len bytes at *ret_bad is none of them.
 */
int call_graph_parse(const char *text, struct call_graph_options *o, const char **ret_bad,
		     size_t *ret_len);

struct call_graphs;

/* All borrowed for its life. The report has numbers (options.graphs). 0, -FMT_E_NOMEM. */
int call_graphs_new(const struct profile *p, const struct report *r,
		    const struct report_options *options, bool caller, struct call_graphs **ret);
void call_graphs_free(struct call_graphs *g);

/* Has any stack a caller? */
bool call_graphs_any(const struct call_graphs *g);
bool call_graphs_caller(const struct call_graphs *g);

/*
 * Of the row that is the i-th of the report, for call_tree_free(). Fast where rows are asked for in
 * their order. A function of a tree is one node, wherever in it a sample was. 0, -FMT_E_NOMEM.
 */
int call_graphs_tree(struct call_graphs *g, size_t i, struct call_tree **ret);

#endif

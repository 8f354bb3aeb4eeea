/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_tree: who called whom, of one event of a profile: a node is a function with the way to it.
 *
 * From the root on, a command, what it called, and so on; inverted, where samples were taken, from
 * where that was called, and so on to the command.
 */
#ifndef SYMBOLIZER_PROFILE_CALL_TREE_H
#define SYMBOLIZER_PROFILE_CALL_TREE_H

#include "symbolizer/profile/profile.h"

#define CALL_TREE_NONE UINT32_MAX
#define CALL_TREE_ROOT 0u

struct call_node {
	uint32_t parent, first_child, next; /* nodes; CALL_TREE_NONE */
	uint32_t frame;		     /* of the profile; CALL_TREE_NONE: a command, or the root */
	const char *comm;	     /* of a command; NULL: of the root */
	struct profile_weight total; /* of the stacks that come through here */
	struct profile_weight self;  /* of those that end here */
};

struct call_tree;

/*
 * A tree of ways that its maker gives it: empty, with a way (frames from the root on) and its weight at a
 * time, and linked when it has all of them. 0, -FMT_E_NOMEM; call_tree_free() in any case.
 */
int call_tree_new(const struct profile *profile, struct call_tree **ret);
int call_tree_add(struct call_tree *t, const uint32_t *frames, size_t n,
		  const struct profile_weight *w);
int call_tree_link(struct call_tree *t);

/*
 * Of all stacks of an event, without nodes whose share of a weight (report_share()) is below percent: of `of`,
 * or, where that is NULL, of all of these stacks. What is above them counts their weight. While it is
 * built, small nodes are only those that are not yet complete: memory is that of what stays. profile is
 * borrowed for the tree's life. 0, -FMT_E_NOMEM.
 */
int call_tree_build(const struct profile *profile, int event, bool inverted, double percent,
		    const struct profile_weight *of, struct call_tree **ret);
void call_tree_free(struct call_tree *t);

size_t call_tree_nodes(const struct call_tree *t); /* the root is one */
/* Siblings follow each other by weight, heaviest first, and then by name. */
const struct call_node *call_tree_node(const struct call_tree *t, uint32_t i);

#endif

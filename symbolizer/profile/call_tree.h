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

/* profile is borrowed for the tree's life. 0, -FMT_E_NOMEM. */
int call_tree_build(const struct profile *profile, int event, bool inverted,
		    struct call_tree **ret);
void call_tree_free(struct call_tree *t);

/* Siblings follow each other by weight, heaviest first, and then by name. */
const struct call_node *call_tree_node(const struct call_tree *t, uint32_t i);

#endif

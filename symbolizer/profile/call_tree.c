/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/call_tree.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/slots.h"

struct call_tree {
	const struct profile *profile;
	struct call_node *nodes;
	size_t nr_nodes, cap_nodes;
	struct slots slots;
};

static bool
node_same(const void *owner, uint32_t index, const void *key)
{
	const struct call_node *a = &((const struct call_tree *)owner)->nodes[index], *b = key;

	return a->parent == b->parent && a->frame == b->frame && a->comm == b->comm;
}

/* Goes down from *at to a child, new or known, with the stack's weight. */
static int
descend(struct call_tree *t, uint32_t frame, const char *comm, const struct profile_weight *w,
	uint32_t *at)
{
	const struct call_node key = { .parent = *at,
				       .first_child = CALL_TREE_NONE,
				       .next = CALL_TREE_NONE,
				       .frame = frame,
				       .comm = comm };
	uint64_t hash = slots_mix((uint64_t)key.parent << 32 | frame, (uintptr_t)comm);
	int err = slots_keep(&t->slots, (uint32_t)hash, node_same, t, &key, t->nodes, t->nr_nodes,
			     t->cap_nodes, at);

	if (err == 0)
		profile_weigh(&t->nodes[*at].total, w);
	return err;
}

static int
add_stack(struct call_tree *t, const struct profile_stack *s, bool inverted)
{
	uint32_t at = CALL_TREE_ROOT;
	int err = 0;

	profile_weigh(&t->nodes[at].total, &s->weight);
	if (!inverted)
		err = descend(t, CALL_TREE_NONE, s->comm, &s->weight, &at);
	for (uint32_t i = 0; i < s->nr_frames && err == 0; i++)
		err = descend(t, s->frames[inverted ? i : s->nr_frames - 1 - i], NULL, &s->weight,
			      &at);
	if (inverted && err == 0)
		err = descend(t, CALL_TREE_NONE, s->comm, &s->weight, &at);
	if (err == 0)
		profile_weigh(&t->nodes[at].self, &s->weight);
	return err;
}

static int
compare_names(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

/* By parent; of one, the lightest first, as linking turns them round. */
static int
compare_nodes(const void *va, const void *vb, void *arg)
{
	const struct call_tree *t = arg;
	const struct call_node *a = &t->nodes[*(const uint32_t *)va];
	const struct call_node *b = &t->nodes[*(const uint32_t *)vb];
	const struct frame *fa, *fb;
	int c;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (a->total.period != b->total.period)
		return a->total.period < b->total.period ? -1 : 1;
	if (a->total.samples != b->total.samples)
		return a->total.samples < b->total.samples ? -1 : 1;
	if (a->frame == CALL_TREE_NONE || b->frame == CALL_TREE_NONE)
		return compare_names(b->comm, a->comm);
	fa = profile_frame(t->profile, a->frame);
	fb = profile_frame(t->profile, b->frame);
	c = compare_names(fb->symbol, fa->symbol);
	return c ? c : compare_names(fb->dso_path, fa->dso_path);
}

static int
link_children(struct call_tree *t)
{
	uint32_t *order = calloc(t->nr_nodes, sizeof(*order));

	if (!order)
		return -FMT_E_NOMEM;
	for (uint32_t i = 0; i < t->nr_nodes; i++)
		order[i] = i;
	qsort_r(order, t->nr_nodes, sizeof(*order), compare_nodes, t);
	for (size_t i = 0; i < t->nr_nodes; i++) {
		struct call_node *n = &t->nodes[order[i]];

		if (n->parent == CALL_TREE_NONE)
			continue;
		n->next = t->nodes[n->parent].first_child;
		t->nodes[n->parent].first_child = order[i];
	}
	free(order);
	return 0;
}

int
call_tree_build(const struct profile *profile, int event, bool inverted, struct call_tree **ret)
{
	static const struct call_node root = { CALL_TREE_NONE, CALL_TREE_NONE, CALL_TREE_NONE,
					       CALL_TREE_NONE, NULL,	       { 0, 0 },
					       { 0, 0 } };
	struct call_tree *t = calloc(1, sizeof(*t));
	struct profile_stack s;
	int err = t ? 0 : -FMT_E_NOMEM;

	if (err == 0) {
		t->profile = profile;
		err = array_reserve(t->nodes, t->nr_nodes, t->cap_nodes, 1);
	}
	if (err == 0)
		t->nodes[t->nr_nodes++] = root;
	for (size_t i = 0; err == 0 && i < profile_stacks(profile); i++) {
		profile_stack_at(profile, i, &s);
		if (s.event == event)
			err = add_stack(t, &s, inverted);
	}
	if (err == 0)
		err = link_children(t);
	if (err < 0) {
		call_tree_free(t);
		return err;
	}
	*ret = t;
	return 0;
}

void
call_tree_free(struct call_tree *t)
{
	if (!t)
		return;
	free(t->nodes);
	slots_done(&t->slots);
	free(t);
}

const struct call_node *
call_tree_node(const struct call_tree *t, uint32_t i)
{
	return &t->nodes[i];
}

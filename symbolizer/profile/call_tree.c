/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/call_tree.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/slots.h"
#include "symbolizer/profile/report.h"

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

	return a->parent == b->parent && a->frame == b->frame;
}

/* Goes down from *at to a child, new or known, with the stack's weight. */
static int
descend(struct call_tree *t, uint32_t frame, const struct profile_weight *w, uint32_t *at)
{
	const struct call_node key = {
		.parent = *at, .first_child = CALL_TREE_NONE, .next = CALL_TREE_NONE, .frame = frame
	};
	uint64_t hash = slots_mix(key.parent, frame);
	int err = slots_keep(&t->slots, (uint32_t)hash, node_same, t, &key, t->nodes, t->nr_nodes,
			     t->cap_nodes, at);

	if (err == 0)
		profile_weigh(&t->nodes[*at].total, w);
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

int
call_tree_link(struct call_tree *t)
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
call_tree_new(const struct profile *profile, struct call_tree **ret)
{
	static const struct call_node root = { CALL_TREE_NONE, CALL_TREE_NONE, CALL_TREE_NONE,
					       CALL_TREE_NONE, NULL,	       { 0, 0 },
					       { 0, 0 } };
	struct call_tree *t = calloc(1, sizeof(*t));

	if (!t || array_reserve(t->nodes, t->nr_nodes, t->cap_nodes, 1) < 0) {
		free(t);
		return -FMT_E_NOMEM;
	}
	t->profile = profile;
	t->nodes[t->nr_nodes++] = root;
	*ret = t;
	return 0;
}

int
call_tree_add(struct call_tree *t, const uint32_t *frames, size_t n, const struct profile_weight *w)
{
	uint32_t at = CALL_TREE_ROOT;
	int err = 0;

	profile_weigh(&t->nodes[at].total, w);
	for (size_t i = 0; i < n && err == 0; i++)
		err = descend(t, frames[i], w, &at);
	if (err == 0)
		profile_weigh(&t->nodes[at].self, w);
	return err;
}

/* --- of all stacks of an event -------------------------------------------------------------- */

/* A stack; its way is its frames and its command, in the order of the tree. */
struct way {
	const uint32_t *frames; /* leaf first */
	const char *comm;
	uint32_t nr, stack; /* frames; its number in the profile */
};

/*
 * Ways come sorted: neighbours begin alike, so that a node is complete when a way does not go through
 * it, and need not stay when it is small.
 */
struct growing {
	struct call_tree *t;
	bool inverted;
	double percent;
	struct profile_weight whole; /* what percent is of */
	bool of_these;		     /* it is that of these stacks */
	struct way *ways;
	size_t nr_ways, cap_ways;
	uint32_t *path; /* nodes of the way before, the root first */
	size_t nr_path, cap_path;
};

/* The node of a way at a depth, from 0 to w->nr. */
static uint32_t
way_frame(const struct growing *g, const struct way *w, uint32_t depth)
{
	if (g->inverted)
		return depth < w->nr ? w->frames[depth] : CALL_TREE_NONE;
	return depth > 0 ? w->frames[w->nr - depth] : CALL_TREE_NONE;
}

static const char *
way_comm(const struct growing *g, const struct way *w, uint32_t depth)
{
	return depth == (g->inverted ? w->nr : 0) ? w->comm : NULL;
}

static int
compare_ways(const void *va, const void *vb, void *arg)
{
	const struct way *a = va, *b = vb;
	const struct growing *g = arg;
	const int comms = (a->comm > b->comm) - (a->comm < b->comm);

	if (!g->inverted && comms)
		return comms;
	for (uint32_t i = 0; i <= a->nr && i <= b->nr; i++) {
		const uint32_t fa = way_frame(g, a, i), fb = way_frame(g, b, i);

		if (fa != fb)
			return fa < fb ? -1 : 1;
	}
	if (a->nr != b->nr)
		return a->nr < b->nr ? -1 : 1;
	return comms ? comms : (a->stack > b->stack) - (a->stack < b->stack);
}

/* What the last ways went through below a depth is complete. Nodes below a node stand behind it. */
static void
leave(struct growing *g, size_t depth)
{
	struct call_tree *t = g->t;

	for (; g->nr_path > depth; g->nr_path--) {
		const uint32_t at = g->path[g->nr_path - 1];
		const struct profile_weight total = t->nodes[at].total;

		profile_weigh(&t->nodes[t->nodes[at].parent].total, &total);
		if (report_share(&total, &g->whole) < g->percent)
			t->nr_nodes = at;
	}
}

static int
follow(struct growing *g, const struct way *w)
{
	struct call_tree *t = g->t;
	struct profile_stack s;
	size_t depth = 0;

	/* The first one on the path is the root. */
	while (depth + 1 < g->nr_path && depth <= w->nr &&
	       t->nodes[g->path[depth + 1]].frame == way_frame(g, w, (uint32_t)depth) &&
	       t->nodes[g->path[depth + 1]].comm == way_comm(g, w, (uint32_t)depth))
		depth++;
	leave(g, depth + 1);
	for (; depth <= w->nr; depth++) {
		if (array_reserve(t->nodes, t->nr_nodes, t->cap_nodes, 1) != 0 ||
		    array_reserve(g->path, g->nr_path, g->cap_path, 1) != 0)
			return -FMT_E_NOMEM;
		t->nodes[t->nr_nodes] = (struct call_node){
			.parent = g->path[g->nr_path - 1],
			.first_child = CALL_TREE_NONE,
			.next = CALL_TREE_NONE,
			.frame = way_frame(g, w, (uint32_t)depth),
			.comm = way_comm(g, w, (uint32_t)depth),
		};
		g->path[g->nr_path++] = (uint32_t)t->nr_nodes++;
	}
	profile_stack_at(t->profile, w->stack, &s);
	profile_weigh(&t->nodes[g->path[g->nr_path - 1]].self, &s.weight);
	profile_weigh(&t->nodes[g->path[g->nr_path - 1]].total, &s.weight);
	return 0;
}

static int
grow(struct growing *g, int event)
{
	const struct profile *profile = g->t->profile;
	int err = array_reserve(g->path, 0, g->cap_path, 1);

	for (uint32_t i = profile_first_stack(profile, event); err == 0 && i != PROFILE_NO_STACK;
	     i = profile_next_stack(profile, i)) {
		struct profile_stack s;

		profile_stack_at(profile, i, &s);
		err = array_reserve(g->ways, g->nr_ways, g->cap_ways, 1);
		if (err == 0)
			g->ways[g->nr_ways++] = (struct way){ s.frames, s.comm, s.nr_frames, i };
		if (g->of_these)
			profile_weigh(&g->whole, &s.weight);
	}
	if (err)
		return err;
	g->path[g->nr_path++] = CALL_TREE_ROOT;
	if (g->nr_ways > 0)
		qsort_r(g->ways, g->nr_ways, sizeof(*g->ways), compare_ways, g);
	for (size_t i = 0; err == 0 && i < g->nr_ways; i++)
		err = follow(g, &g->ways[i]);
	leave(g, 1);
	return err;
}

int
call_tree_build(const struct profile *profile, int event, bool inverted, double percent,
		const struct profile_weight *of, struct call_tree **ret)
{
	struct growing g = { .inverted = inverted,
			     .percent = percent,
			     .of_these = !of,
			     .whole = of ? *of : (struct profile_weight){ 0 } };
	int err = call_tree_new(profile, &g.t);

	if (err == 0)
		err = grow(&g, event);
	free(g.ways);
	free(g.path);
	if (err == 0)
		err = call_tree_link(g.t);
	if (err < 0) {
		call_tree_free(g.t);
		return err;
	}
	*ret = g.t;
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

size_t
call_tree_nodes(const struct call_tree *t)
{
	return t->nr_nodes;
}

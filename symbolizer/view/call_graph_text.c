/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A row's call graph as text, character by character as perf report --stdio draws it.
 */
#include "symbolizer/view/call_graph_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/bytes/array.h"
#include "format/bytes/buf.h"
#include "format/bytes/fmt_error.h"
#include "symbolizer/view/branch_line.h"

#define MARGIN "            "
#define BLANKS "          " /* behind each branch */

/* Siblings that are on their way out. */
struct level {
	uint32_t next; /* CALL_TREE_NONE: all of them are */
	uint32_t printed;
	struct profile_weight base; /* that their shares are of */
	struct profile_weight rest; /* fractal: what is not shown yet */
	size_t branches;	    /* length of what stands before them */
};

struct walk {
	const struct call_graph_print *p;
	const struct call_tree *t;
	struct buf branches, line, name;
	struct level *levels;
	size_t nr_levels, cap_levels;
};

bool
call_graph_any(const struct call_graph_print *p)
{
	return p->options->mode == CALL_GRAPH_FRACTAL ||
		report_share(&p->row, &p->whole) >= p->options->percent_limit;
}

struct profile_weight
call_graph_base(const struct call_graph_print *p, const struct call_tree *t, uint32_t parent)
{
	const struct call_node *n = call_tree_node(t, parent);

	if (p->options->mode != CALL_GRAPH_FRACTAL)
		return p->whole;
	if (parent == CALL_TREE_ROOT)
		return p->row;
	return (struct profile_weight){ n->total.samples - n->self.samples,
					n->total.period - n->self.period };
}

uint32_t
call_graph_shown(const struct call_graph_print *p, const struct call_tree *t, uint32_t node)
{
	struct profile_weight base;

	if (node == CALL_TREE_NONE)
		return CALL_TREE_NONE;
	base = call_graph_base(p, t, call_tree_node(t, node)->parent);
	return report_share(&call_tree_node(t, node)->total, &base) >= p->options->percent_limit
		? node
		: CALL_TREE_NONE;
}

static void
add_value(const struct walk *w, struct buf *out, const struct profile_weight *weight,
	  const struct profile_weight *base)
{
	char text[32];

	if (w->p->options->value == CALL_GRAPH_PERCENT)
		snprintf(text, sizeof(text), "%.2f%%", report_share(weight, base));
	else
		snprintf(text, sizeof(text), "%" PRIu64,
			 w->p->options->value == CALL_GRAPH_PERIOD ? weight->period
								   : weight->samples);
	buf_text(out, text);
}

static void
make_name(struct walk *w, uint32_t node)
{
	const struct frame *f = profile_frame(w->p->profile, call_tree_node(w->t, node)->frame);

	buf_clear(&w->name);
	branch_line_name(f, &w->name);
	if (f->inlined && !buf_failed(&w->name)) {
		w->name.len--;
		buf_text(&w->name, " (inlined)");
		buf_u8(&w->name, 0);
	}
}

/* What is in line, and behind it the name. */
static int
put_line(struct walk *w)
{
	buf_u8(&w->line, 0);
	if (buf_failed(&w->line) || buf_failed(&w->name) || buf_failed(&w->branches))
		return -FMT_E_NOMEM;
	return branch_line_print((const char *)w->line.p, (const char *)w->name.p, w->p->terminal);
}

static void
begin_line(struct walk *w)
{
	buf_clear(&w->line);
	buf_append(&w->line, w->branches.p, w->branches.len);
}

/* A function that alone goes on from its caller, no sample of which ends there, is of one piece with it. */
static uint32_t
only_child(const struct walk *w, uint32_t node)
{
	const struct call_node *n = call_tree_node(w->t, node);

	if (n->self.samples > 0 || n->first_child == CALL_TREE_NONE ||
	    call_tree_node(w->t, n->first_child)->next != CALL_TREE_NONE)
		return CALL_TREE_NONE;
	return n->first_child;
}

/* The level of a node's children that are shown, behind branches. */
static int
push(struct walk *w, uint32_t parent)
{
	const uint32_t first =
		call_graph_shown(w->p, w->t, call_tree_node(w->t, parent)->first_child);
	const struct profile_weight base = call_graph_base(w->p, w->t, parent);
	int err = array_reserve(w->levels, w->nr_levels, w->cap_levels, 1);

	if (err == 0)
		w->levels[w->nr_levels++] = (struct level){
			.next = first,
			.base = base,
			.rest = w->p->options->mode == CALL_GRAPH_FRACTAL
				? base
				: (struct profile_weight){ 0, 0 },
			.branches = w->branches.len,
		};
	return err;
}

/* The line that a branch goes off from, without its blanks at the end. */
static void
put_joint(struct walk *w)
{
	begin_line(w);
	buf_text(&w->line, "|");
	if (!buf_failed(&w->line))
		printf("%.*s\n",
		       w->p->terminal > 0 && w->line.len > (size_t)w->p->terminal
			       ? w->p->terminal
			       : (int)w->line.len,
		       (const char *)w->line.p);
}

/* A branch: the node with its value, below it what is of one piece with it; *ret is the last of it. */
static int
put_branch(struct walk *w, uint32_t node, bool last, uint32_t *ret)
{
	const struct profile_weight base =
		call_graph_base(w->p, w->t, call_tree_node(w->t, node)->parent);
	int err;

	put_joint(w);
	begin_line(w);
	buf_text(&w->line, last ? " --" : "|--");
	add_value(w, &w->line, &call_tree_node(w->t, node)->total, &base);
	buf_text(&w->line, "--");
	buf_text(&w->branches, last ? " " BLANKS : "|" BLANKS);
	make_name(w, node);
	err = put_line(w);
	for (; err == 0; node = only_child(w, node)) {
		*ret = node;
		if (only_child(w, node) == CALL_TREE_NONE)
			break;
		begin_line(w);
		make_name(w, only_child(w, node));
		err = put_line(w);
	}
	return err;
}

/* What the functions of a level that are not shown have. */
static int
put_rest(struct walk *w, const struct level *level)
{
	put_joint(w);
	begin_line(w);
	buf_text(&w->line, " --");
	add_value(w, &w->line, &level->rest, &level->base);
	buf_text(&w->line, "--");
	buf_clear(&w->name);
	buf_text(&w->name, "[...]");
	buf_u8(&w->name, 0);
	return put_line(w);
}

/* The next of the innermost level, or the end of it. */
static int
step(struct walk *w)
{
	struct level *level = &w->levels[w->nr_levels - 1];
	const uint32_t node = level->next, limit = w->p->options->print_limit;
	uint32_t end;
	int err = 0;

	w->branches.len = level->branches;
	if (node == CALL_TREE_NONE) {
		if (level->rest.samples > 0 && level->printed > 0)
			err = put_rest(w, level);
		w->nr_levels--;
		return err;
	}
	level->next = ++level->printed == limit
		? CALL_TREE_NONE
		: call_graph_shown(w->p, w->t, call_tree_node(w->t, node)->next);
	if (level->rest.samples > 0) {
		level->rest.samples -= call_tree_node(w->t, node)->total.samples;
		level->rest.period -= call_tree_node(w->t, node)->total.period;
	}
	err = put_branch(w, node, level->next == CALL_TREE_NONE && level->rest.samples == 0, &end);
	return err ? err : push(w, end);
}

static int
put_graph(struct walk *w)
{
	uint32_t from = CALL_TREE_ROOT, node = call_tree_node(w->t, CALL_TREE_ROOT)->first_child;
	const bool shown = call_graph_shown(w->p, w->t, node) != CALL_TREE_NONE;
	int err = 0;

	/* What the whole row has in common has no share of its own: it is the row's. */
	if (shown && call_tree_node(w->t, node)->total.period == w->p->row.period &&
	    call_tree_node(w->t, node)->total.samples == w->p->row.samples) {
		puts(MARGIN "|");
		for (; err == 0; node = only_child(w, node)) {
			begin_line(w);
			buf_text(&w->line, from == CALL_TREE_ROOT ? "---" : "   ");
			make_name(w, node);
			err = put_line(w);
			from = node;
			if (only_child(w, node) == CALL_TREE_NONE)
				break;
		}
		buf_text(&w->branches, "   ");
	}
	if (err == 0)
		err = push(w, from);
	while (err == 0 && w->nr_levels > 0)
		err = step(w);
	if (shown)
		putchar('\n');
	return err;
}

static int
compare_ends(const void *va, const void *vb, void *arg)
{
	const uint32_t *a = va, *b = vb;
	const struct profile_weight *wa = &call_tree_node(arg, *a)->self;
	const struct profile_weight *wb = &call_tree_node(arg, *b)->self;

	if (wa->period != wb->period)
		return wa->period < wb->period ? 1 : -1;
	if (wa->samples != wb->samples)
		return wa->samples < wb->samples ? 1 : -1;
	return (*a > *b) - (*a < *b);
}

/* The functions on the way to a node, that with it. */
static int
put_way(struct walk *w, uint32_t end)
{
	const bool folded = w->p->options->mode == CALL_GRAPH_FOLDED;
	uint32_t *way = NULL;
	size_t n = 0, cap = 0;
	int err = 0;

	buf_clear(&w->line);
	if (!folded)
		buf_text(&w->line, BLANKS " ");
	add_value(w, &w->line, &call_tree_node(w->t, end)->self, &w->p->whole);
	buf_u8(&w->line, 0);
	if (buf_failed(&w->line))
		return -FMT_E_NOMEM;
	fputs((const char *)w->line.p, stdout);
	putchar(folded ? ' ' : '\n');
	for (; end != CALL_TREE_ROOT && err == 0; end = call_tree_node(w->t, end)->parent) {
		err = array_reserve(way, n, cap, 1);
		if (err == 0)
			way[n++] = end;
	}
	while (n > 0 && err == 0) {
		make_name(w, way[--n]);
		buf_clear(&w->line);
		buf_text(&w->line, MARGIN "    ");
		if (folded && buf_failed(&w->name))
			err = -FMT_E_NOMEM;
		else if (folded)
			printf("%s%s", (const char *)w->name.p, n > 0 ? ";" : "");
		else
			err = put_line(w);
	}
	putchar('\n');
	free(way);
	return err;
}

/* flat and folded: stacks, those with the most samples first. */
static int
put_ways(struct walk *w, size_t nr_nodes)
{
	const uint32_t limit = w->p->options->print_limit;
	uint32_t *ends = calloc(nr_nodes, sizeof(*ends));
	size_t n = 0;
	int err = ends ? 0 : -FMT_E_NOMEM;

	for (uint32_t i = 0; err == 0 && i < nr_nodes; i++) {
		const struct profile_weight *self = &call_tree_node(w->t, i)->self;

		if (self->samples > 0 &&
		    report_share(self, &w->p->whole) >= w->p->options->percent_limit)
			ends[n++] = i;
	}
	if (n > 0)
		qsort_r(ends, n, sizeof(*ends), compare_ends, (void *)(uintptr_t)w->t);
	for (size_t i = 0; err == 0 && i < n && (limit == 0 || i < limit); i++)
		err = put_way(w, ends[i]);
	if (err == 0 && n > 0 && w->p->options->mode == CALL_GRAPH_FOLDED)
		putchar('\n');
	free(ends);
	return err;
}

int
call_graph_print_text(const struct call_graph_print *p, const struct call_tree *t)
{
	const bool ways = p->options->mode == CALL_GRAPH_FLAT ||
		p->options->mode == CALL_GRAPH_FOLDED;
	struct walk w = { .p = p, .t = t };
	int err;

	buf_init(&w.branches);
	buf_init(&w.line);
	buf_init(&w.name);
	buf_text(&w.branches, MARGIN);
	err = ways ? put_ways(&w, call_tree_nodes(t)) : put_graph(&w);
	buf_done(&w.branches);
	buf_done(&w.line);
	buf_done(&w.name);
	free(w.levels);
	return err;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A call tree as text. What alone goes on from its caller stands below it in the same column; where
 * a caller has several, each has a branch of its own.
 */
#include "symbolizer/view/tree_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "symbolizer/profile/report.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/view/branch_line.h"

struct walk {
	const struct tree_print *p;
	const struct call_tree *t;
	int event;
	struct profile_weight base;	 /* what shares are of */
	struct buf branches, line, name; /* branches: of all ancestors */
	size_t *lengths;		 /* of branches, by depth */
	size_t cap_lengths;
	int columns; /* before the branches */
};

static struct profile_weight
base_of(const struct tree_print *p, const struct call_tree *t, int event)
{
	return p->absolute ? profile_event_whole(p->load->profile, event)
			   : call_tree_node(t, CALL_TREE_ROOT)->total;
}

/*
 * Is there a node, and its share large enough? Of siblings, what follows one that is not shown is
 * not, either.
 */
static bool
shows(const struct tree_print *p, const struct call_tree *t, int event, uint32_t node)
{
	const struct profile_weight base = base_of(p, t, event);

	return node != CALL_TREE_NONE &&
		report_share(&call_tree_node(t, node)->total, &base) >= p->percent_limit;
}

/* Stacks are as deep as somebody makes them: no recursion. */
bool
tree_print_next(const struct tree_print *p, const struct call_tree *t, int event, uint32_t *at,
		uint32_t *depth)
{
	const uint32_t child = call_tree_node(t, *at)->first_child;

	if (shows(p, t, event, child)) {
		*at = child;
		(*depth)++;
		return true;
	}
	while (*at != CALL_TREE_ROOT) {
		const struct call_node *n = call_tree_node(t, *at);

		if (shows(p, t, event, n->next)) {
			*at = n->next;
			return true;
		}
		*at = n->parent;
		(*depth)--;
	}
	return false;
}

static void
make_name(struct walk *w, const struct call_node *n)
{
	buf_clear(&w->name);
	if (n->frame != CALL_TREE_NONE) {
		branch_line_name(profile_frame(w->p->load->profile, n->frame), &w->name);
		return;
	}
	escape(&w->name, n->comm);
	buf_u8(&w->name, 0);
}

/* Its line; branches then has what stands before those of its children. */
static int
put_node(struct walk *w, uint32_t node)
{
	const struct call_node *n = call_tree_node(w->t, node);
	const bool top = n->parent == CALL_TREE_ROOT;
	const bool last = !shows(w->p, w->t, w->event, n->next);
	const bool alone = last && call_tree_node(w->t, n->parent)->first_child == node;

	printf("%7.2f%%  ", report_share(&n->total, &w->base));
	if (!w->p->inverted)
		printf("%6.2f%%  ", report_share(&n->self, &w->base));
	buf_clear(&w->line);
	buf_append(&w->line, w->branches.p, w->branches.len);
	buf_text(&w->line, top || alone ? "" : last ? "└ " : "├ ");
	buf_u8(&w->line, 0);
	buf_text(&w->branches, top ? "  " : alone ? "" : last ? "  " : "│ ");
	make_name(w, n);
	if (buf_failed(&w->branches) || buf_failed(&w->name) || buf_failed(&w->line))
		return -FMT_E_NOMEM;
	return branch_line_print((const char *)w->line.p, (const char *)w->name.p,
				 w->p->terminal > 0 ? w->p->terminal - w->columns : 0);
}

static int
put_nodes(struct walk *w)
{
	uint32_t at = CALL_TREE_ROOT, depth = 0;
	int err = 0;

	while (err == 0 && tree_print_next(w->p, w->t, w->event, &at, &depth)) {
		/* Before the line of a node of this depth stands what its parent's left. */
		err = array_reserve(w->lengths, (size_t)depth, w->cap_lengths, 2);
		if (err < 0)
			break;
		if (depth == 1)
			w->lengths[depth] = 0;
		w->branches.len = w->lengths[depth];
		err = put_node(w, at);
		w->lengths[depth + 1] = w->branches.len;
	}
	return err;
}

static int
put_heading(const struct walk *w, int event)
{
	const struct profile_weight *weight = &call_tree_node(w->t, CALL_TREE_ROOT)->total;
	const struct profile_weight whole = profile_event_whole(w->p->load->profile, event);
	char *name = escape_dup(load_event_name(w->p->load, event));

	if (!name)
		return -FMT_E_NOMEM;
	screen_text_print(stdout, w->p->terminal, "#   ",
			  "# Samples: %" PRIu64 " of event '%s'; shares below %.3g%% are left out",
			  weight->samples, name, w->p->percent_limit);
	if (whole.samples != weight->samples)
		screen_text_print(stdout, w->p->terminal, "#   ",
				  "# Of the whole: %.2f%% (%" PRIu64 " of %" PRIu64
				  " samples); shares are of %s",
				  report_share(weight, &whole), weight->samples, whole.samples,
				  w->p->absolute ? "the whole" : "these samples");
	puts(w->p->inverted ? "#\n#  Share  Callers" : "#\n#  Total     Self  Call tree");
	free(name);
	return 0;
}

int
tree_print_text(const struct tree_print *p, const struct call_tree *t, int event)
{
	struct walk w = { .p = p,
			  .t = t,
			  .event = event,
			  .base = base_of(p, t, event),
			  .columns = p->inverted ? 10 : 19 };
	int err;

	buf_init(&w.branches);
	buf_init(&w.line);
	buf_init(&w.name);
	err = put_heading(&w, event);
	if (err == 0)
		err = put_nodes(&w);
	buf_done(&w.branches);
	buf_done(&w.line);
	buf_done(&w.name);
	free(w.lengths);
	return err;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A row's call graph as JSON: a flat array, since readers do not go as deep as stacks are. */
#include "symbolizer/view/call_graph_print.h"

#include "symbolizer/export/stack_export.h"
#include "symbolizer/text/json_value.h"

static json_t *
make_node(const struct call_graph_print *p, const struct call_node *n, json_int_t depth)
{
	static const struct stack_export plain = { .profile = NULL };
	const struct frame *f = profile_frame(p->profile, n->frame);
	const char *kind = f->kernel ? "kernel" : f->inlined ? "inlined" : "user";
	json_t *j = json_object();
	struct buf name;
	int err;

	buf_init(&name);
	stack_export_frame_name(&plain, f, buf_text, &name);
	buf_u8(&name, 0);
	err = json_object_set_new(j, "depth", json_integer(depth));
	err |= json_object_set_new(
		j, "name", buf_failed(&name) ? NULL : json_value_text((const char *)name.p));
	err |= json_object_set_new(j, "object",
				   json_value_text(f->dso_path ? f->dso_path : "[unknown]"));
	err |= json_object_set_new(j, "kind", json_string(kind));
	err |= json_object_set_new(j, "samples", json_value_number(n->total.samples));
	err |= json_object_set_new(j, "period", json_value_number(n->total.period));
	err |= json_object_set_new(j, "self_samples", json_value_number(n->self.samples));
	err |= json_object_set_new(j, "self_period", json_value_number(n->self.period));
	buf_done(&name);
	if (err == 0)
		return j;
	json_decref(j);
	return NULL;
}

json_t *
call_graph_print_json(const struct call_graph_print *p, const struct call_tree *t)
{
	uint32_t at = call_graph_shown(p, t, call_tree_node(t, CALL_TREE_ROOT)->first_child);
	json_t *list = json_array();
	json_int_t depth = 1;
	int err = 0;

	while (at != CALL_TREE_NONE && err == 0) {
		const struct call_node *n = call_tree_node(t, at);
		uint32_t next = call_graph_shown(p, t, n->first_child);

		err = json_array_append_new(list, make_node(p, n, depth));
		if (next != CALL_TREE_NONE)
			depth++;
		else
			next = call_graph_shown(p, t, n->next);
		for (; next == CALL_TREE_NONE && n->parent != CALL_TREE_ROOT; depth--) {
			n = call_tree_node(t, n->parent);
			next = call_graph_shown(p, t, n->next);
		}
		at = next;
	}
	if (err == 0)
		return list;
	json_decref(list);
	return NULL;
}

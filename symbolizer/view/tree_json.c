/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A call tree as JSON: nodes with their children, as they are drawn. */
#include "symbolizer/view/tree_print.h"

#include <inttypes.h>
#include <stdio.h>

#include <jansson.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/export/stack_export.h"
#include "symbolizer/text/json_value.h"

static int
put_text(const char *key, const char *text)
{
	json_t *j = json_value_text(text);
	int err;

	printf("\"%s\":", key);
	err = j ? json_dumpf(j, stdout, JSON_ENCODE_ANY) : -1;
	putchar(',');
	json_decref(j);
	return err ? -FMT_E_NOMEM : 0;
}

static int
put_frame(const struct frame *f)
{
	static const struct stack_export plain = { .profile = NULL };
	struct buf name;
	int err;

	buf_init(&name);
	stack_export_frame_name(&plain, f, buf_text, &name);
	buf_u8(&name, 0);
	err = buf_failed(&name) ? -FMT_E_NOMEM : put_text("name", (const char *)name.p);
	buf_done(&name);
	return err ? err : put_text("object", f->dso_path ? f->dso_path : "[unknown]");
}

static int
open_node(const struct tree_print *p, const struct call_node *n)
{
	const struct frame *f =
		n->frame == CALL_TREE_NONE ? NULL : profile_frame(p->load->profile, n->frame);
	const char *kind = !f ? "command" : f->kernel ? "kernel" : f->inlined ? "inlined" : "user";
	int err;

	putchar('{');
	err = f ? put_frame(f) : put_text("name", n->comm ? n->comm : "all");
	printf("\"kind\":\"%s\",\"samples\":%" PRIu64 ",\"period\":%" PRIu64
	       ",\"self_samples\":%" PRIu64 ",\"self_period\":%" PRIu64 ",\"children\":[",
	       kind, n->total.samples, n->total.period, n->self.samples, n->self.period);
	return err;
}

static int
put_tree(const struct tree_print *p, const struct call_tree *t, int event)
{
	const struct profile_weight whole = profile_event_whole(p->load->profile, event);
	uint32_t at = CALL_TREE_ROOT;
	int err = open_node(p, call_tree_node(t, at));

	/* Stacks are as deep as somebody makes them: no recursion. */
	while (err == 0) {
		uint32_t child = call_tree_node(t, at)->first_child;

		if (tree_print_shows(p, t, child, &whole)) {
			at = child;
			putchar('\n');
			err = open_node(p, call_tree_node(t, at));
			continue;
		}
		for (;;) {
			const struct call_node *n = call_tree_node(t, at);

			fputs("]}", stdout);
			if (at == CALL_TREE_ROOT)
				return 0;
			if (tree_print_shows(p, t, n->next, &whole)) {
				at = n->next;
				break;
			}
			at = n->parent;
		}
		fputs(",\n", stdout);
		err = open_node(p, call_tree_node(t, at));
	}
	return err;
}

int
tree_print_json(const struct tree_print *p, const struct call_tree *t, int event)
{
	int err;

	putchar('{');
	err = put_text("event", load_event_name(p->load, event));
	if (err == 0) {
		printf("\"inverted\":%s,\"tree\":", p->inverted ? "true" : "false");
		err = put_tree(p, t, event);
	}
	putchar('}');
	return err;
}

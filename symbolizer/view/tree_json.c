/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A call tree as JSON: its nodes in the order in which they are drawn, with their depth. Nested they would be
 * deeper than readers go (jq 1.6: 256).
 */
#include "symbolizer/view/tree_print.h"

#include <inttypes.h>
#include <stdio.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/export/stack_export.h"
#include "symbolizer/text/json_value.h"

static int
put_text(const char *key, const char *text)
{
	bool there;

	printf("\"%s\":", key);
	there = json_value_write(text, stdout);
	putchar(',');
	return there ? 0 : -FMT_E_NOMEM;
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
put_node(const struct tree_print *p, const struct call_node *n, uint32_t depth)
{
	const struct frame *f =
		n->frame == CALL_TREE_NONE ? NULL : profile_frame(p->load->profile, n->frame);
	const char *kind = !f ? "command" : f->kernel ? "kernel" : f->inlined ? "inlined" : "user";
	int err;

	printf("{\"depth\":%" PRIu32 ",", depth);
	err = f ? put_frame(f) : put_text("name", n->comm);
	printf("\"kind\":\"%s\",\"samples\":%" PRIu64 ",\"period\":%" PRIu64
	       ",\"self_samples\":%" PRIu64 ",\"self_period\":%" PRIu64 "}",
	       kind, n->total.samples, n->total.period, n->self.samples, n->self.period);
	return err;
}

int
tree_print_json(const struct tree_print *p, const struct call_tree *t, int event)
{
	uint32_t at = CALL_TREE_ROOT, depth = 0;
	bool first = true;
	int err;

	putchar('{');
	err = put_text("event", load_event_name(p->load, event));
	printf("\"inverted\":%s,\"nodes\":[", p->inverted ? "true" : "false");
	while (err == 0 && tree_print_next(p, t, event, &at, &depth)) {
		fputs(first ? "\n" : ",\n", stdout);
		first = false;
		err = put_node(p, call_tree_node(t, at), depth);
	}
	fputs("]}", stdout);
	return err;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions with their callers and callees as JSON. Keys are stable: spoor-peek(1) lists them. */
#include "symbolizer/view/peek_print.h"

#include <stdio.h>

#include <jansson.h>

#include "format/bytes/buf.h"
#include "format/bytes/fmt_error.h"
#include "symbolizer/export/stack_export.h"
#include "symbolizer/text/json_value.h"

static int
set_frame(json_t *j, const struct frame *f)
{
	static const struct stack_export plain = { .profile = NULL };
	struct buf name;
	int err;

	buf_init(&name);
	stack_export_frame_name(&plain, f, buf_text, &name);
	buf_u8(&name, 0);
	err = json_object_set_new(j, "name",
				  buf_failed(&name) ? NULL : json_value_text((const char *)name.p));
	err |= json_object_set_new(j, "object",
				   json_value_text(f->dso_path ? f->dso_path : "[unknown]"));
	err |= json_object_set_new(j, "kernel", json_boolean(f->kernel));
	buf_done(&name);
	return err;
}

static int
set_weight(json_t *j, const struct profile_weight *w)
{
	return json_object_set_new(j, "samples", json_value_number(w->samples)) |
		json_object_set_new(j, "period", json_value_number(w->period));
}

static json_t *
make_calls(const struct peek_print *p, const struct peek *k, const struct peek_function *f,
	   size_t first, size_t n)
{
	const size_t shown = peek_print_calls(p, k, f, first, n);
	json_t *list = json_array();

	for (size_t i = first; i < first + shown; i++) {
		const struct peek_call *c = peek_call(k, i);
		json_t *j = json_object();

		if (set_frame(j, profile_frame(p->load->profile, c->frame)) |
		    set_weight(j, &c->weight) | json_array_append_new(list, j)) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *
make_function(const struct peek_print *p, const struct peek *k, const struct peek_function *f)
{
	json_t *j = json_object();
	int err = set_frame(j, profile_frame(p->load->profile, f->frame));

	err |= set_weight(j, &f->total);
	err |= json_object_set_new(j, "self_samples", json_value_number(f->self.samples));
	err |= json_object_set_new(j, "self_period", json_value_number(f->self.period));
	err |= json_object_set_new(j, "callers",
				   make_calls(p, k, f, f->first_caller, f->nr_callers));
	err |= json_object_set_new(j, "callees",
				   make_calls(p, k, f, f->first_callee, f->nr_callees));
	if (err == 0)
		return j;
	json_decref(j);
	return NULL;
}

int
peek_print_json(const struct peek_print *p, const struct peek *k, int event)
{
	const struct profile_weight whole = profile_event_whole(p->load->profile, event);
	const struct profile_weight part = peek_whole(k);
	const size_t shown = peek_print_functions(p, k);
	json_t *j = json_object(), *list = json_array();
	int err;

	err = json_object_set_new(j, "event", json_value_text(load_event_name(p->load, event)));
	err |= set_weight(j, &part);
	err |= json_object_set_new(j, "whole_samples", json_value_number(whole.samples));
	err |= json_object_set_new(j, "whole_period", json_value_number(whole.period));
	err |= json_object_set_new(j, "functions_left_out",
				   json_value_number(peek_functions(k) - shown));
	for (size_t i = 0; i < shown && err == 0; i++)
		err = json_array_append_new(list, make_function(p, k, peek_function(k, i)));
	err |= json_object_set(j, "functions", list);
	if (err == 0)
		json_value_dump(j, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	json_decref(list);
	json_decref(j);
	return err ? -FMT_E_NOMEM : 0;
}

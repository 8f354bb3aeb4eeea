/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/record/record_dry_run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "recorder/session/session.h"
#include "symbolizer/dump/attr_json.h"
#include "symbolizer/dump/attr_text.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/json_value.h"

#define FIELD_WIDTH 32

static void
append_heading(struct buf *line, const struct session_attr *a)
{
	escape(line, a->name);
	if (!*a->pmu && !a->sideband)
		return;
	buf_append(line, " (", 2);
	escape(line, *a->pmu ? a->pmu : "side-band");
	buf_append(line, ")", 1);
}

static void
put(struct buf *text, FILE *to)
{
	buf_u8(text, 0);
	if (!buf_failed(text))
		(void)fputs((const char *)text->p, to);
	buf_done(text);
}

void
record_dry_run_append(struct buf *line, const struct session_attr *a)
{
	append_heading(line, a);
	buf_append(line, ": ", 2);
	attr_text(a->attr, line);
	buf_u8(line, '\n');
}

static bool
print_line(void *arg, const struct session_attr *a)
{
	struct buf line;

	buf_init(&line);
	record_dry_run_append(&line, a);
	put(&line, arg);
	return true;
}

static bool
append_field(void *arg, const char *name, uint64_t value, const char *text)
{
	struct buf *to = arg;
	char number[24];

	snprintf(number, sizeof(number), "%" PRIu64, value);
	buf_text(to, "  ");
	buf_text(to, name);
	for (size_t n = strlen(name); n < FIELD_WIDTH; n++)
		buf_u8(to, ' ');
	buf_u8(to, ' ');
	buf_text(to, text ? text : number);
	buf_u8(to, '\n');
	return true;
}

static bool
print_long(void *arg, const struct session_attr *a)
{
	struct buf text;

	buf_init(&text);
	append_heading(&text, a);
	buf_append(&text, ":\n", 2);
	(void)attr_text_each(a->attr, append_field, &text);
	put(&text, arg);
	return true;
}

static bool
add_event(void *arg, const struct session_attr *a)
{
	json_t *j = json_object();

	if (json_object_set_new(j, "name", json_value_text(a->name)) == 0 &&
	    json_object_set_new(j, "pmu", json_value_text(a->pmu)) == 0 &&
	    json_object_set_new(j, "sideband", json_boolean(a->sideband)) == 0 &&
	    json_object_set_new(j, "attr", attr_json(a->attr)) == 0)
		return json_array_append_new(arg, j) == 0;
	json_decref(j);
	return false;
}

static int
print_json(const struct session_options *options, char **ret_notes, struct session_error *error)
{
	json_t *events = json_array();
	int r = events ? session_dry_run(options, add_event, events, ret_notes, error)
		       : session_fail(error, -ENOMEM, "out of memory");

	if (r == 0 && (json_value_dump(events, stdout, JSON_INDENT(1)) < 0 || putchar('\n') == EOF))
		r = session_fail(error, -EIO, "cannot write to standard output");
	json_decref(events);
	return r;
}

int
record_dry_run(const struct session_options *options, enum record_dry_run_form form,
	       char **ret_notes, struct session_error *error)
{
	*ret_notes = NULL;
	if (form == RECORD_DRY_RUN_JSON)
		return print_json(options, ret_notes, error);
	return session_dry_run(options, form == RECORD_DRY_RUN_LONG ? print_long : print_line,
			       stdout, ret_notes, error);
}

void
record_dry_run_session(const struct session *s)
{
	session_attrs(s, print_line, stderr);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/cmd/record_dry_run.h"

#include <errno.h>
#include <stdio.h>

#include <jansson.h>

#include "recorder/session/session.h"
#include "symbolizer/dump/attr_text.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/json_value.h"

static bool
print_line(void *arg, const char *name, const char *pmu, bool sideband,
	   const struct perf_event_attr *attr)
{
	struct buf line;

	(void)arg;
	buf_init(&line);
	escape(&line, name);
	if (*pmu || sideband) {
		buf_append(&line, " (", 2);
		escape(&line, *pmu ? pmu : "side-band");
		buf_append(&line, ")", 1);
	}
	buf_append(&line, ": ", 2);
	attr_text(attr, &line);
	buf_append(&line, "\n", 2);
	if (!buf_failed(&line))
		(void)fputs((const char *)line.p, stdout);
	buf_done(&line);
	return true;
}

/* sample_period of "{ sample_period, sample_freq }". */
static bool
add_field(void *arg, const char *name, uint64_t value, const char *text)
{
	char key[64];

	if (*name != '{' || sscanf(name, "{ %63[a-z_0-9]", key) != 1)
		(void)snprintf(key, sizeof(key), "%s", name);
	return json_object_set_new(arg, key, text ? json_string(text) : json_value_number(value)) ==
		0;
}

static bool
add_event(void *arg, const char *name, const char *pmu, bool sideband,
	  const struct perf_event_attr *attr)
{
	json_t *j = json_object(), *fields = json_object();
	bool good = fields && attr_text_each(attr, add_field, fields);

	good = good && json_object_set_new(j, "name", json_value_text(name)) == 0 &&
		json_object_set_new(j, "pmu", json_value_text(pmu)) == 0 &&
		json_object_set_new(j, "sideband", json_boolean(sideband)) == 0 &&
		json_object_set(j, "attr", fields) == 0;
	json_decref(fields);
	if (good)
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
record_dry_run(const struct session_options *options, bool json, char **ret_notes,
	       struct session_error *error)
{
	*ret_notes = NULL;
	return json ? print_json(options, ret_notes, error)
		    : session_dry_run(options, print_line, NULL, ret_notes, error);
}

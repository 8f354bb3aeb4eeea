/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spoor list: the events that this machine offers. */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "recorder/event/event_offers.h"
#include "symbolizer/cli/cli.h"
#include "symbolizer/cli/pager.h"
#include "symbolizer/cmd/cmd.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/glob.h"
#include "symbolizer/text/json_value.h"
#include "symbolizer/text/table.h"

enum { OPT_JSON = 0x100, OPT_NAMES };

static const struct cli_option options[] = {
	{ OPT_NAMES, 0, "names", NULL, "names alone, of those that can be recorded as they are" },
	{ OPT_JSON, 0, "json", NULL, "an array of objects instead of a table" },
	CLI_NO_PAGER_ROW{ 0 },
};

static const struct cli_syntax syntax = {
	.command = "list",
	.synopsis = "[options] [PATTERN...]",
	.about =
		"Lists the events that spoor record -e takes on this machine: those whose name has "
		"PATTERN in it, or is it where that has * or ?, or that are of such a kind: hardware, "
		"software, cache, pmu, term, raw, breakpoint, probe, tracepoint.",
	.options = options,
};

static const struct {
	const char *word;
	bool whole;
} kinds[] = {
#define X(kind, word, whole) [EVENT_OFFER_##kind] = { word, whole },
	EVENT_OFFER_KINDS(X)
#undef X
};

struct listing {
	char **patterns;
	bool json, names;
	json_t *array;
	struct table *table;
	size_t nr;
};

static int
cmd_list_set(void *arg, int value, const char *text)
{
	struct listing *l = arg;

	(void)text;
	l->json |= value == OPT_JSON;
	l->names |= value == OPT_NAMES;
	return CLI_GO_ON;
}

static bool
matches(const char *pattern, const struct event_offer *o)
{
	if (strcmp(pattern, kinds[o->kind].word) == 0)
		return true;
	if (strpbrk(pattern, "*?"))
		return glob_match(pattern, o->name) || glob_match(pattern, o->alias);
	return strcasestr(o->name, pattern) || strcasestr(o->alias, pattern);
}

static bool
is_wanted(const struct listing *l, const struct event_offer *o)
{
	if (l->names && (o->refused || !kinds[o->kind].whole))
		return false;
	for (char **p = l->patterns; *p; p++)
		if (matches(*p, o))
			return true;
	return !*l->patterns;
}

static bool
add_json(struct listing *l, const struct event_offer *o)
{
	json_t *j = json_object();
	int error = json_object_set_new(j, "name", json_value_text(o->name));

	error |= json_object_set_new(j, "kind", json_string(kinds[o->kind].word));
	error |= json_object_set_new(j, "available", json_boolean(!o->refused));
	if (*o->alias)
		error |= json_object_set_new(j, "alias", json_value_text(o->alias));
	if (*o->says)
		error |= json_object_set_new(j, "says", json_value_text(o->says));
	if (!error)
		return json_array_append_new(l->array, j) == 0;
	json_decref(j);
	return false;
}

static void
add_cell(struct listing *l, const char *text)
{
	char *shown = escape_dup(text);

	table_cell(l->table, shown ? shown : "", TABLE_PLAIN);
	free(shown);
}

static bool
see_offer(void *arg, const struct event_offer *o)
{
	struct listing *l = arg;
	char notes[320];

	if (!is_wanted(l, o))
		return true;
	l->nr++;
	if (l->json)
		return add_json(l, o);
	if (l->names) {
		char *shown = escape_dup(o->name);

		puts(shown ? shown : "");
		free(shown);
		return true;
	}
	(void)snprintf(notes, sizeof(notes), "%s%s%s%s%s", *o->alias ? "or " : "", o->alias,
		       o->says, o->refused && (*o->alias || *o->says) ? "; " : "",
		       o->refused ? "not on this machine" : "");
	add_cell(l, o->name);
	add_cell(l, kinds[o->kind].word);
	add_cell(l, notes);
	return true;
}

/* r: what event_offers_each() says. An exit status. */
static int
end_list(const struct listing *l, int r)
{
	if (r == -EACCES || r == -EPERM)
		warnx("tracepoints are not shown: that needs root");
	else if (r == -ENODEV)
		warnx("no tracepoints: mount -t tracefs tracefs /sys/kernel/tracing");
	else if (r < 0)
		warnx("out of memory");
	if (l->nr == 0 && !l->json) {
		warnx("no event matches");
		return EXIT_FAILED;
	}
	return r == -ENOMEM ? EXIT_FAILED : EXIT_DONE;
}

int
cmd_list(int argc, char **argv)
{
	static const struct table_column columns[] = {
		{ .title = "Event" },
		{ .title = "Kind" },
		{ .title = "Notes", .cut = true, .tail = true }
	};
	struct listing l = { 0 };
	int first, status, r;

	status = cli_parse(&syntax, argc, argv, cmd_list_set, &l, &first);
	if (status != CLI_GO_ON)
		return status;
	l.patterns = argv + first;
	l.array = json_array();
	l.table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	r = l.array && l.table ? event_offers_each(NULL, see_offer, &l) : -ENOMEM;
	if (l.json && r != -ENOMEM && json_value_dump(l.array, stdout, JSON_INDENT(1)) == 0)
		putchar('\n');
	if (!l.json && !l.names && l.nr) {
		const struct table_options o = { .terminal = cli_columns() };

		pager_start();
		if (table_print(l.table, stdout, &o) < 0)
			r = -ENOMEM;
	}
	json_decref(l.array);
	table_free(l.table);
	return end_list(&l, r);
}

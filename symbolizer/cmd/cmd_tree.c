/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spoor tree: who called whom, from the command down, or from where samples were taken up. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/cli/cli.h"
#include "symbolizer/cli/pager.h"
#include "symbolizer/cmd/cmd.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/view/heading.h"
#include "symbolizer/view/load.h"
#include "symbolizer/view/tree_print.h"

#define PERCENT_LIMIT 0.5 /* as perf report -g */

enum { OPT_INVERTED = 0x100, OPT_PERCENT_LIMIT, OPT_JSON, OPT_NO_PAGER };

static const struct cli_option options[] = {
	{ OPT_INVERTED, 'G', "inverted", NULL,
	  "from the functions that were sampled to their callers" },
	{ OPT_PERCENT_LIMIT, 0, "percent-limit", "PERCENT", "leave out what is below it (0.5)" },
	{ OPT_JSON, 0, "json", NULL, "JSON instead of text" },
	{ OPT_NO_PAGER, 0, "no-pager", NULL, "print straight to the terminal" },
	LOAD_OPTIONS{ 0 },
};

static const struct cli_syntax syntax = {
	.command = "tree",
	.synopsis = "[options] [FILE]",
	.about =
		"Prints the call tree of a recording (default: recording.spoor): each command, what it "
		"called, and so on, with the share of samples in it and below, heaviest first.",
	.options = options,
};

struct request {
	struct load_options load;
	struct tree_print print;
	bool json;
};

static int
cmd_tree_set(void *arg, int value, const char *text)
{
	struct request *rq = arg;

	switch (value) {
	case OPT_INVERTED:
		rq->print.inverted = true;
		return CLI_GO_ON;
	case OPT_PERCENT_LIMIT:
		if (cli_percent(text, &rq->print.percent_limit))
			return CLI_GO_ON;
		return cli_usage_error("tree", "--percent-limit %s: not a percentage", text);
	case OPT_JSON:
		rq->json = true;
		return CLI_GO_ON;
	case OPT_NO_PAGER:
		pager_disable();
		return CLI_GO_ON;
	}
	return load_set(&rq->load, value, text);
}

/* Events are numbered from 0; -1: samples without one. */
static int
print_events(const struct request *rq, const struct load *l)
{
	bool first = true;
	int err = 0;

	if (rq->json)
		putchar('[');
	for (int event = -1; event < profile_events(l->profile) && err == 0; event++) {
		struct call_tree *t;

		err = call_tree_build(l->profile, event, rq->print.inverted, &t);
		if (err < 0)
			break;
		if (call_tree_node(t, CALL_TREE_ROOT)->total.samples > 0) {
			fputs(first ? "" : rq->json ? ",\n" : "\n", stdout);
			err = rq->json ? tree_print_json(&rq->print, t, event)
				       : tree_print_text(&rq->print, t, event);
			first = false;
		}
		call_tree_free(t);
	}
	if (rq->json)
		puts("]");
	return err;
}

static int
print_trees(struct request *rq)
{
	struct profile_options po = { .inlines = true };
	struct load l;
	int err = 0, status;

	rq->load.told = !rq->json;
	status = load_open(&l, &rq->load, &po);
	if (status == 0) {
		rq->print.load = &l;
		rq->print.terminal = cli_columns();
		pager_start();
		if (!rq->json)
			err = heading_print(&l);
		if (err == 0)
			err = print_events(rq, &l);
		if (err < 0) {
			screen_text_warn("%s", fmt_error_text(err));
			status = EXIT_FAILED;
		}
	}
	if (status == 0)
		status = l.status;
	load_close(&l);
	return status;
}

int
cmd_tree(int argc, char **argv)
{
	struct request rq = { .print = { .percent_limit = PERCENT_LIMIT } };
	int status = load_init(&rq.load, "tree");

	if (status != 0)
		return status;
	status = cli_parse_file(&syntax, argc, argv, cmd_tree_set, &rq, &rq.load.path);
	if (status == CLI_GO_ON)
		status = print_trees(&rq);
	load_done(&rq.load);
	return status;
}

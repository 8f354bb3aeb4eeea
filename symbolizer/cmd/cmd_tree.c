/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spoor tree: who called whom, from the command down, or from where samples were taken up. */
#include <stdio.h>

#include "symbolizer/cli/cli.h"
#include "symbolizer/cmd/cmd.h"
#include "symbolizer/view/answer.h"
#include "symbolizer/view/tree_print.h"

#define PERCENT_LIMIT 0.5 /* as perf report -g */

enum { OPT_INVERTED = 0x100, OPT_PERCENTAGE, OPT_PERCENT_LIMIT, OPT_JSON };

static const struct cli_option options[] = {
	{ OPT_INVERTED, 'G', "inverted", NULL,
	  "from the functions that were sampled to their callers" },
	CLI_PERCENTAGE_ROW(OPT_PERCENTAGE){ OPT_PERCENT_LIMIT, 0, "percent-limit", "PERCENT",
					    "leave out what is below it (0.5)" },
	{ OPT_JSON, 0, "json", NULL, "JSON instead of text" },
	CLI_NO_PAGER_ROW LOAD_OPTIONS{ 0 },
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
	case OPT_PERCENTAGE:
		return cli_set_percentage("tree", text, &rq->print.absolute);
	case OPT_PERCENT_LIMIT:
		return cli_set_percent("tree", "percent-limit", text, &rq->print.percent_limit);
	case OPT_JSON:
		rq->json = true;
		return CLI_GO_ON;
	}
	return load_set(&rq->load, value, text);
}

static int
print_event(void *arg, const struct load *l, int event, const char *before)
{
	struct request *rq = arg;
	const struct profile_weight whole = profile_event_whole(l->profile, event);
	struct call_tree *t;
	int err = call_tree_build(l->profile, event, rq->print.inverted, rq->print.percent_limit,
				  rq->print.absolute ? &whole : NULL, &t),
	    found;

	if (err < 0)
		return err;
	found = call_tree_node(t, CALL_TREE_ROOT)->total.samples > 0;
	if (found) {
		fputs(before, stdout);
		rq->print.load = l;
		err = rq->json ? tree_print_json(&rq->print, t, event)
			       : tree_print_text(&rq->print, t, event);
	}
	call_tree_free(t);
	return err < 0 ? err : found;
}

static int
print_trees(struct request *rq)
{
	const struct profile_options po = { .inlines = true };

	rq->print.terminal = cli_columns();
	return answer_events(&rq->load, &po, rq->json, print_event, rq);
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

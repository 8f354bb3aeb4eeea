/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spoor peek: functions that a regular expression finds, their callers, and what they called. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include <bsd/stdlib.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/cli/cli.h"
#include "symbolizer/cmd/cmd.h"
#include "symbolizer/input/input.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/view/answer.h"
#include "symbolizer/view/peek_print.h"

enum { OPT_PERCENTAGE = 0x100, OPT_PERCENT_LIMIT, OPT_MAX, OPT_JSON };

static const struct cli_option options[] = {
	CLI_PERCENTAGE_ROW(OPT_PERCENTAGE){
		OPT_PERCENT_LIMIT, 0, "percent-limit", "PERCENT",
		"leave out callers and callees that are less of a function's total" },
	{ OPT_MAX, 0, "max", "N", "leave out all but the N functions with the most samples" },
	{ OPT_JSON, 0, "json", NULL, "JSON instead of text" },
	CLI_COLOR_ROW CLI_NO_PAGER_ROW LOAD_OPTIONS{ 0 },
};

static const struct cli_syntax syntax = {
	.command = "peek",
	.synopsis = "[options] REGEX [FILE]",
	.about = "Prints each function of a recording (default: recording.spoor) in whose name the "
		 "regular expression is found: above it its callers, below it what it called, with "
		 "the samples of each.",
	.options = options,
};

struct request {
	struct load_options load;
	struct peek_print print;
	struct frame_regex *regex;
	bool json;
};

static int
set_max(struct request *rq, const char *text)
{
	const char *why;

	rq->print.functions_max = (size_t)strtonum(text, 1, INT_MAX, &why);
	if (!why)
		return CLI_GO_ON;
	return cli_usage_error("peek", "--max %s: not a number of functions", text);
}

static int
cmd_peek_set(void *arg, int value, const char *text)
{
	struct request *rq = arg;

	switch (value) {
	case OPT_PERCENTAGE:
		return cli_set_percentage("peek", text, &rq->print.absolute);
	case OPT_PERCENT_LIMIT:
		return cli_set_percent("peek", "percent-limit", text, &rq->print.percent_limit);
	case OPT_MAX:
		return set_max(rq, text);
	case OPT_JSON:
		rq->json = true;
		return CLI_GO_ON;
	}
	return load_set(&rq->load, value, text);
}

/* REGEX [FILE], or FILE REGEX */
static int
take_arguments(struct request *rq, int argc, char **argv, int first)
{
	char why[BOUNDED_REGEX_WHY_MAX], *regex;
	bool turned;
	int err;

	if (first >= argc)
		return cli_usage_error("peek", "which functions?");
	if (first + 2 < argc || (first + 1 < argc && rq->load.path))
		return cli_usage_error("peek", "'%s' is one file too many",
				       argv[rq->load.path ? first + 1 : first + 2]);
	turned = first + 1 < argc && input_is_first(argv[first], argv[first + 1]);
	regex = argv[turned ? first + 1 : first];
	if (first + 1 < argc)
		rq->load.path = argv[turned ? first : first + 1];
	if (!rq->load.path && input_is_recording(argv[first]))
		return cli_usage_error("peek", "'%s' is a recording; which functions of it?",
				       argv[first]);
	rq->print.regex = regex;
	err = frame_regex_new(regex, why, &rq->regex);
	if (err == -FMT_E_UNSUPPORTED)
		return cli_usage_error("peek", "%s: %s", regex, why);
	if (err < 0)
		screen_text_warn("%s", fmt_error_text(err));
	return err < 0 ? EXIT_FAILED : CLI_GO_ON;
}

static int
print_event(void *arg, const struct load *l, int event, const char *before)
{
	struct request *rq = arg;
	struct peek *k;
	int err = peek_new(l->profile, event, rq->regex, &k), found;

	if (err < 0)
		return err;
	found = peek_whole(k).samples > 0;
	if (found) {
		fputs(before, stdout);
		rq->print.load = l;
		err = rq->json ? peek_print_json(&rq->print, k, event)
			       : peek_print_text(&rq->print, k, event);
	}
	peek_free(k);
	return err < 0 ? err : found;
}

static int
peek(struct request *rq)
{
	const struct profile_options po = { .inlines = true };

	rq->print.terminal = cli_columns();
	rq->print.color = cli_color();
	return answer_events(&rq->load, &po, rq->json, print_event, rq);
}

int
cmd_peek(int argc, char **argv)
{
	struct request rq = { .regex = NULL };
	int first, status = load_init(&rq.load, "peek");

	if (status != 0)
		return status;
	status = cli_parse(&syntax, argc, argv, cmd_peek_set, &rq, &first);
	if (status == CLI_GO_ON)
		status = take_arguments(&rq, argc, argv, first);
	if (status == CLI_GO_ON)
		status = peek(&rq);
	frame_regex_free(rq.regex);
	load_done(&rq.load);
	return status;
}

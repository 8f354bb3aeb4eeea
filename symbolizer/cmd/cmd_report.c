/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spoor report: where the time went. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/fmt_error.h"
#include "symbolizer/cmd/cli.h"
#include "symbolizer/cmd/load.h"
#include "symbolizer/cmd/pager.h"
#include "symbolizer/cmd/report_print.h"

enum {
	OPT_CHILDREN = 0x100,
	OPT_NO_CHILDREN,
	OPT_PERCENT_LIMIT,
	OPT_PERCENTAGE,
	OPT_JSON,
	OPT_COLOR,
	OPT_NO_PAGER
};

#define X(name, title, number, help) " " #name
#define KEYS REPORT_KEYS(X)

static const struct cli_option options[] = {
	{ 's', 's', "sort", "KEYS", "comma-separated; keys are" KEYS },
	{ OPT_CHILDREN, 0, "children", NULL, "order by time spent there and in what it called" },
	{ OPT_NO_CHILDREN, 0, "no-children", NULL, "order by time spent there itself (default)" },
	{ OPT_PERCENTAGE, 0, "percentage", "OF",
	  "shares are absolute, of the whole (default), or relative, of what filters leave" },
	{ OPT_PERCENT_LIMIT, 0, "percent-limit", "PERCENT", "leave out rows below it" },
	{ 'n', 'n', "show-nr-samples", NULL, "a column with the number of samples" },
	{ OPT_JSON, 0, "json", NULL, "one JSON object instead of text" },
	{ OPT_COLOR, 0, "color", "WHEN", "auto, always or never" },
	{ OPT_NO_PAGER, 0, "no-pager", NULL, "print straight to the terminal" },
	LOAD_OPTIONS{ 0 },
};

static const struct cli_syntax syntax = {
	.command = "report",
	.synopsis = "[options] [FILE]",
	.about =
		"Says where the samples of a recording (default: recording.spoor) were taken: share of "
		"the\nevent's total by command, object and symbol, most first.",
	.options = options,
};

struct request {
	struct load_options load;
	struct report_options report;
	double percent_limit;
	bool show_nr_samples, json;
};

static int
set_sort(struct request *rq, const char *text)
{
	const char *bad;
	size_t len;

	if (report_parse_keys(text, &rq->report, &bad, &len) == 0)
		return CLI_GO_ON;
	return cli_usage_error("report", "--sort: '%.*s' is no key or there twice; keys are" KEYS,
			       (int)len, bad);
}

static int
set_percent_limit(struct request *rq, const char *text)
{
	char *end;

	rq->percent_limit = strtod(text, &end);
	if (end != text && (!*end || strcmp(end, "%") == 0) && rq->percent_limit >= 0 &&
	    rq->percent_limit <= 100)
		return CLI_GO_ON;
	return cli_usage_error("report", "--percent-limit %s: not a percentage", text);
}

static int
set_percentage(struct request *rq, const char *text)
{
	rq->report.relative = strcmp(text, "relative") == 0;
	if (rq->report.relative || strcmp(text, "absolute") == 0)
		return CLI_GO_ON;
	return cli_usage_error("report", "--percentage %s: absolute or relative", text);
}

static int
set(void *arg, int value, const char *text)
{
	struct request *rq = arg;

	switch (value) {
	case 's':
		return set_sort(rq, text);
	case OPT_CHILDREN:
	case OPT_NO_CHILDREN:
		rq->report.children = value == OPT_CHILDREN;
		return CLI_GO_ON;
	case OPT_PERCENT_LIMIT:
		return set_percent_limit(rq, text);
	case OPT_PERCENTAGE:
		return set_percentage(rq, text);
	case 'n':
		rq->show_nr_samples = true;
		return CLI_GO_ON;
	case OPT_JSON:
		rq->json = true;
		return CLI_GO_ON;
	case OPT_COLOR:
		if (cli_set_color(text))
			return CLI_GO_ON;
		return cli_usage_error("report", "--color %s: auto, always or never", text);
	case OPT_NO_PAGER:
		pager_disable();
		return CLI_GO_ON;
	}
	return load_set(&rq->load, value, text);
}

static int
report(const struct request *rq)
{
	struct profile_options po = { 0 };
	struct report *r = NULL;
	struct load l;
	int err, status;

	report_profile_options(&rq->report, &po);
	status = load_open(&l, &rq->load, &po);
	if (status == 0) {
		err = report_build(l.profile, &rq->report, &r);
		if (err == 0) {
			const struct report_print p = { &l, r, &rq->report, rq->percent_limit,
							rq->show_nr_samples };

			err = rq->json ? report_print_json(&p) : report_print_text(&p);
		}
		if (err < 0) {
			warnx("%s", fmt_error_text(err));
			status = EXIT_FAILED;
		}
	}
	if (status == 0)
		status = l.status;
	report_free(r);
	load_close(&l);
	return status;
}

int
cmd_report(int argc, char **argv)
{
	struct request rq = {
		.report = { .keys = { REPORT_comm, REPORT_dso, REPORT_sym }, .nr_keys = 3 },
	};
	int first, status;

	status = load_init(&rq.load, "report");
	if (status != 0)
		return status;
	status = cli_parse(&syntax, argc, argv, set, &rq, &first);
	if (status == CLI_GO_ON)
		status = cli_one_file("report", argc, argv, first, &rq.load.path);
	if (status == CLI_GO_ON)
		status = report(&rq);
	load_done(&rq.load);
	return status;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spoor report: where the time went. */
#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/cli/cli.h"
#include "symbolizer/cli/pager.h"
#include "symbolizer/cmd/cmd.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/view/load.h"
#include "symbolizer/view/report_header.h"
#include "symbolizer/view/report_print.h"

#define WIDTH_MAX 100000

enum {
	OPT_CHILDREN = 0x100,
	OPT_NO_CHILDREN,
	OPT_PERCENT_LIMIT,
	OPT_PERCENTAGE,
	OPT_JSON,
	OPT_COLOR,
	OPT_NO_PAGER,
	OPT_STDIO,
	OPT_HEADER,
	OPT_HEADER_ONLY,
};

#define X(name, ...) " " #name
#define KEYS REPORT_KEYS(X)
#define Y(name, title) " " #name
#define NUMBERS REPORT_NUMBERS(Y)

/* perf has widths as a word of their own, and a file is not called so. */
static bool
is_widths(const char *word)
{
	return *word >= '0' && *word <= '9' && strspn(word, "0123456789,") == strlen(word);
}

static const struct cli_option options[] = {
	{ 's', 's', "sort", "KEYS", "comma-separated, + in front adds; keys are" KEYS },
	{ 'F', 'F', "fields", "FIELDS", "columns in this order: keys and" NUMBERS },
	{ OPT_CHILDREN, 0, "children", NULL, "order by time spent there and in what it called" },
	{ OPT_NO_CHILDREN, 0, "no-children", NULL, "order by time spent there itself (default)" },
	{ OPT_PERCENTAGE, 0, "percentage", "OF",
	  "shares are absolute, of the whole (default), or relative, of what filters leave" },
	{ OPT_PERCENT_LIMIT, 0, "percent-limit", "PERCENT", "leave out rows below it" },
	{ 'n', 'n', "show-nr-samples", NULL, "a column with the number of samples" },
	{ 'q', 'q', "quiet", NULL, "rows alone: nothing that begins with #" },
	{ 't', 't', "field-separator", "TEXT", "between columns, in place of blanks" },
	{ 'w', 'w', "column-widths", "[WIDTHS]", "names whole on a terminal, or of these widths" },
	{ OPT_HEADER, 0, "header", NULL, "before it, how the recording was made" },
	{ OPT_HEADER_ONLY, 0, "header-only", NULL, "nothing else" },
	{ OPT_STDIO, 0, "stdio", NULL, "text, which is what there is (for perf's sake)" },
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
		"the event's total by command, object and symbol, most first.",
	.options = options,
	.is_argument = is_widths,
};

struct request {
	struct load_options load;
	struct report_options report;
	struct report_list sort, fields;
	struct table_options table;
	int widths[REPORT_COLUMNS_MAX];
	double percent_limit;
	bool show_nr_samples, json, header, header_only;
};

static int
set_sort(struct request *rq, const char *text)
{
	const char *bad;
	size_t len;

	if (report_parse_list(text, REPORT_KEYS_MAX, &rq->sort, &bad, &len) == 0)
		return CLI_GO_ON;
	return cli_usage_error("report", "--sort: '%.*s' is no key or there twice; keys are" KEYS,
			       (int)len, bad);
}

static int
set_fields(struct request *rq, const char *text)
{
	const char *bad;
	size_t len;

	if (report_parse_list(text, REPORT_COLUMNS_MAX, &rq->fields, &bad, &len) == 0)
		return CLI_GO_ON;
	return cli_usage_error(
		"report", "--fields: '%.*s' is no field or there twice; fields are" NUMBERS KEYS,
		(int)len, bad);
}

static int
set_separator(struct request *rq, const char *text)
{
	if (!*text)
		return cli_usage_error("report", "--field-separator: is empty");
	rq->table.separator = strcmp(text, "\\t") == 0 ? "\t" : text;
	return CLI_GO_ON;
}

/* Without widths, no column is narrower than its names. */
static int
set_widths(struct request *rq, const char *text)
{
	char *end;
	size_t n = 0;

	memset(rq->widths, 0, sizeof(rq->widths));
	rq->table.widths = rq->widths;
	rq->table.nr_widths = REPORT_COLUMNS_MAX;
	if (!text)
		return CLI_GO_ON;
	do {
		long width = strtol(text, &end, 10);

		if (n == REPORT_COLUMNS_MAX || !is_widths(text) || width > WIDTH_MAX ||
		    (*end && !is_widths(end + 1)))
			return cli_usage_error("report", "--column-widths %s: not numbers", text);
		rq->widths[n++] = (int)width;
		text = end + 1;
	} while (*end);
	rq->table.nr_widths = n;
	return CLI_GO_ON;
}

static int
set_percent_limit(struct request *rq, const char *text)
{
	if (cli_percent(text, &rq->percent_limit))
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
cmd_report_set(void *arg, int value, const char *text)
{
	struct request *rq = arg;

	switch (value) {
	case 's':
		return set_sort(rq, text);
	case 'F':
		return set_fields(rq, text);
	case 'q':
		rq->table.rows_only = true;
		return CLI_GO_ON;
	case 't':
		return set_separator(rq, text);
	case 'w':
		return set_widths(rq, text);
	case OPT_HEADER_ONLY:
		rq->header_only = true;
		return CLI_GO_ON;
	case OPT_HEADER:
		rq->header = true;
		return CLI_GO_ON;
	case OPT_STDIO:
		return CLI_GO_ON;
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
report(struct request *rq)
{
	struct profile_options po = { 0 };
	struct report *r = NULL;
	struct load l;
	int err, status;

	report_choose(&rq->report, &rq->sort, &rq->fields, rq->show_nr_samples);
	report_profile_options(&rq->report, &po);
	rq->table.terminal = cli_columns();
	rq->table.color = cli_color();
	if (rq->header && !rq->json && !rq->table.rows_only)
		rq->load.opened = report_header_print;
	rq->load.told = !rq->json && !rq->table.rows_only;
	status = load_open(&l, &rq->load, &po);
	if (status == 0) {
		err = report_build(l.profile, &rq->report, &r);
		if (err == 0) {
			const struct report_print p = { &l, r, &rq->report, rq->percent_limit,
							rq->table };

			err = rq->json ? report_print_json(&p) : report_print_text(&p);
		}
		if (err < 0) {
			screen_text_warn("%s", fmt_error_text(err));
			status = EXIT_FAILED;
		}
	}
	if (status == 0)
		status = l.status;
	report_free(r);
	load_close(&l);
	return status;
}

static int
header_only(const struct request *rq)
{
	struct input_set set;
	int more = 0, status = input_set_open(&set, rq->load.path, rq->load.filter);

	while (status == 0 && (more = input_set_next(&set)) > 0) {
		report_header_print(NULL, &set.in);
		input_set_leave(&set);
	}
	input_set_close(&set);
	return more < 0 ? EXIT_FAILED : status;
}

int
cmd_report(int argc, char **argv)
{
	struct request rq = { 0 };
	int status;

	status = load_init(&rq.load, "report");
	if (status != 0)
		return status;
	status = cli_parse_file(&syntax, argc, argv, cmd_report_set, &rq, &rq.load.path);
	if (status == CLI_GO_ON)
		status = rq.header_only ? header_only(&rq) : report(&rq);
	load_done(&rq.load);
	return status;
}

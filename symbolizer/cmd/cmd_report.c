/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spoor report: where the time went. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bsd/stdlib.h>

#include "format/bytes/fmt_error.h"
#include "format/bytes/time_text.h"
#include "symbolizer/cli/cli.h"
#include "symbolizer/cmd/cmd.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/load/load.h"
#include "symbolizer/view/answer.h"
#include "symbolizer/view/report_header.h"
#include "symbolizer/view/report_print.h"

#define WIDTH_MAX 100000

enum {
	OPT_CHILDREN = 0x100,
	OPT_NO_CHILDREN,
	OPT_PERCENT_LIMIT,
	OPT_PERCENTAGE,
	OPT_TIME_QUANTUM,
	OPT_JSON,
	OPT_STDIO,
	OPT_HEADER,
	OPT_HEADER_ONLY,
	OPT_MAX,
	OPT_NO_CALL_GRAPH,
	OPT_MEM_MODE,
};

/* perf's is ^sys_|^do_page_fault, of kernels that are gone. */
#define PARENT_DEFAULT "^(__[^_]+_)?sys_|^(do|exc)_page_fault"

#define X(name, ...) " " #name
#define KEYS REPORT_KEYS(X)
#define Y(name, title) " " #name
#define NUMBERS REPORT_NUMBERS(Y)

static bool
is_widths(const char *word)
{
	return *word >= '0' && *word <= '9' && strspn(word, "0123456789,") == strlen(word);
}

/* A word that says wrongly how graphs are drawn, rather than a file that is missing. */
static bool
is_wrong_graph(const char *word)
{
	const size_t len = strspn(word, "abcdefghijklmnopqrstuvwxyz");

	return len > 0 && (word[len] == '\0' || word[len] == ',') && access(word, F_OK) < 0;
}

/* perf has both as words of their own, and a file is not called so. */
static bool
is_optional_argument(int option, const char *word)
{
	struct call_graph_options graph = CALL_GRAPH_DEFAULT;
	const char *bad;
	size_t len;

	if (option == 'w')
		return is_widths(word);
	return call_graph_parse(word, &graph, &bad, &len) == 0 || is_wrong_graph(word);
}

static const struct cli_option options[] = {
	{ 's', 's', "sort", "KEYS", "comma-separated, + in front adds; keys are" KEYS },
	{ 'F', 'F', "fields", "FIELDS", "columns in this order: keys and" NUMBERS },
	{ 'g', 'g', "call-graph", "[HOW]",
	  "below each row who called it: caller or callee first, graph, fractal, flat, folded or none, "
	  "least share (" CALL_GRAPH_TEXT ")" },
	{ OPT_NO_CALL_GRAPH, 0, "no-call-graph", NULL, "no call graphs (default)" },
	{ 'G', 'G', "inverted", NULL, "call graphs, from the callers on" },
	{ OPT_CHILDREN, 0, "children", NULL, "order by time spent there and in what it called" },
	{ OPT_NO_CHILDREN, 0, "no-children", NULL, "order by time spent there itself (default)" },
	CLI_PERCENTAGE_ROW(OPT_PERCENTAGE){ OPT_PERCENT_LIMIT, 0, "percent-limit", "PERCENT",
					    "leave out rows below it" },
	{ OPT_TIME_QUANTUM, 0, "time-quantum", "SPAN",
	  "as wide is a span of the key time (100ms)" },
	{ 'b', 'b', "branch-stack", NULL,
	  "count the branches before each sample: from where, to where, mispredicted, cycles" },
	{ OPT_MEM_MODE, 0, "mem-mode", NULL,
	  "shares of the weights of samples, by what they touched" },
	{ OPT_MAX, 0, "max", "N", "leave out all but the first N rows of each event" },
	{ 'p', 'p', "parent", "REGEX",
	  "what the key parent is: the function itself or its first caller that this is found in" },
	{ 'n', 'n', "show-nr-samples", NULL, "a column with the number of samples" },
	{ 'q', 'q', "quiet", NULL, "rows alone: nothing that begins with #" },
	{ 't', 't', "field-separator", "TEXT", "between columns, in place of blanks" },
	{ 'w', 'w', "column-widths", "[WIDTHS]", "names whole on a terminal, or of these widths" },
	{ OPT_HEADER, 0, "header", NULL, "before it, how the recording was made" },
	{ OPT_HEADER_ONLY, 0, "header-only", NULL, "nothing else" },
	{ OPT_STDIO, 0, "stdio", NULL, "text, which is what there is (for perf's sake)" },
	{ OPT_JSON, 0, "json", NULL, "one JSON object instead of text" },
	CLI_COLOR_ROW CLI_NO_PAGER_ROW LOAD_OPTIONS{ 0 },
};

static const struct cli_syntax syntax = {
	.command = "report",
	.synopsis = "[options] [FILE]",
	.about =
		"Says where the samples of a recording (default: recording.spoor) were taken: share of "
		"the event's total by command, object and symbol, most first.",
	.options = options,
	.is_argument = is_optional_argument,
};

struct request {
	struct load_options load;
	struct report_options report;
	struct report_list sort, fields;
	struct table_options table;
	int widths[REPORT_COLUMNS_MAX];
	struct call_graph_options graph;
	const char *parent;
	double percent_limit;
	size_t rows_max;
	bool show_nr_samples, json, header, header_only;
};

static int
set_sort(struct request *rq, const char *text)
{
	const char *bad;
	size_t len;

	if (report_parse_list(text, REPORT_KEYS_MAX, &rq->sort, &bad, &len) == 0)
		return CLI_GO_ON;
	if (len == 0)
		return cli_usage_error("report", "--sort %s: a key is empty", text);
	return cli_usage_error(
		"report",
		"--sort: '%.*s' is no key (a field of any tracepoint is '*.FIELD'), or there twice; keys are" KEYS,
		(int)len, bad);
}

static int
set_fields(struct request *rq, const char *text)
{
	const char *bad;
	size_t len;

	if (report_parse_list(text, REPORT_COLUMNS_MAX, &rq->fields, &bad, &len) == 0)
		return CLI_GO_ON;
	if (len == 0)
		return cli_usage_error("report", "--fields %s: a field is empty", text);
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
	const int status = cli_set_percent("report", "percent-limit", text, &rq->percent_limit);

	if (status == CLI_GO_ON)
		rq->graph.percent_limit = rq->percent_limit;
	return status;
}

static int
set_graph(struct request *rq, const char *text)
{
	const char *bad;
	size_t len;

	if (call_graph_parse(text ? text : CALL_GRAPH_TEXT, &rq->graph, &bad, &len) == 0)
		return CLI_GO_ON;
	return cli_usage_error("report",
			       "--call-graph: '%.*s' is none of graph, fractal, flat, folded, "
			       "none, caller, callee, percent, period, count, a percentage",
			       (int)len, bad);
}

/* As perf's: -g caller. */
static int
set_inverted(struct request *rq)
{
	if (rq->graph.mode == CALL_GRAPH_NONE)
		rq->graph.mode = CALL_GRAPH_GRAPH;
	rq->graph.caller = rq->graph.order_given = true;
	return CLI_GO_ON;
}

static int
set_max(struct request *rq, const char *text)
{
	const char *why;

	rq->rows_max = (size_t)strtonum(text, 1, INT_MAX, &why);
	if (!why)
		return CLI_GO_ON;
	return cli_usage_error("report", "--max %s: not a number of rows", text);
}

static int
set_quantum(struct request *rq, const char *text)
{
	if (time_text_duration(text, &rq->report.quantum_ns) == 0 && rq->report.quantum_ns > 0)
		return CLI_GO_ON;
	return cli_usage_error("report", "--time-quantum %s: not a span of time", text);
}

/* What an option turns on that says no more; NULL: it is another one. */
static bool *
flag_of(struct request *rq, int value)
{
	switch (value) {
	case 'q':
		return &rq->table.rows_only;
	case OPT_HEADER_ONLY:
		return &rq->header_only;
	case OPT_HEADER:
		return &rq->header;
	case 'b':
		return &rq->report.branches;
	case OPT_MEM_MODE:
		return &rq->report.mem_mode;
	case 'n':
		return &rq->show_nr_samples;
	case OPT_JSON:
		return &rq->json;
	}
	return NULL;
}

static int
cmd_report_set(void *arg, int value, const char *text)
{
	struct request *rq = arg;
	bool *flag = flag_of(rq, value);

	if (flag) {
		*flag = true;
		return CLI_GO_ON;
	}
	switch (value) {
	case 's':
		return set_sort(rq, text);
	case 'F':
		return set_fields(rq, text);
	case 't':
		return set_separator(rq, text);
	case 'w':
		return set_widths(rq, text);
	case OPT_STDIO:
		return CLI_GO_ON;
	case OPT_CHILDREN:
	case OPT_NO_CHILDREN:
		rq->report.children = value == OPT_CHILDREN;
		return CLI_GO_ON;
	case OPT_PERCENT_LIMIT:
		return set_percent_limit(rq, text);
	case OPT_TIME_QUANTUM:
		return set_quantum(rq, text);
	case OPT_PERCENTAGE:
		return cli_set_percentage("report", text, &rq->report.absolute);
	case 'g':
		return set_graph(rq, text);
	case 'G':
		return set_inverted(rq);
	case OPT_NO_CALL_GRAPH:
		return set_graph(rq, "none");
	case OPT_MAX:
		return set_max(rq, text);
	case 'p':
		rq->parent = text;
		return CLI_GO_ON;
	}
	return load_set(&rq->load, value, text);
}

/* For the key, which --parent asks for. */
static int
make_parent(struct request *rq)
{
	const char *text = rq->parent ? rq->parent : PARENT_DEFAULT;
	char why[BOUNDED_REGEX_WHY_MAX];
	int err;

	rq->report.with_parent = rq->parent != NULL;
	err = frame_regex_new(text, why, &rq->report.parent);
	if (err == -FMT_E_UNSUPPORTED)
		return cli_usage_error("report", "--parent %s: %s", text, why);
	if (err < 0)
		screen_text_warn("%s", fmt_error_text(err));
	return err < 0 ? EXIT_FAILED : CLI_GO_ON;
}

/* Branches are rows of their own, which nobody called; and a row is of branches or of samples. */
static int
check_branches(struct request *rq)
{
	rq->report.branches |= report_of_branches(&rq->sort) || report_of_branches(&rq->fields);
	if (!rq->report.branches)
		return CLI_GO_ON;
	if (rq->report.children || rq->graph.mode != CALL_GRAPH_NONE || rq->parent ||
	    report_has(&rq->fields, REPORT_overhead_children) ||
	    report_has(&rq->sort, REPORT_parent) || report_has(&rq->fields, REPORT_parent))
		return cli_usage_error("report",
				       "--branch-stack: branches have no callers: not with "
				       "--children, --call-graph or --parent");
	if (rq->report.mem_mode)
		return cli_usage_error("report", "--branch-stack: not with --mem-mode");
	return CLI_GO_ON;
}

/* Said where rows would be of branches, and nothing has any. */
static bool
lacks_branches(const struct request *rq, struct load *l)
{
	const struct profile_totals *t = profile_totals(l->profile);

	if (!rq->report.branches || t->samples > 0 || t->filtered > 0)
		return false;
	screen_text_warn("%s: no sample has branches: spoor record -b asks for them, on CPUs that "
			 "record branches",
			 l->set.path);
	l->status = EXIT_FAILED;
	return true;
}

static int
print_report(void *arg, struct load *l)
{
	const struct request *rq = arg;
	const bool caller = rq->graph.order_given ? rq->graph.caller : rq->report.children;
	struct report_print p = {
		.load = l,
		.options = &rq->report,
		.percent_limit = rq->percent_limit,
		.rows_max = rq->rows_max,
		.table = rq->table,
		.graph = &rq->graph,
	};
	struct report *r = NULL;
	int err;

	if (lacks_branches(rq, l) && !rq->json)
		return 0;
	err = report_build(l->profile, &rq->report, &r);
	p.report = r;
	if (err == 0 && rq->report.graphs)
		err = call_graphs_new(l->profile, r, &rq->report, caller, &p.graphs);
	if (err == 0)
		err = rq->json ? report_print_json(&p) : report_print_text(&p);
	call_graphs_free(p.graphs);
	report_free(r);
	return err;
}

static int
report(struct request *rq)
{
	struct profile_options po = { 0 };

	report_choose(&rq->report, &rq->sort, &rq->fields, rq->show_nr_samples);
	rq->report.graphs = rq->graph.mode != CALL_GRAPH_NONE;
	report_profile_options(&rq->report, &po);
	rq->table.terminal = cli_columns();
	rq->table.color = cli_color();
	if (rq->header && !rq->json && !rq->table.rows_only)
		rq->load.opened = report_header_print;
	rq->load.told = !rq->json && !rq->table.rows_only;
	return answer(&rq->load, &po, print_report, rq);
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
	struct request rq = { .graph = CALL_GRAPH_DEFAULT };
	int status;

	status = load_init(&rq.load, "report");
	if (status != 0)
		return status;
	status = cli_parse_file(&syntax, argc, argv, cmd_report_set, &rq, &rq.load.path);
	if (status == CLI_GO_ON)
		status = check_branches(&rq);
	if (status == CLI_GO_ON)
		status = make_parent(&rq);
	if (status == CLI_GO_ON)
		status = rq.header_only ? header_only(&rq) : report(&rq);
	frame_regex_free(rq.report.parent);
	load_done(&rq.load);
	return status;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spoor diff: what became slower, and whether that is more than noise. */
#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/cli/cli.h"
#include "symbolizer/cmd/cmd.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/view/diff_print.h"

#define PERCENT_LIMIT 0.5
#define CONFIDENCE 0.99
#define SAMPLES_MIN 10

enum {
	OPT_CHILDREN = 0x100,
	OPT_FOLDED,
	OPT_CONFIDENCE,
	OPT_PERCENT_LIMIT,
	OPT_JSON,
};

static const struct cli_option options[] = {
	{ 's', 's', "sort", "KEYS",
	  "what rows are told apart by (dso,sym), as in report; not time, event, parent" },
	{ OPT_CHILDREN, 0, "children", NULL, "compare time spent there and in what it called" },
	SIDES_OPTIONS{ OPT_CONFIDENCE, 0, "confidence", "PERCENT",
		       "how sure it is that no row is called changed that is not (99)" },
	{ OPT_PERCENT_LIMIT, 0, "percent-limit", "PERCENT",
	  "leave out noise below it on both sides (0.5)" },
	{ OPT_FOLDED, 0, "folded", NULL,
	  "stacks with both counts, for flamegraph.pl: as difffolded.pl has them" },
	{ OPT_JSON, 0, "json", NULL, "one JSON object instead of text" },
	CLI_COLOR_ROW CLI_NO_PAGER_ROW LOAD_OPTIONS{ 0 },
};

static const struct cli_syntax syntax = {
	.command = "diff",
	.synopsis = "[options] BASELINE NEW | [options] --baseline-since TIME... [FILE]",
	.about =
		"Compares two recordings, or two times of one: how much CPU time each function takes "
		"of what was covered, what changed most, and whether that is more than noise.",
	.options = options,
};

struct request {
	struct sides_options sides;
	struct report_options report;
	struct report_list sort;
	struct comparison_options comparison;
	double percent_limit;
	bool folded, json;
	const char *of_rows; /* an option that was given, and that stacks of --folded do not have */
};

static int
set_sort(struct request *rq, const char *text)
{
	const char *bad = text;
	size_t len = strlen(text);
	const int err = report_parse_list(text, REPORT_SHARED_MAX, &rq->sort, &bad, &len);

	if (err < 0 && len == 0)
		return cli_usage_error("diff", "--sort %s: a key is empty", text);
	if (err == 0 && !report_has(&rq->sort, REPORT_time) &&
	    !report_has(&rq->sort, REPORT_event) && !report_has(&rq->sort, REPORT_parent))
		return CLI_GO_ON;
	return cli_usage_error("diff", "--sort: '%.*s' is no key to compare by, or there twice",
			       (int)len, bad);
}

static int
set_confidence(struct request *rq, const char *text)
{
	double percent;

	if (!cli_percent(text, &percent) || percent <= 0 || percent >= 100)
		return cli_usage_error(
			"diff", "--confidence %s: not a percentage above 0, below 100", text);
	rq->comparison.confidence = percent / 100;
	return CLI_GO_ON;
}

/* Remembers an option that only rows have: stacks (--folded) could but ignore it. */
static void
note_of_rows(struct request *rq, int value)
{
	switch (value) {
	case 's':
	case OPT_CHILDREN:
	case OPT_CONFIDENCE:
	case OPT_PERCENT_LIMIT:
	case OPT_JSON:
		for (const struct cli_option *o = options; o->name; o++)
			if (o->value == value)
				rq->of_rows = o->name;
	}
}

static int
cmd_diff_set(void *arg, int value, const char *text)
{
	struct request *rq = arg;

	note_of_rows(rq, value);
	switch (value) {
	case 's':
		return set_sort(rq, text);
	case OPT_CHILDREN:
		rq->report.children = true;
		return CLI_GO_ON;
	case OPT_CONFIDENCE:
		return set_confidence(rq, text);
	case OPT_PERCENT_LIMIT:
		return cli_set_percent("diff", "percent-limit", text, &rq->percent_limit);
	case OPT_FOLDED:
		rq->folded = true;
		return CLI_GO_ON;
	case OPT_JSON:
		rq->json = true;
		return CLI_GO_ON;
	}
	return sides_set(&rq->sides, value, text);
}

/* -s has a report's meaning: a leading + adds to what there is. */
static void
choose_keys(struct request *rq)
{
	static const struct report_list usual = { { REPORT_dso, REPORT_sym }, 2, false, "" };
	struct report_list *keys = &rq->report.keys;

	*keys = rq->sort.n == 0 || rq->sort.more ? usual : rq->sort;
	for (size_t i = 0; i < rq->sort.n; i++)
		if (!report_has(keys, rq->sort.v[i]))
			keys->v[keys->n++] = rq->sort.v[i];
	memcpy(keys->fields, rq->sort.fields, sizeof(keys->fields));
	keys->v[keys->n++] = REPORT_time;
	rq->report.columns = *keys;
	rq->comparison.report = &rq->report;
	rq->comparison.per = rq->sides.per;
}

static int
print_comparison(const struct request *rq, struct sides *s, const struct report *const *reports)
{
	struct comparison_input inputs[COMPARISON_SIDES];
	struct comparison *c = NULL;
	int err;

	for (int side = 0; side < COMPARISON_SIDES; side++) {
		inputs[side] = (struct comparison_input){
			.profile = s->load[side].profile,
			.report = reports[side],
			.work = rq->sides.work[side],
			.tasks = s->tasks[side],
		};
		memcpy(inputs[side].ends, s->ends[side], sizeof(inputs[side].ends));
		memcpy(inputs[side].covered, s->covered[side], sizeof(inputs[side].covered));
	}
	err = comparison_build(inputs, &rq->comparison, &c);
	if (err == 0) {
		const struct diff_print p = {
			.sides = s,
			.comparison = c,
			.options = &rq->comparison,
			.reports = { reports[0], reports[1] },
			.percent_limit = rq->percent_limit,
			.table = { .terminal = cli_columns(), .color = cli_color() },
		};

		err = rq->json ? diff_print_json(&p) : diff_print_text(&p);
	}
	comparison_free(c);
	return err;
}

static int
compare(const struct request *rq, struct sides *s)
{
	struct report *reports[COMPARISON_SIDES] = { NULL, NULL };
	int err = 0;

	if (rq->folded)
		return diff_print_folded(s, &rq->sides);
	for (int side = 0; side < COMPARISON_SIDES && err == 0; side++)
		err = report_build(s->load[side].profile, &rq->report, &reports[side]);
	if (err == 0)
		err = print_comparison(rq, s, (const struct report *const *)reports);
	report_free(reports[COMPARISON_BASELINE]);
	report_free(reports[COMPARISON_NEW]);
	return err;
}

static int
diff(struct request *rq)
{
	struct profile_options po = { .inlines = true };
	struct sides s;
	int err, status;

	choose_keys(rq);
	if (!rq->folded)
		report_profile_options(&rq->report, &po);
	for (int side = 0; side < COMPARISON_SIDES; side++)
		rq->sides.load[side].told = !rq->json && !rq->folded;
	status = sides_open(&s, &rq->sides, &po);
	if (status == 0) {
		err = compare(rq, &s);
		if (err < 0)
			screen_text_warn("%s", fmt_error_text(err));
		status = err != 0 ? EXIT_FAILED : sides_status(&s);
	}
	sides_close(&s);
	return status;
}

int
cmd_diff(int argc, char **argv)
{
	struct request rq = { .comparison = { .confidence = CONFIDENCE,
					      .samples_min = SAMPLES_MIN },
			      .percent_limit = PERCENT_LIMIT };
	int status = sides_init(&rq.sides, "diff"), first;

	if (status == 0) {
		status = cli_parse(&syntax, argc, argv, cmd_diff_set, &rq, &first);
		if (status == CLI_GO_ON && rq.folded && rq.of_rows)
			status = cli_usage_error("diff", "--folded and --%s: one of them",
						 rq.of_rows);
		if (status == CLI_GO_ON)
			status = sides_files(&rq.sides, argc - first, argv + first);
		if (status == CLI_GO_ON)
			status = diff(&rq);
	}
	sides_done(&rq.sides);
	return status;
}

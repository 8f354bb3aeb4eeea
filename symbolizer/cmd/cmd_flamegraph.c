/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spoor flamegraph: who called whom, as a picture in a browser. */
#include "symbolizer/cli/cli.h"
#include "symbolizer/cmd/cmd.h"
#include "symbolizer/view/flamegraph.h"

enum { OPT_INVERTED = 0x100, OPT_BASELINE, OPT_LABELS, OPT_SVG, OPT_TITLE };

static const struct cli_option options[] = {
	{ 'o', 'o', "output", "FILE",
	  "write there (flamegraph.html or flamegraph.svg); - is standard output" },
	{ OPT_INVERTED, 'G', "inverted", NULL,
	  "from the functions that were sampled to their callers" },
	{ OPT_BASELINE, 0, "baseline", "FILE",
	  "compare with that recording: colours tell what has grown and shrunk" },
	{ OPT_LABELS, 0, "labels", "LIST",
	  "what the page can split by, of comm, pid, tid, cpu, unit, cgroup and time" },
	{ OPT_SVG, 0, "svg", NULL, "a picture for documents, not a page" },
	{ OPT_TITLE, 0, "title", "TEXT", "what stands on top (the recording's name)" },
	LOAD_OPTIONS{ 0 },
};

static const struct cli_syntax syntax = {
	.command = "flamegraph",
	.synopsis = "[options] [FILE]",
	.about = "Writes a flame graph of a recording (default: recording.spoor) as a page for a "
		 "browser: one file that needs no network.",
	.options = options,
};

struct request {
	struct flamegraph graph;
	bool svg;
};

static int
cmd_flamegraph_set(void *arg, int value, const char *text)
{
	struct request *rq = arg;
	struct flamegraph *f = &rq->graph;

	switch (value) {
	case 'o':
		f->output = text;
		return CLI_GO_ON;
	case OPT_INVERTED:
		f->inverted = true;
		return CLI_GO_ON;
	case OPT_BASELINE:
		f->baseline = text;
		return CLI_GO_ON;
	case OPT_LABELS:
		f->labels = text;
		return CLI_GO_ON;
	case OPT_SVG:
		rq->svg = true;
		return CLI_GO_ON;
	case OPT_TITLE:
		f->title = text;
		return CLI_GO_ON;
	}
	return load_set(&f->load, value, text);
}

static int
cmd_flamegraph_run(struct request *rq)
{
	struct flamegraph *f = &rq->graph;

	if (rq->svg && (f->baseline || f->labels))
		return cli_usage_error("flamegraph", "--%s is not for --svg",
				       f->baseline ? "baseline" : "labels");
	if (!f->output)
		f->output = rq->svg ? "flamegraph.svg" : "flamegraph.html";
	return rq->svg ? flamegraph_svg(f) : flamegraph_page(f);
}

int
cmd_flamegraph(int argc, char **argv)
{
	struct request rq = { .svg = false };
	struct flamegraph *f = &rq.graph;
	int status = load_init(&f->load, "flamegraph");

	if (status != 0)
		return status;
	status = cli_parse_file(&syntax, argc, argv, cmd_flamegraph_set, &rq, &f->load.path);
	if (status == CLI_GO_ON)
		status = cmd_flamegraph_run(&rq);
	load_done(&f->load);
	return status;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spoor heatmap: when the CPUs were used: seconds in parts of 20 ms, or services over a long time. */
#include "symbolizer/cli/cli.h"
#include "symbolizer/cmd/cmd.h"
#include "symbolizer/series/series_answer.h"

/* That a page has room for: an hour of seconds, a day of minutes. */
#define PAGE_COLUMNS_OF_PARTS 3602
#define PAGE_COLUMNS 1442

enum { OPT_BY = 0x100 };

#define X(name, ...) " " #name
#define KEYS TIME_SERIES_KEYS(X)

static const struct cli_option options[] = {
	{ OPT_BY, 0, "by", "KEY", "a row for each of these:" KEYS },
	{ 'o', 'o', "output", "FILE", "a page for a browser; - is standard output" },
	SERIES_OPTIONS LOAD_OPTIONS{ 0 },
};

static const struct cli_syntax syntax = {
	.command = "heatmap",
	.synopsis = "[options] [FILE]",
	.about =
		"Shows when the CPUs were used, as a map of heat of a recording or an archive (default: "
		"recording.spoor): columns are seconds, or wider where there are many, from their "
		"bottom to their top in 50 parts; of more than an hour, and with --by, a row for each service, process...",
	.options = options,
};

static int
cmd_heatmap_set(void *arg, int value, const char *text)
{
	struct series_options *o = arg;

	switch (value) {
	case OPT_BY:
		o->parts = false;
		return series_set_key(o, text);
	case 'o':
		o->output = text;
		return CLI_GO_ON;
	}
	return series_set(o, value, text);
}

int
cmd_heatmap(int argc, char **argv)
{
	struct series_options o;
	int status = series_init(&o, "heatmap");

	if (status != 0)
		return status;
	o.parts = o.parts_if_short = true;
	o.columns = PAGE_COLUMNS;
	o.columns_of_parts = PAGE_COLUMNS_OF_PARTS;
	status = cli_parse_file(&syntax, argc, argv, cmd_heatmap_set, &o, &o.load.path);
	if (status == CLI_GO_ON && o.output && o.each)
		status = cli_usage_error(
			"heatmap",
			"--each is not for -o: the page itself lets one choose its scale");
	if (status == CLI_GO_ON)
		status = series_answer(&o, true);
	series_done(&o);
	return status;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spoor timeline: which service, process or function used the CPUs, and when. */
#include "symbolizer/cli/cli.h"
#include "symbolizer/cmd/cmd.h"
#include "symbolizer/series/series_answer.h"

/* That programs get, unless they ask for a width. */
#define JSON_COLUMNS 600

enum { OPT_BY = 0x100 };

#define X(name, ...) " " #name
#define KEYS TIME_SERIES_KEYS(X)

static const struct cli_option options[] = {
	{ OPT_BY, 0, "by", "KEY", "what a row is:" KEYS " (unit; comm, if there are none)" },
	SERIES_OPTIONS LOAD_OPTIONS{ 0 },
};

static const struct cli_syntax syntax = {
	.command = "timeline",
	.synopsis = "[options] [FILE]",
	.about =
		"Says which services, processes or functions used the CPUs of a recording or an archive "
		"(default: recording.spoor), and when: CPU seconds, share, peak, and a line over time, "
		"heaviest first.",
	.options = options,
};

static int
cmd_timeline_set(void *arg, int value, const char *text)
{
	struct series_options *o = arg;

	if (value == OPT_BY)
		return series_set_key(o, text);
	return series_set(o, value, text);
}

int
cmd_timeline(int argc, char **argv)
{
	struct series_options o;
	int status = series_init(&o, "timeline");

	if (status != 0)
		return status;
	o.columns = JSON_COLUMNS;
	status = cli_parse_file(&syntax, argc, argv, cmd_timeline_set, &o, &o.load.path);
	if (status == CLI_GO_ON)
		status = series_answer(&o, false);
	series_done(&o);
	return status;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spoor pack: a recording with what names it inside of it. */
#include <string.h>

#include "symbolizer/cmd/cmd.h"
#include "symbolizer/pack/pack.h"

enum { OPT_NAMES = 0x100 };

static const struct cli_option options[] = {
	{ 'o', 'o', "output", "FILE", "where the packed recording goes (default: in place)" },
	{ OPT_NAMES, 0, "names", NULL, "only what names functions: no lines, code or unwinding" },
	{ 'q', 'q', "quiet", NULL, "no summary at the end" },
	{ FILTER_OPTION_since, 0, "since", "TIME", "of an archive: only from then on" },
	{ FILTER_OPTION_until, 0, "until", "TIME", "of an archive: only before then" },
	{ FILTER_OPTION_last, 0, "last", "SPAN", "of an archive: only the last 10m, 1h30m..." },
	LOAD_ROW(input, 'i', "input", "FILE", "recording, perf.data or archive directory to pack")
		LOAD_ROW(symfs, 0, "symfs", "DIR", "look for the recorded files below DIR")
			LOAD_ROW(debuginfod, 0, "debuginfod", NULL, FETCHING_HELP){ 0 },
};

static const struct cli_syntax syntax = {
	.command = "pack",
	.synopsis = "[options] [FILE]",
	.about =
		"Puts into a recording (default: recording.spoor), or a perf.data, what its samples "
		"need of programs, libraries and debug files to be named, so that it can be read anywhere. "
		"The recordings of an archive directory become one file.",
	.options = options,
};

static int
cmd_pack_set(void *arg, int value, const char *text)
{
	struct pack_request *rq = arg;

	switch (value) {
	case 'o':
		rq->output = text;
		return CLI_GO_ON;
	case 'q':
		rq->quiet = true;
		return CLI_GO_ON;
	case OPT_NAMES:
		rq->names_only = true;
		return CLI_GO_ON;
	}
	return load_set(rq->load, value, text);
}

int
cmd_pack(int argc, char **argv)
{
	struct load_options load;
	struct pack_request rq = { .load = &load };
	int status = load_init(&load, "pack");

	if (status != 0)
		return status;
	status = cli_parse_file(&syntax, argc, argv, cmd_pack_set, &rq, &load.path);
	if (status == CLI_GO_ON && !load.path)
		load.path = "recording.spoor";
	if (status == CLI_GO_ON && strcmp(load.path, "-") == 0)
		status = cli_usage_error("pack",
					 "a recording is read twice, and standard input cannot be");
	if (status == CLI_GO_ON)
		status = pack(&rq);
	load_done(&load);
	return status;
}

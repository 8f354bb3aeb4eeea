/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spoor export: samples in the formats of other tools. */
#include <err.h>
#include <string.h>

#include "format/fmt_error.h"
#include "symbolizer/cmd/cli.h"
#include "symbolizer/cmd/load.h"
#include "symbolizer/cmd/output.h"
#include "symbolizer/folded.h"

enum { OPT_WEIGHT = 0x100, OPT_ANNOTATE_KERNEL };

static const struct cli_option options[] = {
	{ 'f', 'f', "format", "FORMAT", "folded: stacks for flame graphs (required)" },
	{ 'o', 'o', "output", "FILE", "write there, not to standard output" },
	{ OPT_WEIGHT, 0, "weight", "WHAT", "counts are samples (default) or period" },
	{ OPT_ANNOTATE_KERNEL, 0, "annotate-kernel", NULL, "mark kernel functions with _[k]" },
	LOAD_OPTIONS{ 0 },
};

static const struct cli_syntax syntax = {
	.command = "export",
	.synopsis = "-f FORMAT [options] [FILE]",
	.about = "Writes the samples of a recording (default: recording.spoor) for other tools.",
	.options = options,
};

struct request {
	struct load_options load;
	struct folded_options folded;
	const char *format, *output;
};

static int
set(void *arg, int value, const char *text)
{
	struct request *rq = arg;

	switch (value) {
	case 'f':
		rq->format = text;
		if (strcmp(text, "folded") == 0)
			return CLI_GO_ON;
		return cli_usage_error("export", "-f %s: no such format; there is folded", text);
	case 'o':
		rq->output = text;
		return CLI_GO_ON;
	case OPT_WEIGHT:
		rq->folded.by_period = strcmp(text, "period") == 0;
		if (rq->folded.by_period || strcmp(text, "samples") == 0)
			return CLI_GO_ON;
		return cli_usage_error("export", "--weight %s: samples or period", text);
	case OPT_ANNOTATE_KERNEL:
		rq->folded.annotate_kernel = true;
		return CLI_GO_ON;
	}
	return load_set(&rq->load, value, text);
}

/* Folded stacks cannot tell events apart: the first one with samples is it. */
static int
choose_event(const struct load *l)
{
	int first = -1;
	bool others = false;

	for (size_t i = 0; i < profile_stacks(l->profile); i++) {
		struct profile_stack s;

		profile_stack_at(l->profile, i, &s);
		others = others || (i > 0 && s.event != first);
		if (i == 0 || s.event < first)
			first = s.event;
	}
	if (others)
		warnx("only event '%s' is exported; --event chooses another",
		      load_event_name(l, first));
	return first;
}

static int export(struct request *rq)
{
	struct profile_options po = { 0 };
	struct output out;
	struct load l;
	int err, status;

	status = load_open(&l, &rq->load, &po);
	if (status == 0)
		status = output_open(&out, rq->output);
	if (status == 0) {
		rq->folded.event = choose_event(&l);
		err = folded_write(l.profile, &rq->folded, out.file);
		if (err < 0) {
			warnx("%s", fmt_error_text(err));
			status = EXIT_FAILED;
		}
		status = output_close(&out, status);
	}
	if (status == 0)
		status = l.status;
	load_close(&l);
	return status;
}

int
cmd_export(int argc, char **argv)
{
	struct request rq = { 0 };
	int first, status;

	status = load_init(&rq.load, "export");
	if (status != 0)
		return status;
	status = cli_parse(&syntax, argc, argv, set, &rq, &first);
	if (status == CLI_GO_ON)
		status = cli_one_file("export", argc, argv, first, &rq.load.path);
	if (status == CLI_GO_ON && !rq.format)
		status = cli_usage_error("export", "-f FORMAT is missing; there is folded");
	if (status == CLI_GO_ON)
		status = export(&rq);
	load_done(&rq.load);
	return status;
}

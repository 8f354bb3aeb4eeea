/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spoor export: samples in the formats of other tools. */
#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/cli/cli.h"
#include "symbolizer/cli/output.h"
#include "symbolizer/cmd/cmd.h"
#include "symbolizer/profile/folded.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/view/export_perfdata.h"
#include "symbolizer/view/load.h"

enum { OPT_WEIGHT = 0x100, OPT_ANNOTATE_KERNEL, OPT_WRITE_KALLSYMS };

/* in code, on the command line */
#define FORMATS(X)                                                                                 \
	X(FOLDED, "folded")                                                                        \
	X(PERF_DATA, "perf-data")                                                                  \
	X(PERF_DATA_FILE, "perf-data-file")

enum format {
	FORMAT_NONE,
#define X(id, name) FORMAT_##id,
	FORMATS(X)
#undef X
};

static const struct cli_option options[] = {
	{ 'f', 'f', "format", "FORMAT", "folded, perf-data or perf-data-file (required)" },
	{ 'o', 'o', "output", "FILE", "write there, not to standard output" },
	{ OPT_WEIGHT, 0, "weight", "WHAT", "counts are samples (default) or period" },
	{ OPT_ANNOTATE_KERNEL, 0, "annotate-kernel", NULL, "mark kernel functions with _[k]" },
	{ OPT_WRITE_KALLSYMS, 0, "write-kallsyms", "FILE",
	  "kernel symbols to a file of their own, for perf report --kallsyms" },
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
	const char *output, *kallsyms;
	enum format format;
	const char *folded_only; /* options given that the other formats cannot heed */
	bool filtered, windowed;
};

static int
set_format(struct request *rq, const char *text)
{
#define X(id, name)                                                                                \
	if (strcmp(text, name) == 0) {                                                             \
		rq->format = FORMAT_##id;                                                          \
		return CLI_GO_ON;                                                                  \
	}
	FORMATS(X)
#undef X
	return cli_usage_error("export",
			       "-f %s: no such format; there are folded, perf-data and "
			       "perf-data-file",
			       text);
}

/* Which of the shared options want names, or choose records otherwise than by themselves. */
static void
note_shared(struct request *rq, int value)
{
	switch (value) {
	case FILTER_OPTION_comm:
	case FILTER_OPTION_dso:
	case FILTER_OPTION_symbol:
	case FILTER_OPTION_symbol_filter:
	case LOAD_OPTION_symfs:
	case LOAD_OPTION_kallsyms:
	case LOAD_OPTION_vmlinux:
	case LOAD_OPTION_force:
	case LOAD_OPTION_no_demangle:
		rq->folded_only = load_option_name(value);
		return;
	case FILTER_OPTION_pid:
	case FILTER_OPTION_tid:
	case FILTER_OPTION_cpu:
	case FILTER_OPTION_cgroup:
	case FILTER_OPTION_event:
		rq->filtered = true;
		return;
	case FILTER_OPTION_time:
	case FILTER_OPTION_since:
	case FILTER_OPTION_until:
		rq->windowed = true;
		return;
	}
}

static int
cmd_export_set(void *arg, int value, const char *text)
{
	struct request *rq = arg;

	switch (value) {
	case 'f':
		return set_format(rq, text);
	case 'o':
		rq->output = text;
		return CLI_GO_ON;
	case OPT_WRITE_KALLSYMS:
		rq->kallsyms = text;
		return CLI_GO_ON;
	case OPT_WEIGHT:
		rq->folded_only = "weight";
		rq->folded.by_period = strcmp(text, "period") == 0;
		if (rq->folded.by_period || strcmp(text, "samples") == 0)
			return CLI_GO_ON;
		return cli_usage_error("export", "--weight %s: samples or period", text);
	case OPT_ANNOTATE_KERNEL:
		rq->folded_only = "annotate-kernel";
		rq->folded.annotate_kernel = true;
		return CLI_GO_ON;
	}
	note_shared(rq, value);
	return load_set(&rq->load, value, text);
}

static void
say_only(const char *event)
{
	char *name = escape_dup(event);

	if (name)
		screen_text_warn("only event '%s' is exported; --event chooses another", name);
	free(name);
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
		say_only(load_event_name(l, first));
	return first;
}

static int
export_folded(struct request *rq)
{
	struct profile_options po = { 0 };
	struct output out;
	struct load l;
	int err, status;

	status = load_open(&l, &rq->load, &po);
	if (status == 0)
		status = output_open(&out, rq->output, &l.set.access);
	if (status == 0) {
		rq->folded.event = choose_event(&l);
		err = folded_write(l.profile, &rq->folded, out.file);
		if (err < 0) {
			screen_text_warn("%s", fmt_error_text(err));
			status = EXIT_FAILED;
		}
		status = output_close(&out, status);
	}
	if (status == 0)
		status = l.status;
	load_close(&l);
	return status;
}

static int
check_options(const struct request *rq)
{
	if (rq->format == FORMAT_NONE)
		return cli_usage_error("export",
				       "-f FORMAT is missing; there are folded, "
				       "perf-data and perf-data-file");
	if (rq->format == FORMAT_FOLDED && rq->kallsyms)
		return cli_usage_error("export", "--write-kallsyms is for -f perf-data");
	if (rq->kallsyms && strcmp(rq->kallsyms, rq->output ? rq->output : "-") == 0)
		return cli_usage_error("export", "--write-kallsyms and -o are the same file");
	if (rq->format != FORMAT_FOLDED && rq->folded_only)
		return cli_usage_error("export",
				       "--%s is not for -f perf-data: its records have no names",
				       rq->folded_only);
	return CLI_GO_ON;
}

static int export(struct request *rq)
{
	struct export_perfdata perfdata = {
		.pipe = rq->format == FORMAT_PERF_DATA,
		.filtered = rq->filtered,
		.windowed = rq->windowed,
		.output = rq->output,
		.kallsyms = rq->kallsyms,
		.load = &rq->load,
	};

	return rq->format == FORMAT_FOLDED ? export_folded(rq) : export_perfdata(&perfdata);
}

int
cmd_export(int argc, char **argv)
{
	struct request rq = { 0 };
	int first, status;

	status = load_init(&rq.load, "export");
	if (status != 0)
		return status;
	status = cli_parse(&syntax, argc, argv, cmd_export_set, &rq, &first);
	if (status == CLI_GO_ON)
		status = cli_one_file("export", argc, argv, first, &rq.load.path);
	if (status == CLI_GO_ON)
		status = check_options(&rq);
	if (status == CLI_GO_ON)
		status = export(&rq);
	load_done(&rq.load);
	return status;
}

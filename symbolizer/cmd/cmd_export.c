/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spoor export: samples in the formats of other tools. */
#include <string.h>

#include "symbolizer/cli/cli.h"
#include "symbolizer/cmd/cmd.h"
#include "symbolizer/view/export.h"

enum { OPT_FIRST = 0x100, OPT_END = OPT_FIRST + EXPORT_OPTIONS_MAX };

#define X(id, name, ...) " " name
#define FORMS EXPORT_FORMS(X)

static const struct cli_option options[] = {
	{ 'f', 'f', "format", "FORMAT", "required; formats are" FORMS },
	{ 'o', 'o', "output", "FILE", "write there, not to standard output" },
#define OPTION(id, name, arg, help) { OPT_FIRST + EXPORT_##id, 0, name, arg, help },
	EXPORT_OPTIONS(OPTION) LOAD_OPTIONS{ 0 },
};

static const struct cli_syntax syntax = {
	.command = "export",
	.synopsis = "-f FORMAT [options] [FILE]",
	.about = "Writes the samples of a recording (default: recording.spoor) for other tools.",
	.options = options,
};

struct request {
	struct export_request form_gets;
	const struct export_form *form;
	const char *of_names; /* an option given that has no meaning without names */
};

static int
set_format(struct request *rq, const char *text)
{
#define FORM(id, ...) { __VA_ARGS__, export_##id },
	static const struct export_form forms[] = { EXPORT_FORMS(FORM) };

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (strcmp(text, forms[i].name) == 0) {
			rq->form = &forms[i];
			return CLI_GO_ON;
		}
	return cli_usage_error("export", "-f %s: no such format; formats are" FORMS, text);
}

static int
cmd_export_set(void *arg, int value, const char *text)
{
	struct request *rq = arg;

	if (value == 'f')
		return set_format(rq, text);
	if (value == 'o') {
		rq->form_gets.output = text;
		return CLI_GO_ON;
	}
	if (value >= OPT_FIRST && value < OPT_END) {
		rq->form_gets.given[value - OPT_FIRST] = text ? text : "";
		return CLI_GO_ON;
	}
	if (load_option_of_names(value))
		rq->of_names = load_option_name(value);
	return load_set(&rq->form_gets.load, value, text);
}

static int
check_options(const struct request *rq)
{
	if (!rq->form)
		return cli_usage_error("export", "-f FORMAT is missing; formats are" FORMS);
	if (!rq->form->names && rq->of_names)
		return cli_usage_error("export", "--%s is not for -f %s: its records have no names",
				       rq->of_names, rq->form->name);
	for (const struct cli_option *o = options; o->name; o++)
		if (o->value >= OPT_FIRST && o->value < OPT_END &&
		    rq->form_gets.given[o->value - OPT_FIRST] &&
		    !(rq->form->options & 1u << (o->value - OPT_FIRST)))
			return cli_usage_error("export", "--%s is not for -f %s", o->name,
					       rq->form->name);
	return CLI_GO_ON;
}

int
cmd_export(int argc, char **argv)
{
	struct request rq = { 0 };
	struct export_request *x = &rq.form_gets;
	int status;

	status = load_init(&x->load, "export");
	if (status != 0)
		return status;
	status = cli_parse_file(&syntax, argc, argv, cmd_export_set, &rq, &x->load.path);
	if (status == CLI_GO_ON)
		status = check_options(&rq);
	if (status == CLI_GO_ON) {
		x->output = x->output ? x->output : rq.form->output;
		status = rq.form->run(x);
	}
	load_done(&x->load);
	return status;
}

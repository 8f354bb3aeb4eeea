/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `spoor export -f folded`: options to lines of folded stacks (folded.h), of one event. */
#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/cli/output.h"
#include "symbolizer/profile/folded.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/view/export.h"

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
write_folded(const struct load *l, struct folded_options *o, const char *path)
{
	struct output out;
	int err, status = output_open(&out, path, &l->set.access);

	if (status != 0)
		return status;
	o->event = choose_event(l);
	err = folded_write(l->profile, o, out.file);
	if (err < 0) {
		screen_text_warn("%s", fmt_error_text(err));
		status = EXIT_FAILED;
	}
	return output_close(&out, status);
}

int
export_folded(const struct export_request *rq)
{
	const char *weight = rq->given[EXPORT_weight] ? rq->given[EXPORT_weight] : "samples";
	struct folded_options o = {
		.by_period = strcmp(weight, "period") == 0,
		.annotate_kernel = rq->given[EXPORT_annotate_kernel],
	};
	struct profile_options po = { .inlines = true };
	struct load l;
	int status;

	if (!o.by_period && strcmp(weight, "samples") != 0)
		return cli_usage_error("export", "--weight %s: samples or period", weight);
	status = load_open(&l, &rq->load, &po);
	if (status == 0)
		status = write_folded(&l, &o, rq->output);
	if (status == 0)
		status = l.status;
	load_close(&l);
	return status;
}

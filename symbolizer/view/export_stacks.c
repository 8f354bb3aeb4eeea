/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `spoor export`: options to a profile, and its stacks in a form of symbolizer/export. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/cli/output.h"
#include "symbolizer/export/callgrind.h"
#include "symbolizer/export/folded.h"
#include "symbolizer/export/pprof.h"
#include "symbolizer/export/speedscope.h"
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

/* For forms that cannot tell events apart: the first one with samples is it. */
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

/* --- what is told beside the stacks -------------------------------------------------------- */

#define COMMENTS_MAX (LOSS_CAUSES + 3)
#define COMMENT_BYTES 256

struct comments {
	char text[COMMENTS_MAX][COMMENT_BYTES];
	const char *lines[COMMENTS_MAX + 1];
	size_t nr;
};

static __attribute__((format(printf, 2, 3))) void
comment(struct comments *c, const char *format, ...)
{
	char *line = c->text[c->nr];
	va_list ap;

	va_start(ap, format);
	vsnprintf(line, COMMENT_BYTES, format, ap);
	va_end(ap);
	c->lines[c->nr++] = line;
}

static void
make_comments(struct comments *c, const struct load *l)
{
	const struct input_set *set = &l->set;
	char text[64];

	comment(c, "spoor: %s", set->path);
	if (set->hostname && *set->hostname)
		comment(c, "host: %s", set->hostname);
	comment(c, "lost samples: %" PRIu64, set->loss ? loss_samples(set->loss) : 0);
	for (int cause = 0; set->loss && cause < LOSS_CAUSES; cause++) {
		uint64_t n = loss_total(set->loss, (enum loss_cause)cause);

		input_loss_text((enum loss_cause)cause, n, text, sizeof(text));
		if (n > 0)
			comment(c, "loss: %s: %s", text, loss_text((enum loss_cause)cause));
	}
}

/* --- labels of samples ---------------------------------------------------------------------- */

/* What keeps samples apart, by its name in a list: 0, or an exit status after a message. */
static int
set_labels(struct profile_options *po, const char *list, const char *otherwise)
{
	const struct {
		const char *name;
		bool *by;
	} labels[] = { { "pid", &po->by_pid },
		       { "tid", &po->by_tid },
		       { "cpu", &po->by_cpu },
		       { "cgroup", &po->by_cgroup } };
	const char *word = list ? list : otherwise;

	while (*word) {
		const size_t n = strcspn(word, ",");
		size_t i = 0;

		while (i < 4 &&
		       (strlen(labels[i].name) != n || strncmp(word, labels[i].name, n) != 0))
			i++;
		if (i < 4)
			*labels[i].by = true;
		else if (n != 4 || strncmp(word, "comm", n) != 0)
			return cli_usage_error(
				"export",
				"--labels %s: they are comm, pid, tid, cpu and cgroup, "
				"with commas",
				list);
		word += n + (word[n] == ',');
	}
	return 0;
}

/* --- the forms ------------------------------------------------------------------------------ */

static int
write_stacks(const struct load *l, struct stack_export *x, stack_export_fn *write, const char *path)
{
	const struct profile_totals *t = profile_totals(l->profile);
	const struct clock_triple *start = &l->set.start;
	struct comments comments = { .nr = 0 };
	struct output out;
	int err, status = output_open(&out, path, &l->set.access);

	if (status != 0)
		return status;
	make_comments(&comments, l);
	x->profile = l->profile;
	x->options = &l->profile_options;
	x->comments = comments.lines;
	x->name = l->set.path;
	if (start->realtime != 0 && t->samples > 0)
		x->realtime_ns = t->start_ns + start->realtime - start->monotonic;
	x->duration_ns = t->end_ns - t->start_ns;
	err = write(x, out.file);
	if (err < 0) {
		screen_text_warn("%s", fmt_error_text(err));
		status = EXIT_FAILED;
	}
	return output_close(&out, status);
}

/* one_event: the form has no place for more. */
static int
export_stacks(const struct export_request *rq, const struct profile_options *po, bool one_event,
	      stack_export_fn *write)
{
	const char *weight = rq->given[EXPORT_weight] ? rq->given[EXPORT_weight] : "samples";
	struct stack_export x = {
		.by_period = strcmp(weight, "period") == 0,
		.annotate_kernel = rq->given[EXPORT_annotate_kernel],
	};
	struct load l;
	int status;

	if (!x.by_period && strcmp(weight, "samples") != 0)
		return cli_usage_error("export", "--weight %s: samples or period", weight);
	status = load_open(&l, &rq->load, po);
	if (status == 0 && one_event)
		x.event = choose_event(&l);
	if (status == 0)
		status = write_stacks(&l, &x, write, rq->output);
	if (status == 0)
		status = l.status;
	load_close(&l);
	return status;
}

int
export_folded(const struct export_request *rq)
{
	return export_stacks(rq, &(struct profile_options){ .inlines = true }, true, folded_write);
}

int
export_speedscope(const struct export_request *rq)
{
	struct profile_options po = { .inlines = true };
	const int status = set_labels(&po, rq->given[EXPORT_labels], "comm");

	return status != 0 ? status : export_stacks(rq, &po, true, speedscope_write);
}

int
export_callgrind(const struct export_request *rq)
{
	return export_stacks(rq, &(struct profile_options){ .by_line = true, .inlines = true },
			     true, callgrind_write);
}

int
export_pprof(const struct export_request *rq)
{
	struct profile_options po = { .by_address = true, .by_line = true, .inlines = true };
	const int status = set_labels(&po, rq->given[EXPORT_labels], "comm,pid,tid,cgroup");

	return status != 0 ? status : export_stacks(rq, &po, false, pprof_write);
}

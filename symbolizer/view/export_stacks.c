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
#include "symbolizer/export/firefox.h"
#include "symbolizer/export/folded.h"
#include "symbolizer/export/otlp.h"
#include "symbolizer/export/pprof.h"
#include "symbolizer/export/sample_log.h"
#include "symbolizer/export/speedscope.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/view/export.h"
#include "symbolizer/view/export_size.h"

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

#define COMMENTS_MAX (LOSS_CAUSES + 4)
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

/* What keeps samples apart: 0, or an exit status after a message. */
static int
set_labels(struct profile_options *po, const char *list, const char *otherwise)
{
	if (load_labels(list ? list : otherwise, "comm,pid,tid,cpu,cgroup", po))
		return 0;
	return cli_usage_error("export",
			       "--labels %s: they are comm, pid, tid, cpu and cgroup, with commas",
			       list);
}

/* --- the forms ------------------------------------------------------------------------------ */

/* An export, of which all or, by --max-size, a part is written. */
struct part {
	struct stack_export x;
	stack_export_fn *write;
	struct comments comments;
	size_t nr_comments; /* without what is left out */
	size_t nr;	    /* stacks that there are, or samples of a log */
	uint32_t *rank;	    /* of stacks: the heaviest is 0; NO_RANK: of another event */
	uint32_t *by_rank;
	uint64_t samples, left_out; /* samples of the chosen events */
};
#define NO_RANK UINT32_MAX

static uint64_t
weight_of(const struct part *p, size_t stack)
{
	struct profile_stack s;

	profile_stack_at(p->x.profile, stack, &s);
	return p->x.by_period ? s.weight.period : s.weight.samples;
}

static int
compare_weights(const void *va, const void *vb, void *arg)
{
	const uint32_t *a = va, *b = vb;
	const uint64_t wa = weight_of(arg, *a), wb = weight_of(arg, *b);

	if (wa != wb)
		return wa > wb ? -1 : 1;
	return (*a > *b) - (*a < *b);
}

static int
rank_stacks(struct part *p)
{
	const size_t n = profile_stacks(p->x.profile);
	struct profile_stack s;

	p->rank = malloc((n + 1) * sizeof(*p->rank));
	p->by_rank = malloc((n + 1) * sizeof(*p->by_rank));
	if (!p->rank || !p->by_rank)
		return -FMT_E_NOMEM;
	memset(p->rank, 0xff, (n + 1) * sizeof(*p->rank)); /* NO_RANK */
	p->nr = 0;
	for (size_t i = 0; i < n; i++)
		if (stack_export_stack(&p->x, i, &s))
			p->by_rank[p->nr++] = (uint32_t)i;
	qsort_r(p->by_rank, p->nr, sizeof(*p->by_rank), compare_weights, p);
	for (size_t i = 0; i < p->nr; i++)
		p->rank[p->by_rank[i]] = (uint32_t)i;
	p->x.rank = p->rank;
	return 0;
}

/* Of what is exported: all samples, and those from keep on. */
static void
count_left_out(struct part *p, size_t keep)
{
	struct profile_stack s;

	p->samples = p->left_out = p->x.left_out = 0;
	for (size_t i = 0; i < p->nr; i++) {
		const size_t stack = p->x.log ? p->x.log->stacks[i] : p->by_rank[i];

		profile_stack_at(p->x.profile, stack, &s);
		if (p->x.log)
			s.weight = (struct profile_weight){ .samples = s.event == p->x.event };
		p->samples += s.weight.samples;
		p->left_out += i < keep ? 0 : s.weight.samples;
		p->x.left_out += i < keep ? 0 : p->x.by_period ? s.weight.period : s.weight.samples;
	}
}

/* The first ones alone, and words about the others. */
static int
write_part(void *arg, size_t keep, FILE *out)
{
	struct part *p = arg;

	count_left_out(p, keep);
	p->x.keep = p->x.nr_logged = keep;
	p->comments.nr = p->nr_comments;
	if (p->left_out > 0)
		comment(&p->comments, "--max-size: left out %" PRIu64 " of %" PRIu64 " samples",
			p->left_out, p->samples);
	p->comments.lines[p->comments.nr] = NULL;
	return p->write(&p->x, out);
}

static int
write_within(struct part *p, uint64_t max_bytes, const char *input, FILE *out)
{
	size_t keep;
	int err = 0;

	if (!p->x.log)
		err = rank_stacks(p);
	if (err == 0)
		err = export_size_fit(max_bytes, p->nr, write_part, p, &keep);
	if (err == 0)
		err = write_part(p, keep, out);
	if (err == 0)
		export_size_say(input, p->left_out, p->samples,
				p->x.log ? "the last" : "the lightest stacks, with");
	return err;
}

static int
write_stacks(const struct load *l, struct part *p, uint64_t max_bytes, const char *path)
{
	const struct profile_totals *t = profile_totals(l->profile);
	const struct clock_triple *start = &l->set.start;
	struct stack_export *x = &p->x;
	struct output out;
	int err, status = output_open(&out, path, &l->set.access);

	if (status != 0)
		return status;
	make_comments(&p->comments, l);
	p->nr_comments = p->comments.nr;
	x->profile = l->profile;
	x->options = &l->profile_options;
	x->comments = p->comments.lines;
	x->name = l->set.path;
	x->start = start;
	x->hostname = l->set.hostname;
	x->gaps = &l->set.gaps;
	x->loss = l->set.loss;
	if (start->realtime != 0 && t->samples > 0)
		x->realtime_ns = t->start_ns + start->realtime - start->monotonic;
	x->duration_ns = t->end_ns - t->start_ns;
	if (x->log)
		p->nr = x->nr_logged = x->log->nr;
	err = max_bytes ? write_within(p, max_bytes, l->set.path, out.file) : p->write(x, out.file);
	if (err < 0) {
		screen_text_warn("%s",
				 err == -FMT_E_TOO_BIG
					 ? "--max-size is less than what is written of no sample"
					 : fmt_error_text(err));
		status = EXIT_FAILED;
	}
	free(p->rank);
	free(p->by_rank);
	return output_close(&out, status);
}

/* Is the weight time? 0, or an exit status after a message. */
static int
check_time_weight(const struct load *l, const struct part *p)
{
	const char *event;
	char *name;

	if (!p->x.log || !p->x.by_period || p->x.log->nr == 0)
		return 0;
	event = load_event_name(l, p->x.event);
	if (stack_export_is_time(event))
		return 0;
	name = escape_dup(event);
	screen_text_warn(
		"--weight period: this form weighs by time, which periods of '%s' are not; "
		"by samples, the default, it has them",
		name ? name : "");
	free(name);
	return EXIT_USAGE;
}

/*
 * one_event: the form has no place for more. log: where its samples go; NULL: it has none. time_alone: no weight but
 * time is one.
 */
static int
export_part(const struct export_request *rq, const struct profile_options *po, bool one_event,
	    stack_export_fn *write, struct sample_log *log, bool time_alone)
{
	const char *weight = rq->given[EXPORT_weight] ? rq->given[EXPORT_weight] : "samples";
	struct part p = { .write = write,
			  .x = { .by_period = strcmp(weight, "period") == 0,
				 .waits_by_period = !rq->given[EXPORT_weight],
				 .annotate_kernel = rq->given[EXPORT_annotate_kernel],
				 .event = STACK_EXPORT_EVERY,
				 .log = log } };
	struct load_options options = rq->load;
	uint64_t max_bytes;
	struct load l;
	int status;

	if (!p.x.by_period && strcmp(weight, "samples") != 0)
		return cli_usage_error("export", "--weight %s: samples or period", weight);
	status = export_size_parse(rq, &max_bytes);
	if (status != 0)
		return status;
	if (log) {
		log->by_period = p.x.by_period || p.x.waits_by_period;
		options.on_sample = sample_log_take;
		options.on_sample_arg = log;
	}
	status = load_open(&l, &options, po);
	if (status == 0 && one_event) {
		p.x.event = choose_event(&l);
		p.x.by_period |= p.x.waits_by_period &&
			stack_export_is_wait(load_event_name(&l, p.x.event));
	}
	if (status == 0 && time_alone)
		status = check_time_weight(&l, &p);
	if (status == 0)
		status = write_stacks(&l, &p, max_bytes, rq->output);
	if (status == 0)
		status = l.status;
	load_close(&l);
	return status;
}

static int
export_stacks(const struct export_request *rq, const struct profile_options *po, bool one_event,
	      stack_export_fn *write)
{
	return export_part(rq, po, one_event, write, NULL, false);
}

static int
export_logged(const struct export_request *rq, const struct profile_options *po, bool time_alone,
	      stack_export_fn *write)
{
	struct sample_log log = { .nr = 0 };
	const int status = export_part(rq, po, true, write, &log, time_alone);

	sample_log_done(&log);
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
	struct profile_options po = { .inlines = true, .each_sample = true };
	const int status = set_labels(&po, rq->given[EXPORT_labels], "comm");

	return status != 0 ? status : export_logged(rq, &po, false, speedscope_write);
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
	/* No label that is a text is there unless it is asked for: in pprof's graphs each is a box below each function. */
	const char *labels = rq->given[EXPORT_labels] ? rq->given[EXPORT_labels] : "pid,tid";
	struct profile_options po = { .by_address = true,
				      .by_line = true,
				      .inlines = true,
				      .any_comm = !load_labels_have(labels, "comm") };
	const int status = set_labels(&po, labels, labels);

	return status != 0 ? status : export_stacks(rq, &po, false, pprof_write);
}

int
export_otlp(const struct export_request *rq)
{
	struct profile_options po = { .by_address = true, .by_line = true, .inlines = true };
	const int status = set_labels(&po, rq->given[EXPORT_labels], "comm,pid,tid,cgroup");

	return status != 0 ? status : export_stacks(rq, &po, false, otlp_write);
}

int
export_firefox(const struct export_request *rq)
{
	const struct profile_options po = { .by_pid = true,
					    .by_tid = true,
					    .by_line = true,
					    .inlines = true,
					    .each_sample = true };

	return export_logged(rq, &po, true, firefox_write);
}

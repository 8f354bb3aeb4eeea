/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/view/info_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/cli/pager.h"
#include "symbolizer/text/json_value.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/view/answer.h"
#include "symbolizer/view/unknown_text.h"
#include "symbolizer/view/unnamed.h"

#define PROCESSES_SHOWN 20
#define WHY_INDENT "             "

/* A sentence; where a terminal has no room for it, further lines begin with indent. */
#define say(indent, ...) screen_text_print(stdout, cli_columns(), indent, __VA_ARGS__)

static double
percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* What helps against what files lack is said once: told has the reasons of which it was. */
static void
print_why(const struct load *l, const struct sampled_process *p, enum resolve_miss miss,
	  uint32_t *told)
{
	const char *help = *told & 1u << miss ? NULL : unknown_text_help(l, miss, true);

	say(WHY_INDENT "  ", WHY_INDENT "%.2f%% of its samples: %s%s%s",
	    percent(p->missing[miss], p->samples), resolve_miss_text(miss), help ? "; " : "",
	    help ? help : "");
	*told |= 1u << miss;
}

/* What its runtime has the names of, and what would help. */
static int
print_runtime(const struct sampled_process *p)
{
	struct buf text;
	int err;

	if (sampled_process_runtime(p) == 0)
		return 0;
	buf_init(&text);
	unnamed_part(&text, p);
	buf_text(&text, "; ");
	unnamed_help(&text, p);
	buf_u8(&text, 0);
	err = buf_failed(&text) ? -FMT_E_NOMEM : 0;
	if (err == 0)
		say(WHY_INDENT "  ", WHY_INDENT "%s", (const char *)text.p);
	buf_done(&text);
	return err;
}

/* Its reasons: what its runtime knows first, and then by samples. */
static int
print_process(const struct load *l, const struct sampled_process *p, uint64_t samples,
	      uint32_t *told)
{
	struct sampled_process rest = *p;
	struct buf who;
	int err;

	buf_init(&who);
	unnamed_who(&who, p);
	buf_u8(&who, 0);
	err = buf_failed(&who) ? -FMT_E_NOMEM : 0;
	if (err == 0)
		say(WHY_INDENT, "%8.2f%%  %s", percent(sampled_process_all(p), samples),
		    (const char *)who.p);
	buf_done(&who);
	if (err == 0)
		err = print_runtime(p);
	rest.missing[RESOLVE_NOT_FILE] = 0;
	while (err == 0 && sampled_process_missing(&rest) > 0) {
		enum resolve_miss most = RESOLVE_OK;

		for (enum resolve_miss m = RESOLVE_OK + 1; m < RESOLVE_MISSES; m++)
			if (rest.missing[m] > rest.missing[most])
				most = m;
		print_why(l, p, most, told);
		rest.missing[most] = 0;
	}
	return err;
}

static int
print_processes(const struct load *l, const struct sampled_process **list, size_t nr)
{
	const uint64_t samples = profile_totals(l->profile)->samples;
	uint64_t all = 0, callers = 0, rest = 0;
	uint32_t told = 0;
	int err = 0;

	for (size_t i = 0; i < nr; i++) {
		all += sampled_process_missing(list[i]);
		callers += sampled_process_interpreted(list[i]);
		rest += i < PROCESSES_SHOWN ? 0 : sampled_process_all(list[i]);
	}
	say("  ", "%" PRIu64 " of %" PRIu64 " samples (%.2f%%) have no name in their process", all,
	    samples, percent(all, samples));
	if (callers > 0)
		say("  ",
		    "%" PRIu64 " more (%.2f%%) are in an interpreter, and what it runs has none",
		    callers, percent(callers, samples));
	for (size_t i = 0; err == 0 && i < nr && i < PROCESSES_SHOWN; i++)
		err = print_process(l, list[i], samples, &told);
	if (err == 0 && nr > PROCESSES_SHOWN)
		printf("%8.2f%%  in %zu more processes\n", percent(rest, samples),
		       nr - PROCESSES_SHOWN);
	return err;
}

static void
print_left_out(const struct load *l)
{
	const uint64_t samples = profile_processes(l->profile)->left_out_samples;

	if (samples > 0)
		say("  ", "Of more than %d processes, %" PRIu64 " samples are not told of",
		    PROCESS_TABLE_MAX, samples);
}

static int
print_text(const struct load *l)
{
	const struct sampled_process **list;
	size_t nr;
	int err = process_table_sorted(profile_processes(l->profile), sampled_process_all, &list,
				       &nr);

	if (err)
		return err;
	pager_start();
	err = print_processes(l, list, nr);
	free(list);
	print_left_out(l);
	return err;
}

static int
print_json(const struct load *l)
{
	const struct profile_totals *t = profile_totals(l->profile);
	json_t *j = json_object();
	int err;

	err = json_object_set_new(j, "file", json_value_text(l->set.path));
	err |= json_object_set_new(j, "samples", json_value_number(t->samples));
	err |= json_object_set_new(j, "without_names", unnamed_json(l->profile));
	if (err == 0)
		err = json_value_dump(j, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	if (err == 0)
		putchar('\n');
	json_decref(j);
	return err ? -FMT_E_NOMEM : 0;
}

static int
print(void *arg, struct load *l)
{
	const bool *json = arg;

	return *json ? print_json(l) : print_text(l);
}

int
info_names(const char *path, bool json)
{
	const struct profile_options po = { .leaf_only = true, .processes = true };
	struct load_options o;
	int status = load_init(&o, "info");

	if (status != 0)
		return status;
	o.path = path;
	status = answer(&o, &po, print, &json);
	load_done(&o);
	return status;
}

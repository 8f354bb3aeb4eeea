/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/view/unknown_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/cli/cli.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/view/unnamed.h"

/* Objects that lack something: as many, of those with such a share of the samples. */
#define UNKNOWNS_SHOWN 5
#define UNKNOWN_PERCENT 1.0

#define SHARE_INDENT "#            "

/* A sentence; where a terminal has no room for it, further lines begin with indent. */
#define say(indent, ...) screen_text_print(stdout, cli_columns(), indent, __VA_ARGS__)

#define DEBUG_SYMBOLS                                                                              \
	"install its debug symbols (packages *-debuginfo, or *-dbgsym, which "                     \
	"find-dbgsym-packages FILE finds by the file's build-id)"

static const struct {
	const char *title, *text;
} kinds[UNKNOWN_KINDS_NR] = {
#define X(id, title, text) [UNKNOWN_##id] = { title, text },
	UNKNOWN_KINDS(X)
#undef X
};

const char *
unknown_text_help(const struct load *l, enum resolve_miss miss, bool has_build_id)
{
	const bool fetch = has_build_id && !l->fetch;

	switch (miss) {
	case RESOLVE_NO_FILE:
		return fetch ? "copy the file here, give --symfs a directory that has it, or try "
			       "--debuginfod"
			     : "copy the file here, or give --symfs a directory that has it";
	case RESOLVE_MISMATCH:
		return fetch ? "give --symfs a directory that has the recorded build, or try "
			       "--debuginfod"
			     : "give --symfs a directory that has the recorded build";
	case RESOLVE_UNSURE:
		return "--force takes it";
	case RESOLVE_NO_SYMBOL:
	case RESOLVE_NO_NAME:
	case RESOLVE_OK:
		return fetch ? DEBUG_SYMBOLS ", or try --debuginfod" : DEBUG_SYMBOLS;
	case RESOLVE_NO_KSYM:
		return resolver_kernel_trouble(l->resolver);
	default:
		return NULL;
	}
}

static double
percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

void
unknown_text_sum(enum unknown_kind kind, uint64_t missing, uint64_t samples, const char *end)
{
	say("#   ", "# %s: %" PRIu64 " of %" PRIu64 " samples (%.2f%%) %s%s", kinds[kind].title,
	    missing, samples, percent(missing, samples), kinds[kind].text, end);
}

static enum unknown_kind
kind_of(const struct report_unknown *u)
{
	return u->miss == RESOLVE_OK	     ? UNKNOWN_LINES
		: u->miss == RESOLVE_NO_NAME ? UNKNOWN_NAME
					     : UNKNOWN_SYMBOL;
}

static int
print_unknown(const struct load *l, const struct report_unknown *u, double share,
	      struct buf *scratch)
{
	const char *help = unknown_text_help(l, u->miss, u->build_id != NULL);
	const bool named = u->miss == RESOLVE_OK;

	buf_clear(scratch);
	escape(scratch, u->dso_path ? u->dso_path : "[unknown]");
	buf_u8(scratch, 0);
	if (buf_failed(scratch))
		return -FMT_E_NOMEM;
	say(SHARE_INDENT, "# %8.2f%%  %s: %s%s%s%s%s%s", share, (const char *)scratch->p,
	    named ? "no debug information" : resolve_miss_text(u->miss), help ? "; " : "",
	    help ? help : "", u->build_id ? " (build-id " : "", u->build_id ? u->build_id : "",
	    u->build_id ? ")" : "");
	return 0;
}

/* Of what lacks the same: the objects that matter, by their share. */
static int
print_objects(const struct load *l, const struct report *r, enum unknown_kind kind,
	      uint64_t samples)
{
	size_t shown = 0, others = 0;
	uint64_t rest = 0;
	struct buf scratch;
	int err = 0;

	buf_init(&scratch);
	for (size_t i = 0; i < report_unknowns(r) && err == 0; i++) {
		const struct report_unknown *u = report_unknown_at(r, i);
		const double share = percent(u->samples, samples);

		if (kind_of(u) != kind)
			continue;
		if (shown < UNKNOWNS_SHOWN && share >= UNKNOWN_PERCENT) {
			shown++;
			err = print_unknown(l, u, share, &scratch);
		} else {
			others++;
			rest += u->samples;
		}
	}
	if (others > 0 && err == 0)
		printf("# %8.2f%%  in %zu %sobject%s\n", percent(rest, samples), others,
		       shown ? "more " : "", others == 1 ? "" : "s");
	buf_done(&scratch);
	return err;
}

static void
print_process(void *arg, double share, const char *line, size_t more)
{
	bool *first = arg;

	if (*first)
		puts("#\n# Code of which runtimes have the names, by process:");
	if (line)
		say(SHARE_INDENT, "# %8.2f%%  %s", share, line);
	else
		printf("# %8.2f%%  in %zu %sprocess%s\n", share, more, *first ? "" : "more ",
		       more == 1 ? "" : "es");
	*first = false;
}

int
unknown_text_print(const struct load *l, const struct report *r)
{
	const uint64_t samples = profile_totals(l->profile)->samples;
	uint64_t missing[UNKNOWN_KINDS_NR] = { 0 };
	bool first = true;
	int err = 0;

	for (size_t i = 0; i < report_unknowns(r); i++) {
		const struct report_unknown *u = report_unknown_at(r, i);

		missing[kind_of(u)] += u->samples;
	}
	for (int kind = 0; kind < UNKNOWN_KINDS_NR && err == 0; kind++) {
		if (missing[kind] == 0)
			continue;
		puts("#");
		unknown_text_sum((enum unknown_kind)kind, missing[kind], samples, ":");
		err = print_objects(l, r, (enum unknown_kind)kind, samples);
	}
	return err ? err : unnamed_tell(l->profile, print_process, &first);
}

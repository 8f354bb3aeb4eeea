/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/record/record_filters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/cli/cli.h"

static int
add_text(struct record_filters *f, size_t i, const char *text)
{
	char *both;

	if (!f->text[i])
		both = strdup(text);
	else if (asprintf(&both, "(%s) && (%s)", f->text[i], text) < 0)
		both = NULL;
	if (!both)
		return cli_no_memory();
	free(f->text[i]);
	f->of[i].text = f->text[i] = both;
	return CLI_GO_ON;
}

int
record_filters_set(struct record_filters *f, size_t nr_events, int value, const char *text)
{
	const char *option = value == RECORD_FILTER ? "--filter" : "--exclude-perf";

	if (nr_events == 0 || nr_events > RECORD_FILTERS_MAX)
		return cli_usage_error("record",
				       "%s is for the tracepoint of the -e before it, and there is "
				       "none",
				       option);
	if (value == RECORD_FILTER)
		return add_text(f, nr_events - 1, text);
	f->of[nr_events - 1].exclude_self = true;
	return CLI_GO_ON;
}

void
record_filters_done(struct record_filters *f)
{
	for (size_t i = 0; i < RECORD_FILTERS_MAX; i++)
		free(f->text[i]);
	*f = (struct record_filters){ 0 };
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/view/report_header.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/cli/cli.h"
#include "symbolizer/cli/pager.h"
#include "symbolizer/input/coverage.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/screen_text.h"

static void
print_text(const char *key, const char *text)
{
	char *shown = escape_dup(text);

	if (*text)
		screen_text_print(stdout, cli_columns(), "#   ", "# %s : %s", key,
				  shown ? shown : "(out of memory)");
	free(shown);
}

static void
print_date(uint64_t realtime_ns)
{
	time_t seconds = (time_t)(realtime_ns / 1000000000);
	char text[64];
	struct tm tm;

	if (realtime_ns != 0 && localtime_r(&seconds, &tm) &&
	    strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &tm) > 0)
		print_text("captured on   ", text);
}

static void
print_event(const struct event *e)
{
	bool freq = event_attr_has(&e->attr, EVENT_ATTR_freq);
	char *name = escape_dup(e->name);

	screen_text_print(stdout, cli_columns(), "#   ",
			  "# event : name = %s, type = %u, config = %#" PRIx64 ", %s = %" PRIu64,
			  name ? name : "(out of memory)", e->attr.type, e->attr.config,
			  freq ? "sample_freq" : "sample_period", e->attr.sample_period);
	free(name);
}

void
report_header_print(void *unused, const struct input *in)
{
	const struct recording_meta *m = recording_reader_meta(in->reader);

	(void)unused;
	pager_start();
	puts("# ========");
	print_date(m->start.realtime);
	print_text("file", in->path);
	print_text("hostname", m->hostname);
	print_text("os release", m->release);
	print_text("written by", m->writer);
	print_text("arch", m->arch);
	printf("# nrcpus online : %" PRIu32 "\n# nrcpus avail : %" PRIu32 "\n", m->cpus_online,
	       m->cpus_possible);
	print_text("cmdline", m->cmdline);
	for (size_t i = 0; i < event_set_count(m->events); i++)
		print_event(event_set_at(m->events, i));
	puts("# ========\n#");
}

char *
report_header_text(const struct input_set *set)
{
	char *path = escape_dup(set->path), *host = escape_dup(set->hostname ? set->hostname : "");
	char covers[COVERAGE_BYTES] = "", *text = NULL;

	if (set->samples > 0)
		coverage_text(&set->start, set->first_ns, set->last_ns, covers);
	if (path && host &&
	    asprintf(&text, "Recording: %s%s%s%s%s", path, *host ? ", host " : "", host,
		     *covers ? ", " : "", covers) < 0)
		text = NULL;
	free(path);
	free(host);
	return text;
}

int
report_header_recording(const struct input_set *set)
{
	char *text = report_header_text(set);

	if (text)
		screen_text_print(stdout, cli_columns(), "#   ", "# %s", text);
	free(text);
	return text ? 0 : -FMT_E_NOMEM;
}

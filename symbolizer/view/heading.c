/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/block/unwind_text.h"
#include "symbolizer/view/heading.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/bytes/fmt_error.h"
#include "format/bytes/time_text.h"
#include "symbolizer/input/coverage.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/view/report_header.h"

#define GAPS_SHOWN 10

struct heading {
	const struct load *load;
	heading_line_fn *tell;
	void *arg;
	int error;
};

static __attribute__((format(printf, 3, 4))) void
say(struct heading *h, const char *indent, const char *format, ...)
{
	char *line;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&line, format, ap) < 0)
		line = NULL;
	va_end(ap);
	if (line)
		h->tell(h->arg, indent, line);
	else
		h->error = -FMT_E_NOMEM;
	free(line);
}

static void
tell_recording(struct heading *h)
{
	char *text = report_header_text(&h->load->set);

	if (text)
		h->tell(h->arg, "  ", text);
	else
		h->error = -FMT_E_NOMEM;
	free(text);
}

static void
tell_text(struct heading *h, const char *key, const char *text)
{
	char *shown = escape_dup(text ? text : "");

	if (!shown)
		h->error = -FMT_E_NOMEM;
	else if (*shown)
		say(h, "  ", "%s: %s", key, shown);
	free(shown);
}

/* By what it was made: of several recordings the first. */
static void
tell_origin(struct heading *h)
{
	const struct input_set *set = &h->load->set;
	const struct profile *p = h->load->profile;

	tell_text(h, "Command", set->cmdline);
	for (int event = profile_event_from(p, 0); event < profile_events(p);
	     event = profile_event_from(p, event + 1))
		tell_text(h, "Event", profile_event_name(p, event));
	if (set->frequency_hz > 0)
		say(h, "  ", "Frequency: %" PRIu64 " Hz", set->frequency_hz);
	tell_text(h, "Host", set->hostname);
	tell_text(h, "Kernel", set->release);
	tell_text(h, "Architecture", set->arch);
}

static void
tell_gaps(struct heading *h)
{
	const struct gap_list *gaps = &h->load->set.gaps;
	char text[160];

	for (size_t i = 0; i < gaps->nr && i < GAPS_SHOWN; i++) {
		input_gap_text(&gaps->gaps[i], h->load->set.start.monotonic, text, sizeof(text));
		say(h, "     ", "Gap: %s", text);
	}
	if (gaps->nr > GAPS_SHOWN || gaps->more)
		say(h, "     ", "Gap: and %" PRIu64 " more", gaps->nr - GAPS_SHOWN + gaps->more);
}

static void
tell_loss(struct heading *h)
{
	const struct loss *loss = h->load->set.loss;

	say(h, "  ", "Total Lost Samples: %" PRIu64, loss ? loss_samples(loss) : 0);
	for (int c = 0; loss && c < LOSS_CAUSES; c++) {
		uint64_t n = loss_total(loss, (enum loss_cause)c);
		char text[64];

		input_loss_text((enum loss_cause)c, n, text, sizeof(text));
		if (n > 0)
			say(h, "    ", "  %s: %s", text, loss_text((enum loss_cause)c));
	}
	tell_gaps(h);
	say(h, "", "%s", "");
}

static void
tell_nothing(struct heading *h, struct load *l)
{
	char text[512];

	coverage_nothing(&l->set, text, sizeof(text));
	say(h, "  ", "%c%s.", toupper((unsigned char)text[0]), text + 1);
}

/* Events that had to share the counters: what they count is a part. */
static void
tell_shared(struct heading *h, const struct profile *p)
{
	for (int event = 0; event < profile_events(p); event++) {
		const struct read_total t = profile_event_counted(p, event);
		char *name;

		if (!read_total_shared(&t))
			continue;
		name = escape_dup(profile_event_name(p, event));
		say(h, "  ",
		    "Event %s counted only %.0f%% of the time, and shared its counter with others "
		    "in the rest",
		    name ? name : "", read_total_percent(&t));
		free(name);
	}
}

static void
tell_totals(struct heading *h, struct load *l)
{
	const struct profile_totals *t = profile_totals(l->profile);
	char unwound[UNWIND_TEXT_MAX];

	if (t->samples > 0)
		say(h, "  ", "Samples: %" PRIu64 " over %.3f s", t->samples,
		    (double)(t->end_ns - t->start_ns) / SECOND_NS);
	if (t->filtered > 0)
		say(h, "  ", "Left out by filters: %" PRIu64 " samples", t->filtered);
	if (t->samples == 0)
		tell_nothing(h, l);
	tell_shared(h, l->profile);
	if (unwind_text(&t->unwound, unwound))
		say(h, "  ", "%s.", unwound);
	say(h, "", "%s", "");
}

int
heading_tell(struct load *l, heading_line_fn *tell, void *arg)
{
	struct heading h = { .load = l, .tell = tell, .arg = arg };

	tell_recording(&h);
	tell_loss(&h);
	tell_totals(&h, l);
	return h.error;
}

static void
print_line(void *unused, const char *indent, const char *line)
{
	char further[16];

	(void)unused;
	snprintf(further, sizeof(further), "# %s", indent);
	screen_text_print(stdout, cli_columns(), further, *line ? "# %s" : "#%s", line);
}

int
heading_print(struct load *l)
{
	return heading_tell(l, print_line, NULL);
}

static void
keep_line(void *arg, const char *indent, const char *line)
{
	struct buf *lines = arg;

	(void)indent;
	if (!*line)
		return;
	buf_text(lines, line);
	buf_u8(lines, 0);
}

int
heading_keep(struct load *l, struct buf *lines)
{
	struct heading h = { .load = l, .tell = keep_line, .arg = lines };

	tell_recording(&h);
	tell_origin(&h);
	tell_loss(&h);
	tell_totals(&h, l);
	return buf_failed(lines) ? -FMT_E_NOMEM : h.error;
}

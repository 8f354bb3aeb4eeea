/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/view/heading.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/bytes/fmt_error.h"
#include "format/bytes/time_text.h"
#include "symbolizer/input/coverage.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/view/report_header.h"
#include "symbolizer/view/unwound_text.h"

#define GAPS_SHOWN 10

/* A sentence; where a terminal has no room for it, further lines begin with indent. */
#define say(indent, ...) screen_text_print(stdout, cli_columns(), indent, __VA_ARGS__)

static void
print_gaps(const struct load *load)
{
	const struct gap_list *gaps = &load->set.gaps;
	char text[160];

	for (size_t i = 0; i < gaps->nr && i < GAPS_SHOWN; i++) {
		input_gap_text(&gaps->gaps[i], load->set.start.monotonic, text, sizeof(text));
		say("#      ", "# Gap: %s", text);
	}
	if (gaps->nr > GAPS_SHOWN || gaps->more)
		printf("# Gap: and %" PRIu64 " more\n", gaps->nr - GAPS_SHOWN + gaps->more);
}

static void
print_loss(struct load *l)
{
	const struct loss *loss = l->set.loss;

	printf("# Total Lost Samples: %" PRIu64 "\n", loss ? loss_samples(loss) : 0);
	for (int c = 0; loss && c < LOSS_CAUSES; c++) {
		uint64_t n = loss_total(loss, (enum loss_cause)c);
		char text[64];

		input_loss_text((enum loss_cause)c, n, text, sizeof(text));
		if (n > 0)
			say("#     ", "#   %s: %s", text, loss_text((enum loss_cause)c));
	}
	print_gaps(l);
	puts("#");
}

static void
print_nothing(struct load *l)
{
	char text[512];

	coverage_nothing(&l->set, text, sizeof(text));
	say("#   ", "# %c%s.", toupper((unsigned char)text[0]), text + 1);
}

static void
print_totals(struct load *l)
{
	const struct profile_totals *t = profile_totals(l->profile);
	char unwound[UNWOUND_TEXT_MAX];

	if (t->samples > 0)
		printf("# Samples: %" PRIu64 " over %.3f s\n", t->samples,
		       (double)(t->end_ns - t->start_ns) / SECOND_NS);
	if (t->filtered > 0)
		printf("# Left out by filters: %" PRIu64 " samples\n", t->filtered);
	if (t->samples == 0)
		print_nothing(l);
	if (unwound_text(&t->unwound, unwound))
		say("#   ", "# %s.", unwound);
	puts("#");
}

int
heading_print(struct load *l)
{
	int err = report_header_recording(&l->set);

	print_loss(l);
	print_totals(l);
	return err;
}

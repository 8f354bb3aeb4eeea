/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks with two counts, for difffolded.pl's readers: the folded stacks of both sides, which are in the same
 * order, merged.
 */
#include "symbolizer/view/diff_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/export/folded.h"
#include "symbolizer/export/stack_export.h"
#include "symbolizer/text/screen_text.h"

/* The folded stacks of a side, line by line. */
struct lines {
	char *text;
	size_t len;
	double scale;
	char *stack, *next; /* NULL: the last one is behind us */
	double count;
};

static void
next_line(struct lines *l)
{
	char *end = l->next ? strchr(l->next, '\n') : NULL, *count;

	l->stack = NULL;
	if (!end)
		return;
	l->stack = l->next;
	l->next = end + 1;
	*end = '\0';
	count = strrchr(l->stack, ' ');
	*count = '\0';
	l->count = (double)strtoull(count + 1, NULL, 10) * l->scale;
}

/*
 * As folded_write() orders them: frame by frame, and a stack before those that go on from it. ';' is in no
 * name, and so it is as if it were the least of all bytes.
 */
static int
compare_stacks(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	if (*a == *b)
		return 0;
	if (!*a || !*b)
		return *a ? 1 : -1;
	if (*a == ';' || *b == ';')
		return *a == ';' ? -1 : 1;
	return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
}

/* What rounds to nothing on both sides was sampled still. */
static void
print_line(const char *stack, double before, double after)
{
	printf("%s %.0f %.0f\n", stack, before > 0 ? fmax(1, round(before)) : 0,
	       after > 0 ? fmax(1, round(after)) : 0);
}

static void
merge(struct lines *a, struct lines *b)
{
	next_line(a);
	next_line(b);
	while (a->stack || b->stack) {
		const int c = !a->stack ? 1 : !b->stack ? -1 : compare_stacks(a->stack, b->stack);

		print_line(c <= 0 ? a->stack : b->stack, c <= 0 ? a->count : 0,
			   c >= 0 ? b->count : 0);
		if (c <= 0)
			next_line(a);
		if (c >= 0)
			next_line(b);
	}
}

/* The event of a side that has samples; -2: there are several, or none. */
static int
only_event(const struct profile *p)
{
	int found = -2, n = 0;

	for (size_t i = 0; i < profile_stacks(p); i++) {
		struct profile_stack s;

		profile_stack_at(p, i, &s);
		n += n == 0 || s.event != found;
		found = s.event;
	}
	return n == 1 ? found : -2;
}

static int
fold(const struct load *l, int event, struct lines *ret)
{
	const bool by_period = profile_event_whole(l->profile, event).period > 0;
	const struct stack_export x = { .profile = l->profile,
					.options = &l->profile_options,
					.event = event,
					.by_period = by_period };
	FILE *out = open_memstream(&ret->text, &ret->len);
	int err = out ? folded_write(&x, out) : -FMT_E_NOMEM;

	if (out && (ferror(out) | fclose(out)) && err == 0)
		err = -FMT_E_NOMEM;
	ret->next = ret->text;
	return err;
}

int
diff_print_folded(const struct sides *s, const struct sides_options *o)
{
	struct lines lines[COMPARISON_SIDES] = { 0 };
	int events[COMPARISON_SIDES], err = 0;

	for (int side = 0; side < COMPARISON_SIDES; side++) {
		events[side] = only_event(s->load[side].profile);
		if (events[side] != -2)
			continue;
		/* That nothing is left was told, with what there is. */
		if (profile_stacks(s->load[side].profile) == 0)
			return 0;
		screen_text_warn("%s: samples of several events; --event chooses",
				 s->load[side].set.path);
		return 1;
	}
	for (int side = 0; side < COMPARISON_SIDES && err == 0; side++) {
		lines[side].scale = sides_scale(s, o, (enum comparison_side)side, events);
		err = fold(&s->load[side], events[side], &lines[side]);
	}
	if (err == 0)
		merge(&lines[COMPARISON_BASELINE], &lines[COMPARISON_NEW]);
	free(lines[COMPARISON_BASELINE].text);
	free(lines[COMPARISON_NEW].text);
	return err;
}

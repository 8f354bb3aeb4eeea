/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions as text: above each its callers, below it what it called. Lines of a function alone have three
 * numbers, so that they are found.
 */
#include "symbolizer/view/peek_print.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/bytes/array.h"
#include "format/bytes/buf.h"
#include "format/bytes/fmt_error.h"
#include "symbolizer/profile/report.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/view/branch_line.h"

#define NUMBERS 42 /* columns before a name */
#define CALL_INDENT 2
#define TITLE "#  Self    Total     Samples  of Total  Callers, function, what it called"
#define HOTTEST 5

size_t
peek_print_functions(const struct peek_print *p, const struct peek *k)
{
	const size_t n = peek_functions(k);

	return p->functions_max > 0 && n > p->functions_max ? p->functions_max : n;
}

size_t
peek_print_calls(const struct peek_print *p, const struct peek *k, const struct peek_function *f,
		 size_t first, size_t n)
{
	size_t shown = 0;

	while (shown < n &&
	       report_share(&peek_call(k, first + shown)->weight, &f->total) >= p->percent_limit)
		shown++;
	return shown;
}

static int
put_name(const struct peek_print *p, uint32_t frame, bool call)
{
	const struct frame *f = profile_frame(p->load->profile, frame);
	struct buf name;
	int err;

	buf_init(&name);
	branch_line_name(f, &name);
	if (!call && !buf_failed(&name) && f->symbol && f->dso) {
		name.len--;
		buf_text(&name, " (");
		escape(&name, f->dso);
		buf_text(&name, ")");
		buf_u8(&name, 0);
	}
	err = buf_failed(&name)
		? -FMT_E_NOMEM
		: branch_line_print(
			  "", (const char *)name.p,
			  p->terminal > 0 ? p->terminal - NUMBERS - (call ? CALL_INDENT : 0) : 0);
	buf_done(&name);
	return err;
}

static int
put_calls(const struct peek_print *p, const struct peek *k, const struct peek_function *f,
	  size_t first, size_t n)
{
	const size_t shown = peek_print_calls(p, k, f, first, n);
	int err = 0;

	for (size_t i = first; i < first + shown && err == 0; i++) {
		const struct peek_call *c = peek_call(k, i);

		printf("%*s%10" PRIu64 "  %7.2f%%  %*s", NUMBERS - 22, "", c->weight.samples,
		       report_share(&c->weight, &f->total), CALL_INDENT, "");
		err = put_name(p, c->frame, true);
	}
	if (shown < n)
		printf("%*s(%zu more)\n", NUMBERS + CALL_INDENT, "", n - shown);
	return err;
}

static int
put_function(const struct peek_print *p, const struct peek *k, const struct peek_function *f,
	     const struct profile_weight *whole)
{
	int err = put_calls(p, k, f, f->first_caller, f->nr_callers);

	if (err < 0)
		return err;
	printf("%7.2f%%  %7.2f%%  %10" PRIu64 "            %s", report_share(&f->self, whole),
	       report_share(&f->total, whole), f->total.samples, p->color ? "\033[1m" : "");
	err = put_name(p, f->frame, false);
	if (p->color)
		fputs("\033[0m", stdout);
	if (err == 0)
		err = put_calls(p, k, f, f->first_callee, f->nr_callees);
	return err;
}

/* A function that was sampled. */
struct hot {
	uint32_t frame;
	struct profile_weight weight;
};

static int
compare_frames(const void *va, const void *vb)
{
	const struct hot *a = va, *b = vb;

	return (a->frame > b->frame) - (a->frame < b->frame);
}

static int
compare_hottest(const void *va, const void *vb)
{
	const struct hot *a = va, *b = vb;

	if (a->weight.period != b->weight.period)
		return a->weight.period < b->weight.period ? 1 : -1;
	if (a->weight.samples != b->weight.samples)
		return a->weight.samples < b->weight.samples ? 1 : -1;
	return compare_frames(a, b);
}

/* The functions that an event's samples are in, the hottest first. 0, -FMT_E_NOMEM; *ret is to be freed. */
static int
find_hottest(const struct profile *p, int event, struct hot **ret, size_t *ret_n)
{
	size_t n = 0, cap = 0, nr = 0;

	*ret = NULL;
	for (uint32_t i = profile_first_stack(p, event); i != PROFILE_NO_STACK;
	     i = profile_next_stack(p, i)) {
		struct profile_stack s;

		if (array_reserve(*ret, n, cap, 1) < 0)
			return -FMT_E_NOMEM;
		profile_stack_at(p, i, &s);
		(*ret)[n++] = (struct hot){ s.frames[0], s.weight };
	}
	if (n > 0)
		qsort(*ret, n, sizeof(**ret), compare_frames);
	for (size_t i = 0; i < n; i++) {
		if (nr > 0 && (*ret)[nr - 1].frame == (*ret)[i].frame)
			profile_weigh(&(*ret)[nr - 1].weight, &(*ret)[i].weight);
		else
			(*ret)[nr++] = (*ret)[i];
	}
	if (nr > 0)
		qsort(*ret, nr, sizeof(**ret), compare_hottest);
	*ret_n = nr;
	return 0;
}

/* Nothing is found: what there is. */
static int
put_hottest(const struct peek_print *p, int event)
{
	const struct profile *profile = p->load->profile;
	struct hot *hot = NULL;
	size_t shown = 0, n = 0;
	struct buf list;
	int err = find_hottest(profile, event, &hot, &n);

	buf_init(&list);
	for (size_t i = 0; err == 0 && i < n && shown < HOTTEST; i++) {
		const char *symbol = profile_frame(profile, hot[i].frame)->symbol;

		if (!symbol)
			continue;
		buf_text(&list, shown++ ? ", " : "; the hottest are: ");
		escape(&list, symbol);
	}
	buf_u8(&list, 0);
	if (err == 0 && !buf_failed(&list)) {
		char *regex = escape_dup(p->regex);

		screen_text_print(stdout, p->terminal, "#   ",
				  "# No function has '%s' in its name%s", regex ? regex : "",
				  (const char *)list.p);
		free(regex);
	}
	free(hot);
	err = buf_failed(&list) ? -FMT_E_NOMEM : err;
	buf_done(&list);
	return err;
}

int
peek_print_text(const struct peek_print *p, const struct peek *k, int event)
{
	const struct profile_weight whole = profile_event_whole(p->load->profile, event);
	const struct profile_weight part = peek_whole(k);
	const size_t shown = peek_print_functions(p, k);
	char *name = escape_dup(load_event_name(p->load, event));
	int err = name ? 0 : -FMT_E_NOMEM;

	if (err == 0)
		screen_text_print(stdout, p->terminal, "#   ",
				  "# Samples: %" PRIu64 " of event '%s'", part.samples, name);
	free(name);
	if (err == 0 && whole.samples != part.samples)
		screen_text_print(stdout, p->terminal, "#   ",
				  "# Of the whole: %.2f%% (%" PRIu64 " of %" PRIu64
				  " samples); shares of functions are of %s",
				  report_share(&part, &whole), part.samples, whole.samples,
				  p->absolute ? "the whole" : "these samples");
	if (err == 0 && shown == 0)
		return put_hottest(p, event);
	if (err == 0)
		printf("#\n%.*s\n", p->terminal > 0 ? p->terminal : INT_MAX, TITLE);
	for (size_t i = 0; i < shown && err == 0; i++) {
		puts("#");
		err = put_function(p, k, peek_function(k, i), p->absolute ? &whole : &part);
	}
	if (err == 0 && shown < peek_functions(k))
		printf("#\n# %zu more functions are left out\n", peek_functions(k) - shown);
	return err;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks of one-letter functions, against what pprof's own documentation and tests say. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <bsd/string.h>
#include <string.h>

#include "symbolizer/profile/frame_choice.h"

#define PLACES 8

/* Interned, so to say: one string a name. */
static const char *const letters[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
static const char object[] = "/opt/prog", library[] = "/usr/lib/libx.so", file[] = "src/x.c";

static struct frame
frame_of(char c)
{
	return (struct frame){ .symbol = letters[c - 'a'],
			       .dso_path = c == 'h' ? library : object,
			       .dso = "prog",
			       .file = c == 'g' ? file : NULL };
}

/*
 * What is left of a stack, leaf first: a letter a frame, ' ' between places; "-": nothing. pairs of
 * kind and expression, ended by -1.
 */
static void
expect(const char *stack, const char *wanted, ...)
{
	struct frame_filter filter = { 0 };
	struct frame_choice *c = frame_choice_new(&filter);
	uint32_t numbers[PLACES], n = 0;
	char left[64] = "";
	const char *why, *at = stack;
	struct {
		char frames[8];
		size_t nr;
	} places[PLACES];
	va_list ap;
	size_t kept, len = 0;
	int kind;

	va_start(ap, wanted);
	while ((kind = va_arg(ap, int)) >= 0)
		assert_int_equal(frame_filter_add(&filter, (enum frame_filter_kind)kind,
						  va_arg(ap, const char *), &why),
				 0);
	va_end(ap);
	assert_non_null(c);
	assert_int_equal(frame_choice_begin(c, PLACES), 0);
	while (*at) {
		struct frame frames[8];
		size_t nr = strcspn(at, " ");

		for (size_t i = 0; i < nr; i++)
			frames[i] = frame_of(at[i]);
		memcpy(places[n].frames, at, nr);
		places[n].nr = nr;
		assert_int_equal(frame_choice_place(c, n, frames, nr), 0);
		numbers[n] = n;
		n++;
		at += nr + (at[nr] == ' ');
	}
	kept = frame_choice_stack(c, numbers, n);
	for (size_t i = 0; i < kept; i++) {
		size_t nr;
		const uint32_t *shown = frame_choice_shown(c, numbers[i], &nr);

		for (size_t k = 0; k < nr; k++)
			left[len++] = places[i].frames[shown[k]];
		if (nr > 0)
			left[len++] = ' ';
	}
	if (kept == 0)
		(void)strlcpy(left, "-", sizeof(left));
	else
		left[len - 1] = '\0';
	if (strcmp(left, wanted) != 0)
		fail_msg("%s: '%s', and not '%s'", stack, left, wanted);
	frame_choice_free(c);
	frame_filter_done(&filter);
}

static void
focus(void **state)
{
	(void)state;
	expect("a b c", "a b c", FRAME_FOCUS, "b", -1);
	expect("a b c", "-", FRAME_FOCUS, "d", -1);
	expect("a b c", "a b c", FRAME_FOCUS, "d", FRAME_FOCUS, "^a$", -1);
	expect("a b c", "-", FRAME_IGNORE, "c", -1);
	expect("a b c", "a b c", FRAME_IGNORE, "d", -1);
	expect("a b c", "-", FRAME_FOCUS, "a", FRAME_IGNORE, "c", -1);
	/* Inlined, by its object, by its file. */
	expect("ab c", "ab c", FRAME_FOCUS, "b", -1);
	expect("a h", "a h", FRAME_FOCUS, "libx", -1);
	expect("a b", "-", FRAME_FOCUS, "libx", -1);
	expect("a g", "a g", FRAME_FOCUS, "x\\.c$", -1);
	expect("a b", "-", FRAME_IGNORE, "prog", -1);
}

static void
hide_and_show(void **state)
{
	(void)state;
	expect("a b c", "a c", FRAME_HIDE, "b", -1);
	expect("a b c", "b c", FRAME_HIDE, "a", -1);
	expect("ab c", "a c", FRAME_HIDE, "b", -1);
	expect("ab c", "-", FRAME_HIDE, "prog", -1);
	expect("ab h c", "ab c", FRAME_HIDE, "libx", -1);
	expect("a b c", "a c", FRAME_SHOW, "a|c", -1);
	expect("ab c", "b", FRAME_SHOW, "b", -1);
	expect("ab c", "-", FRAME_SHOW, "d", -1);
	expect("ab h c", "h", FRAME_SHOW, "libx", -1);
	expect("ab c d", "a d", FRAME_SHOW, "a|b|d", FRAME_HIDE, "b", -1);
	/* What is hidden still counts. */
	expect("a b c", "a c", FRAME_FOCUS, "b", FRAME_HIDE, "b", -1);
}

/* From pprof's own: with A at the root, [A B C B] is "b c b a" here. */
static void
show_from(void **state)
{
	(void)state;
	expect("b c b a", "b c b a", FRAME_SHOW_FROM, "a", -1);
	expect("b c b a", "b c b", FRAME_SHOW_FROM, "b", -1);
	expect("b c b a", "b c", FRAME_SHOW_FROM, "c", -1);
	expect("b c b a", "-", FRAME_SHOW_FROM, "d", -1);
	/* Of what was inlined, what is outside of the last match goes. */
	expect("abc d", "ab", FRAME_SHOW_FROM, "b", -1);
	expect("abc d", "ab d", FRAME_SHOW_FROM, "b|d", -1);
	/* All that is inlined at an address of a matching object stays. */
	expect("ab c h", "ab c h", FRAME_SHOW_FROM, "libx", -1);
	/* Not from what is hidden. */
	expect("a b c", "-", FRAME_SHOW_FROM, "b", FRAME_HIDE, "b", -1);
}

static void
refused(void **state)
{
	struct frame_filter filter = { 0 };
	const char *why = NULL;

	(void)state;
	assert_int_equal(frame_filter_add(&filter, FRAME_FOCUS, "a(", &why), -1);
	assert_true(*why);
	assert_int_equal(filter.n, 0);
	frame_filter_done(&filter);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(focus),
		cmocka_unit_test(hide_and_show),
		cmocka_unit_test(show_from),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

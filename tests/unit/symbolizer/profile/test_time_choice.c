/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "symbolizer/profile/time_choice.h"

#define S INT64_C(1000000000)
#define NOW (INT64_C(1795230720) * S) /* 2026-11-21 03:12:00 UTC */

static const struct clock_triple no_clock;

typedef int take_fn(struct time_choice *t, const char *arg, const char **reterr);

static void
make(struct time_choice *t, take_fn *take, const char *arg)
{
	const char *why = NULL;

	time_choice_init(t, NOW);
	if (take(t, arg, &why) < 0)
		fail_msg("%s: %s", arg, why);
}

static void
refused(take_fn *take, const char *arg)
{
	struct time_choice t;
	const char *why = NULL;

	time_choice_init(&t, NOW);
	if (take(&t, arg, &why) == 0)
		fail_msg("'%s' was taken", arg);
	assert_non_null(why);
	time_choice_done(&t);
}

static void
none(void **state)
{
	struct time_choice t;
	const struct stream_slice *within;
	uint64_t from, until;

	(void)state;
	time_choice_init(&t, NOW);
	assert_false(time_choice_needs_range(&t));
	assert_true(time_choice_possible(&t));
	assert_int_equal(time_choice_window(&t, &no_clock, &from, &until), 0);
	assert_true(from == 0 && until == UINT64_MAX);
	time_choice_wall(&t, &from, &until);
	assert_true(from == 0 && until == UINT64_MAX);
	assert_int_equal(time_choice_within(&t, &no_clock, &within), 0);
	time_choice_done(&t);
}

static void
window(const char *arg, uint64_t want_from, uint64_t want_until)
{
	struct time_choice t;
	const struct stream_slice *within;
	uint64_t from, until;

	make(&t, time_choice_slices, arg);
	time_choice_range(&t, false, 1000, 2000);
	assert_false(time_choice_needs_range(&t));
	assert_int_equal(time_choice_window(&t, &no_clock, &from, &until), 0);
	assert_int_equal(from, want_from);
	assert_int_equal(until, want_until);
	assert_int_equal(time_choice_within(&t, &no_clock, &within), 0);
	time_choice_done(&t);
}

/* The end belongs to it, as in perf. */
static void
slices(void **state)
{
	struct time_choice t;

	(void)state;
	make(&t, time_choice_slices, "10%-20%");
	assert_true(time_choice_needs_range(&t));
	time_choice_done(&t);
	make(&t, time_choice_slices, "1.5,2");
	assert_false(time_choice_needs_range(&t));
	time_choice_done(&t);
	window("1.5,2", 1500000000, 2000000001);
	window("12345678.000000001,", UINT64_C(12345678000000001), UINT64_MAX);
	window("1.5", 1500000000, UINT64_MAX);
	window(",0.000000001", 0, 2);
	window("10%-20%", 1100, 1201);
	window("10%/1", 1000, 1101);
	window("10%/2", 1100, 1201);
	window("25%/4", 1750, 2001);
	window("10%", 0, 1101);
	window("0%-100%", 1000, 2001);
	window("50%-", 1500, UINT64_MAX);
	window("1%,2%", 1010, 1021);
	refused(time_choice_slices, "");
	refused(time_choice_slices, " ");
	refused(time_choice_slices, ",");
	refused(time_choice_slices, "1-2");
	refused(time_choice_slices, "2,1");
	refused(time_choice_slices, "1,2,3");
	refused(time_choice_slices, "1,2 x");
	refused(time_choice_slices, "20%-10%");
	refused(time_choice_slices, "1%-101%");
	refused(time_choice_slices, "nan%-");
	refused(time_choice_slices, "%-%");
	refused(time_choice_slices, "%-50%");
	refused(time_choice_slices, "0x1%-50%");
	refused(time_choice_slices, "+1%-50%");
	refused(time_choice_slices, "x,1");
	refused(time_choice_slices, ".5,1");
	refused(time_choice_slices, "99999999999999999999,");
	refused(time_choice_slices, "1e3,");
	refused(time_choice_slices, "10%/0");
	refused(time_choice_slices, "10%/11");
	refused(time_choice_slices, "10%/-1");
	refused(time_choice_slices, "10%/");
	refused(time_choice_slices, "0%/1");
	refused(time_choice_slices, "10%-20%,");
}

/* Several: the window is from the first to the last, and has holes. */
static void
holes(void **state)
{
	struct time_choice t;
	const struct stream_slice *within;
	const char *why;
	uint64_t from, until;

	(void)state;
	make(&t, time_choice_slices, "0%-10%,30%-40%");
	time_choice_range(&t, false, 1000, 2000);
	assert_int_equal(time_choice_window(&t, &no_clock, &from, &until), 0);
	assert_true(from == 1000 && until == 1401);
	assert_int_equal(time_choice_within(&t, &no_clock, &within), 2);
	assert_true(within[0].from_ns == 1000 && within[0].until_ns == 1101);
	assert_true(within[1].from_ns == 1300 && within[1].until_ns == 1401);
	time_choice_done(&t);
	make(&t, time_choice_slices, "10%/2,10%/10");
	time_choice_range(&t, false, 1000, 2000);
	assert_int_equal(time_choice_within(&t, &no_clock, &within), 2);
	assert_true(within[0].from_ns == 1100 && within[1].until_ns == 2001);
	time_choice_done(&t);
	make(&t, time_choice_slices, "  1,2   3,4 ");
	assert_int_equal(time_choice_slices(&t, "8,", &why), 0);
	assert_int_equal(time_choice_window(&t, &no_clock, &from, &until), 0);
	assert_true(from == 1 * S && until == UINT64_MAX);
	assert_int_equal(time_choice_within(&t, &no_clock, &within), 3);
	assert_true(within[1].from_ns == 3 * S && within[1].until_ns == 4 * S + 1);
	assert_true(within[2].from_ns == 8 * S && within[2].until_ns == UINT64_MAX);
	time_choice_done(&t);
}

/* Half an hour after boot when it began, at 03:00. */
static const struct clock_triple three = { (uint64_t)(NOW - 720 * S), 1800 * S, 1800 * S };

static void
wall_clock(void **state)
{
	struct time_choice t;
	uint64_t from, until;
	const char *why;

	(void)state;
	make(&t, time_choice_since, "10m");
	assert_int_equal(time_choice_window(&t, &three, &from, &until), 0);
	assert_int_equal(from, (1800 + 120) * S);
	assert_true(until == UINT64_MAX);
	assert_int_equal(time_choice_until(&t, "2026-11-21 03:11 UTC", &why), 0);
	assert_true(time_choice_possible(&t));
	assert_int_equal(time_choice_window(&t, &three, &from, &until), 0);
	assert_int_equal(until, (1800 + 660) * S);
	time_choice_wall(&t, &from, &until);
	assert_int_equal(from, NOW - 600 * S);
	assert_int_equal(until, NOW - 60 * S);
	/* both hold, --time's too */
	assert_int_equal(time_choice_slices(&t, "1900,2000", &why), 0);
	assert_int_equal(time_choice_window(&t, &three, &from, &until), 0);
	assert_int_equal(from, 1920 * S);
	assert_int_equal(until, 2000 * S + 1);
	assert_int_equal(time_choice_window(&t, &no_clock, &from, &until), -1);
	time_choice_done(&t);
	/* before the clock began */
	make(&t, time_choice_until, "@1");
	assert_int_equal(time_choice_window(&t, &three, &from, &until), 0);
	assert_int_equal(until, 0);
	assert_int_equal(time_choice_since(&t, "@1", &why), 0);
	assert_false(time_choice_possible(&t));
	time_choice_done(&t);
	refused(time_choice_since, "10");
	refused(time_choice_until, "");
}

/* Percents of an archive are of the time of day, and the same for each of its recordings. */
static void
archive(void **state)
{
	struct time_choice t;
	const struct stream_slice *within;
	uint64_t from, until;

	(void)state;
	make(&t, time_choice_slices, "50%-100%");
	time_choice_range(&t, true, three.realtime, three.realtime + 200 * S);
	assert_false(time_choice_needs_range(&t));
	assert_int_equal(time_choice_window(&t, &three, &from, &until), 0);
	assert_int_equal(from, 1900 * S);
	assert_int_equal(until, 2000 * S + 1);
	time_choice_wall(&t, &from, &until);
	assert_true(from == three.realtime + 100 * S && until == three.realtime + 200 * S + 1);
	assert_int_equal(time_choice_window(&t, &no_clock, &from, &until), -1);
	time_choice_done(&t);
	make(&t, time_choice_slices, "0%-10%,50%-60%");
	time_choice_range(&t, true, three.realtime, three.realtime + 200 * S);
	assert_int_equal(time_choice_within(&t, &three, &within), 2);
	assert_true(within[0].from_ns == 1800 * S && within[0].until_ns == 1820 * S + 1);
	assert_true(within[1].from_ns == 1900 * S && within[1].until_ns == 1920 * S + 1);
	time_choice_done(&t);
}

static void
last(void **state)
{
	struct time_choice t;
	uint64_t from, until;

	(void)state;
	make(&t, time_choice_last, "1m");
	assert_true(time_choice_needs_range(&t));
	time_choice_range(&t, false, 1000 * S, 1100 * S);
	assert_false(time_choice_needs_range(&t));
	/* A recording that does not know the time of day has an end, too. */
	assert_int_equal(time_choice_window(&t, &no_clock, &from, &until), 0);
	assert_int_equal(from, 1040 * S + 1);
	assert_true(until == UINT64_MAX);
	time_choice_done(&t);
	/* More than there is. */
	make(&t, time_choice_last, "1y");
	time_choice_range(&t, false, 1000 * S, 1100 * S);
	assert_int_equal(time_choice_window(&t, &no_clock, &from, &until), 0);
	assert_int_equal(from, 0);
	time_choice_done(&t);
	/* An archive that ended half a minute ago, and one that is still written. */
	for (int live = 0; live < 2; live++) {
		make(&t, time_choice_last, "1m");
		t.live = live;
		time_choice_range(&t, true, NOW - 900 * S, NOW - 30 * S - 1);
		time_choice_wall(&t, &from, &until);
		assert_int_equal(from, live ? NOW - 60 * S : NOW - 90 * S);
		time_choice_done(&t);
	}
	/* What is called so, and has had nothing for longer, has been left so. */
	make(&t, time_choice_last, "1m");
	t.live = true;
	time_choice_range(&t, true, NOW - 900 * S, NOW - 300 * S - 1);
	time_choice_wall(&t, &from, &until);
	assert_int_equal(from, NOW - 360 * S);
	time_choice_done(&t);
	refused(time_choice_last, "");
	refused(time_choice_last, "0");
	refused(time_choice_last, "today");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(none),	      cmocka_unit_test(slices),	 cmocka_unit_test(holes),
		cmocka_unit_test(wall_clock), cmocka_unit_test(archive), cmocka_unit_test(last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Columns of time: how wide, what stands above them, and what is not recorded. */
#include "symbolizer/load/time_grid.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <bsd/string.h>
#include <cmocka.h>

#define MS UINT64_C(1000000)
#define S (1000 * MS)
#define NOON UINT64_C(1795262400) /* 2026-11-21 12:00:00 UTC */

static struct load load;

/* An archive that began at noon, when its clock was 100 s. */
static void
begin(uint64_t first_ns, uint64_t last_ns, uint64_t bucket_ns)
{
	memset(&load, 0, sizeof(load));
	load.profile_options = (struct profile_options){ .by_time = true,
							 .bucket_wall = true,
							 .bucket_ns = bucket_ns };
	load.set.start.monotonic = 100 * S;
	load.set.start.realtime = NOON * S;
	load.set.first_ns = first_ns;
	load.set.last_ns = last_ns;
	load.set.samples = 2;
	load.resolver = resolver_new(NULL);
	load.profile = profile_new(load.resolver, NULL, &load.profile_options);
	assert_non_null(load.profile);
}

static void
end(struct time_grid *g)
{
	time_grid_done(g);
	profile_free(load.profile);
	resolver_free(load.resolver);
}

static void
widths(void **state)
{
	static const struct {
		uint64_t ns, columns, width;
	} want[] = {
		{ 0, 60, 1 },
		{ 1, 60, 1 },
		{ 58, 60, 1 },
		{ 59, 60, 10 },
		{ 1 * S, 60, 20 * MS },
		{ 58 * S, 60, 1 * S },
		{ 60 * S, 60, 2 * S },
		{ 86400 * S, 60, 1800 * S },
		{ 86400 * S, 1442, 60 * S },
		{ 365 * 86400 * S, 60, 7 * 86400 * S },
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_int_equal(time_grid_width(want[i].ns, want[i].columns), want[i].width);
	/* Hostile headers are no endless loop. */
	assert_true(UINT64_MAX / time_grid_width(UINT64_MAX, 60) < 60);
}

static void
axis(uint64_t first_ns, uint64_t last_ns, uint64_t bucket_ns, const char *want)
{
	struct time_grid g;
	struct buf b;

	begin(first_ns, last_ns, bucket_ns);
	assert_int_equal(time_grid_make(&g, &load, 1000), 0);
	buf_init(&b);
	time_grid_axis(&g, 0, g.nr, &b);
	buf_u8(&b, 0);
	assert_int_equal(b.len - 1, g.nr);
	assert_string_equal((const char *)b.p, want);
	buf_done(&b);
	end(&g);
}

static void
times_above(void **state)
{
	axis(100 * S, 129 * S, 1 * S, "|12:00:00 |12:00:10 |12:00:20 ");
	axis(105 * S, 124 * S, 1 * S, "     |12:00:10      ");
	axis(100 * S, 1000 * S, 60 * S, "|12:00    |12:10");
	axis(100 * S, 102 * S, 100 * MS, "|12:00:00 |12:00:01  ");
	axis(100 * S, 100 * S + 86400 * S * 3, 86400 * S / 4, "      |11-23 ");
}

static void
local_days(void **state)
{
	struct time_grid g;
	char text[64];

	setenv("TZ", "Asia/Kolkata", 1); /* 5:30 ahead */
	tzset();
	begin(100 * S, 3700 * S, 3600 * S);
	assert_int_equal(time_grid_make(&g, &load, 1000), 0);
	assert_int_equal(g.nr, 2);
	time_grid_text(&g, 0, text, sizeof(text));
	assert_string_equal(text, "2026-11-21 17:00:00");
	/* Half an hour before noon here, when the clock stood below zero. */
	assert_true(time_grid_start(&g, 0) == 100 * S - 1800 * S);
	end(&g);
	setenv("TZ", "UTC", 1);
	tzset();
}

/* Marks of all columns as letters. */
static void
marks(const char *want)
{
	struct time_grid g;
	char got[64];

	assert_int_equal(time_grid_make(&g, &load, 60), 0);
	for (size_t i = 0; i < g.nr; i++)
		got[i] = ".!x"[g.marks[i]];
	got[g.nr] = '\0';
	assert_string_equal(got, want);
	assert_int_equal(time_grid_has(&g, TIME_NOT_RECORDED), strchr(want, 'x') != NULL);
	assert_int_equal(time_grid_has(&g, TIME_PART), strchr(want, '!') != NULL);
	end(&g);
}

static void
not_recorded(void **state)
{
	struct covered_span spans[] = { { 100 * S, 103 * S + 500 * MS, 1, false },
					{ 105 * S + 500 * MS, 106 * S, 1, false },
					{ 106 * S + 900 * MS, 109 * S, 1, false } };
	struct gap gaps[] = {
		{ LOSS_CPU_OFFLINE, 3, 100 * S, 109 * S, 0 },
		{ LOSS_KERNEL_SAMPLES, 1, 101 * S, 101 * S + 1, 5 },
		{ LOSS_STALL, GAP_CPU_ALL, 107 * S, 108 * S, 0 },
		{ LOSS_DISK_FULL, GAP_CPU_ALL, 108 * S + 1, 0, 0 },
	};

	begin(100 * S, 109 * S, 1 * S);
	load.set.spans = spans;
	load.set.nr_spans = 3;
	marks("...!x!....");
	begin(100 * S, 109 * S, 1 * S);
	load.set.gaps = (struct gap_list){ gaps, 4, 4, 0 };
	marks(".!.....x!x");
	/* More columns than fit are put together. */
	begin(100 * S, 109 * S, 100 * MS);
	load.set.gaps = (struct gap_list){ gaps, 2, 4, 0 };
	marks(".....!........................................");
}

static void
nothing(void **state)
{
	struct time_grid g;

	begin(0, 0, 1 * S);
	load.set.samples = 0;
	assert_int_equal(time_grid_make(&g, &load, 60), 0);
	assert_int_equal(g.nr, 0);
	assert_false(time_grid_has(&g, TIME_RECORDED));
	end(&g);
}

static void
spans_in_words(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} want[] = { { 0, "0 s" },	  { 1, "1 ns" },	{ 20 * MS, "20 ms" },
		     { 90 * S, "90 s" },  { 120 * S, "2 min" }, { 3600 * S, "1 h" },
		     { 86400 * S, "1 d" } };
	char text[32];

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		time_grid_span_text(want[i].ns, text, sizeof(text));
		assert_string_equal(text, want[i].text);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(widths),     cmocka_unit_test(times_above),
		cmocka_unit_test(local_days), cmocka_unit_test(not_recorded),
		cmocka_unit_test(nothing),    cmocka_unit_test(spans_in_words),
	};

	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cells of a made up recording whose times are known; and that no place is needed for them. */
#include "symbolizer/profile/time_series.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <bsd/string.h>
#include <cmocka.h>
#include <linux/perf_event.h>

#include "format/bytes/fmt_error.h"
#include "tests/lab/profile_add.h"
#include "tests/lab/story.h"

#define HAVE (PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CGROUP)
#define MS UINT64_C(1000000)

static struct synthetic s;
static struct resolver *resolver;
static struct profile *profile;
static struct time_series *series;

static void
begin(void)
{
	synthetic_begin(&s, HAVE);
	s.cpumode = PERF_RECORD_MISC_USER;
	synthetic_cgroup(&s, 1, "/system.slice/web.service");
	synthetic_cgroup(&s, 2, "/system.slice/web.service/worker");
	synthetic_cgroup(&s, 3, "/system.slice/db.service");
	synthetic_comm(&s, 10, 10, "web");
	synthetic_comm(&s, 11, 11, "worker");
	synthetic_comm(&s, 20, 20, "db");
}

static void
sample(uint64_t time_ns, uint32_t pid, uint64_t cgroup, uint64_t period)
{
	s.now = 5000 * MS + time_ns - 1000; /* which it goes on by */
	s.cgroup = cgroup;
	s.period = period;
	synthetic_sample(&s, pid, pid, 0x1000 + pid, NULL, 0);
}

static void
build_from(const struct time_series_options *o, const struct filter *filter,
	   uint64_t spread_from_ns)
{
	struct profile_options po = { .bucket_ns = 10 * MS,
				      .filter = filter,
				      .spread = spread_from_ns > 0,
				      .spread_from_ns = spread_from_ns };
	struct fmt_where where = { 0 };

	time_series_profile_options(o->key, false, &po);
	synthetic_read(&s);
	resolver = resolver_new(NULL);
	profile = profile_new(resolver, NULL, &po);
	assert_non_null(profile);
	assert_int_equal(profile_add(profile, &po, s.stream, &where), 0);
	assert_int_equal(time_series_build(profile, o, &series), 0);
}

static void
build(const struct time_series_options *o, const struct filter *filter)
{
	build_from(o, filter, 0);
}

static void
end(void)
{
	time_series_free(series);
	profile_free(profile);
	resolver_free(resolver);
	synthetic_end(&s);
}

/* cells: "samples/period" of each column. */
static void
expect(const struct time_series_row *row, const char *name, size_t members, const char *cells)
{
	char got[256] = "", cell[64];
	const size_t columns = (size_t)(*cells - '0');

	cells = strchr(cells, ':') + 1;
	for (size_t i = 0; i < columns; i++) {
		snprintf(cell, sizeof(cell), " %d/%d", (int)row->cells[i].samples,
			 (int)row->cells[i].period);
		strlcat(got, cell, sizeof(got));
	}
	assert_string_equal(got, cells);
	assert_int_equal(row->members, members);
	if (name)
		assert_string_equal(row->name, name);
	else
		assert_null(row->name);
}

/* Three loads in three groups, one after another; two of them are of one service. */
static void
add_loads(void)
{
	sample(1000 * MS, 10, 1, 5);
	sample(1009 * MS, 10, 1, 5);
	sample(1010 * MS, 11, 2, 7);
	sample(1025 * MS, 20, 3, 100);
	sample(1029 * MS, 20, 3, 100);
	sample(1031 * MS, 10, 1, 5);
	sample(1049 * MS, 20, 3, 1);
}

static void
by_service(void **state)
{
	struct time_series_options o = {
		.key = TIME_SERIES_unit, .from = 600, .per = 1, .nr = 5, .rows_max = 9
	};

	begin();
	add_loads();
	build(&o, NULL);
	assert_int_equal(time_series_rows(series), 2);
	expect(time_series_row_at(series, 0), "db.service", 1, "5: 0/0 0/0 2/200 0/0 1/1");
	expect(time_series_row_at(series, 1), "web.service", 1, "5: 2/10 1/7 0/0 1/5 0/0");
	expect(time_series_all(series), NULL, 2, "5: 2/10 1/7 2/200 1/5 1/1");
	assert_int_equal(time_series_others(series)->members, 0);
	/* No command is told apart, and no place looked up. */
	assert_int_equal(profile_frames(profile), 1);
	assert_int_equal(profile_stacks(profile), 5);
	end();
}

/* By samples the other one is heavier; columns of two buckets; and one row for what is left out. */
static void
fewer_and_wider(void **state)
{
	struct time_series_options o = { .key = TIME_SERIES_comm,
					 .by_samples = true,
					 .from = 600,
					 .per = 2,
					 .nr = 3,
					 .rows_max = 1 };

	begin();
	add_loads();
	build(&o, NULL);
	assert_int_equal(time_series_rows(series), 1);
	expect(time_series_row_at(series, 0), "db", 1, "3: 0/0 2/200 1/1");
	expect(time_series_others(series), NULL, 2, "3: 3/17 1/5 0/0");
	expect(time_series_all(series), NULL, 3, "3: 3/17 3/205 1/1");
	end();
}

static void
by_process(void **state)
{
	struct time_series_options o = {
		.key = TIME_SERIES_pid, .from = 600, .per = 5, .nr = 1, .rows_max = 9
	};

	begin();
	add_loads();
	synthetic_comm(&s, 20, 20, "other");
	sample(1049 * MS, 20, 3, 1);
	build(&o, NULL);
	/* A process has the command of its heaviest bucket. */
	assert_int_equal(time_series_rows(series), 3);
	assert_int_equal(time_series_row_at(series, 0)->number, 20);
	expect(time_series_row_at(series, 0), "db", 1, "1: 4/202");
	expect(time_series_row_at(series, 1), "web", 1, "1: 3/15");
	expect(time_series_row_at(series, 2), "worker", 1, "1: 1/7");
	end();
}

/* A filter of symbols needs the places, which make no difference otherwise. */
static void
filtered(void **state)
{
	struct time_series_options o = {
		.key = TIME_SERIES_cgroup, .from = 600, .per = 1, .nr = 5, .rows_max = 9
	};
	struct filter *filter = filter_new(0);
	const char *why;

	begin();
	synthetic_map(&s, 20, 0x1000, 0x1000, "/bin/db");
	add_loads();
	assert_int_equal(filter_set(filter, FILTER_OPTION_dso, "db", &why), 0);
	build(&o, filter);
	assert_int_equal(time_series_rows(series), 1);
	expect(time_series_row_at(series, 0), "/system.slice/db.service", 1,
	       "5: 0/0 0/0 2/200 0/0 1/1");
	assert_int_equal(profile_event_whole(profile, 0).samples, 7);
	end();
	filter_free(filter);
}

static void
too_many(void **state)
{
	struct time_series_options o = {
		.key = TIME_SERIES_ALL, .from = 600, .per = 1, .nr = 5, .rows_max = 0
	};
	struct time_series *none = NULL;

	begin();
	add_loads();
	build(&o, NULL);
	assert_int_equal(time_series_rows(series), 0);
	expect(time_series_all(series), NULL, 1, "5: 2/10 1/7 2/200 1/5 1/1");
	o.nr = TIME_SERIES_CELLS_MAX;
	assert_int_equal(time_series_build(profile, &o, &none), -FMT_E_TOO_BIG);
	assert_null(none);
	end();
}

/* A busy CPU, and later another one, whose samples are further apart than buckets: each of these is as busy. */
static void
spread_over_periods(void **state)
{
	struct time_series_options o = {
		.key = TIME_SERIES_unit, .from = 600, .per = 1, .nr = 9, .rows_max = 9
	};

	begin();
	sample(1026 * MS, 10, 1, 26 * MS);
	sample(1052 * MS, 10, 1, 26 * MS);
	sample(1078 * MS, 20, 3, 26 * MS);
	build_from(&o, NULL, 6000 * MS);
	expect(time_series_all(series), NULL, 2,
	       "8: 0/10000000 0/10000000 1/10000000 0/10000000 0/10000000 1/10000000 0/10000000 1/8000000");
	expect(time_series_row_at(series, 0), "web.service", 1,
	       "8: 0/10000000 0/10000000 1/10000000 0/10000000 0/10000000 1/2000000 0/0 0/0");
	end();
	/* What began before the recording, or the window, did, is of its first bucket. */
	begin();
	sample(1026 * MS, 10, 1, 26 * MS);
	sample(1052 * MS, 10, 1, 26 * MS);
	build_from(&o, NULL, 6012 * MS);
	expect(time_series_all(series), NULL, 1,
	       "6: 0/0 0/20000000 1/10000000 0/10000000 0/10000000 1/2000000");
	end();
}

static void
names_of_keys(void **state)
{
	assert_int_equal(time_series_key_of("unit"), TIME_SERIES_unit);
	assert_int_equal(time_series_key_of("service"), TIME_SERIES_unit);
	assert_int_equal(time_series_key_of("symbol"), TIME_SERIES_sym);
	assert_int_equal(time_series_key_of("cpu"), TIME_SERIES_cpu);
	assert_int_equal(time_series_key_of("units"), TIME_SERIES_KEYS_MAX);
	assert_string_equal(time_series_key_name(TIME_SERIES_sym), "sym");
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_service),	 cmocka_unit_test(fewer_and_wider),
		cmocka_unit_test(by_process),	 cmocka_unit_test(filtered),
		cmocka_unit_test(too_many),	 cmocka_unit_test(spread_over_periods),
		cmocka_unit_test(names_of_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

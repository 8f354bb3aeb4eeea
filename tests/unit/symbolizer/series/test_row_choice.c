/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options that choose a row: those that would have more than it are not taken. */
#include "symbolizer/series/row_choice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <linux/perf_event.h>

#include "tests/lab/profile_add.h"
#include "tests/lab/synthetic.h"

#define HAVE (PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CGROUP)
#define BUCKET_NS UINT64_C(10000000)
#define NONE "none"

static struct synthetic s;
static struct series_options options;
static struct series series;
static struct row_choice *choice;

static void
begin(void)
{
	synthetic_begin(&s, HAVE);
	s.cpumode = PERF_RECORD_MISC_USER;
	buf_init(&options.load.filters);
}

static void
sample(uint32_t pid, uint64_t cgroup)
{
	s.cgroup = cgroup;
	s.period = 1;
	synthetic_sample(&s, pid, pid, 0x1000, NULL, 0);
}

static void
filtered(const char *filter)
{
	buf_text(&options.load.filters, filter);
	buf_u8(&options.load.filters, 0);
}

static void
read_by(enum time_series_key key)
{
	struct profile_options po = { .bucket_ns = BUCKET_NS };
	struct time_series_options o = {
		.key = key, .from = 0, .per = UINT64_MAX, .nr = 1, .rows_max = 99
	};
	struct fmt_where where = { 0 };

	time_series_profile_options(key, false, &po);
	po.by_cgroup |= po.by_unit;
	synthetic_read(&s);
	series = (struct series){ .options = &options, .key = key };
	series.load.resolver = resolver_new(NULL);
	series.load.profile = profile_new(series.load.resolver, NULL, &po);
	assert_int_equal(profile_add(series.load.profile, &po, s.stream, &where), 0);
	assert_int_equal(time_series_build(series.load.profile, &o, &series.rows), 0);
	choice = row_choice_new(&series);
	assert_non_null(choice);
}

static void
end(void)
{
	row_choice_free(choice);
	time_series_free(series.rows);
	profile_free(series.load.profile);
	resolver_free(series.load.resolver);
	synthetic_end(&s);
	buf_done(&options.load.filters);
}

/* A row by its name (NULL: none) and number: its option (NONE: nothing chooses it) and value. */
static void
expect(const char *name, uint32_t number, const char *option, const char *value, const char *mode)
{
	const struct time_series_row *row = NULL;
	struct row_options got;
	bool found;

	for (size_t i = 0; i < time_series_rows(series.rows) && !row; i++) {
		const struct time_series_row *r = time_series_row_at(series.rows, i);

		if (r->number == number &&
		    (name ? r->name && strcmp(r->name, name) == 0 : !r->name))
			row = r;
	}
	if (!row)
		fail_msg("no row '%s'", name);
	found = row_choice_find(choice, row, &got);
	if (option && strcmp(option, NONE) == 0) {
		assert_false(found);
		return;
	}
	assert_true(found);
	if (!option) {
		assert_null(got.name);
		return;
	}
	assert_string_equal(got.name, option);
	assert_string_equal(got.value, value);
	if (mode)
		assert_string_equal(got.mode, mode);
	else
		assert_null(got.mode);
}

static void
add_groups(void)
{
	static const char *const paths[] = {
		"/system.slice/web.service",
		"/system.slice/web.service/worker",
		"/system.slice/db.service",
		"/system.slice",
		"/",
		"/docker/x",
		"/docker/x/sub",
		"/machine.slice/c.scope/system.slice/db.service",
	};
	const size_t nr = sizeof(paths) / sizeof(paths[0]);

	begin();
	for (size_t i = 0; i < nr; i++)
		synthetic_cgroup(&s, i + 1, paths[i]);
	synthetic_comm(&s, 10, 10, "web");
	for (size_t i = 0; i <= nr; i++)
		sample(10, i + 1); /* the last one is not known */
}

static void
units(void **state)
{
	add_groups();
	read_by(TIME_SERIES_unit);
	expect("web.service", 0, "unit", "web.service", NULL);
	expect("c.scope", 0, "unit", "c.scope", NULL);
	/* The container has one of that name. */
	expect("db.service", 0, "cgroup", "/system.slice/db.service", NULL);
	/* All services are below their slice. */
	expect("system.slice", 0, NONE, NULL, NULL);
	expect("-.slice", 0, "cgroup", "/", NULL);
	expect("[unknown]", 0, "cgroup", "[unknown]", NULL);
	expect("/docker/x", 0, NONE, NULL, NULL);
	expect("/docker/x/sub", 0, "cgroup", "/docker/x/sub", NULL);
	end();
}

static void
units_of_units(void **state)
{
	add_groups();
	filtered("--comm unit");
	filtered("--unit *");
	read_by(TIME_SERIES_unit);
	expect("web.service", 0, NONE, NULL, NULL);
	expect("c.scope", 0, "cgroup", "/machine.slice/c.scope/system.slice/db.service", NULL);
	end();
}

static void
groups(void **state)
{
	add_groups();
	read_by(TIME_SERIES_cgroup);
	expect("/system.slice/web.service", 0, NONE, NULL, NULL);
	expect("/system.slice/web.service/worker", 0, "cgroup", "/system.slice/web.service/worker",
	       NULL);
	expect("/", 0, "cgroup", "/", NULL);
	end();
}

static void
commands(void **state)
{
	static const char *const names[] = { "a", "a,b", "*", "x\\y", "t\tb", "\xff" };

	begin();
	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		synthetic_comm(&s, 10 + i, 10 + i, names[i]);
		sample(10 + i, 1);
	}
	read_by(TIME_SERIES_comm);
	expect("a", 0, "comm", "a", NULL);
	expect("a,b", 0, "comm", "a\\,b", NULL);
	expect("*", 0, "comm", "\\*", NULL);
	expect("x\\y", 0, "comm", "x\\\\y", NULL);
	/* Their text on a page is not what they are. */
	expect("t\tb", 0, NONE, NULL, NULL);
	expect("\xff", 0, NONE, NULL, NULL);
	end();
}

static void
only_one(void **state)
{
	begin();
	synthetic_comm(&s, 10, 10, "\xff");
	sample(10, 1);
	read_by(TIME_SERIES_comm);
	expect("\xff", 0, NULL, NULL, NULL);
	end();
}

static void
numbers(void **state)
{
	begin();
	synthetic_comm(&s, 10, 10, "a");
	s.cpu = 3;
	sample(10, 1);
	s.cpu = UINT32_MAX; /* of a perf.data without CPUs */
	sample(10, 1);
	read_by(TIME_SERIES_cpu);
	expect(NULL, 3, "cpu", "3", NULL);
	expect(NULL, UINT32_MAX, "cpu", "4294967295", NULL);
	end();
}

static void
functions(void **state)
{
	begin();
	synthetic_ksym(&s, 0xffffffff80000000, 0xffffffff80000100, "", "f<a, b>*");
	synthetic_comm(&s, 10, 10, "a");
	sample(10, 1);
	s.cpumode = PERF_RECORD_MISC_KERNEL;
	synthetic_sample(&s, 10, 10, 0xffffffff80000010, NULL, 0);
	read_by(TIME_SERIES_sym);
	expect(NULL, 0, "symbol", "[unknown]", NULL);
	expect("f<a, b>*", 1, "symbol", "f<a\\, b>\\*", NULL);
	end();
	begin();
	synthetic_comm(&s, 10, 10, "a");
	sample(10, 1);
	s.cpumode = PERF_RECORD_MISC_KERNEL;
	synthetic_sample(&s, 10, 10, 0xffffffff80000010, NULL, 0);
	read_by(TIME_SERIES_sym);
	expect(NULL, 0, "symbol", "[unknown]", "user");
	expect(NULL, 1, "symbol", "[unknown]", "kernel");
	filtered("--user ");
	expect(NULL, 1, NONE, NULL, NULL);
	end();
}

/* What is shown in place of the sampled frame no option of samples finds. */
static void
other_frames(void **state)
{
	begin();
	synthetic_ksym(&s, 0xffffffff80000000, 0xffffffff80000100, "", "f");
	synthetic_comm(&s, 10, 10, "a");
	sample(10, 1);
	s.cpumode = PERF_RECORD_MISC_KERNEL;
	synthetic_sample(&s, 10, 10, 0xffffffff80000010, NULL, 0);
	filtered("--show-from f");
	read_by(TIME_SERIES_sym);
	expect("f", 1, NONE, NULL, NULL);
	end();
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(units),     cmocka_unit_test(units_of_units),
		cmocka_unit_test(groups),    cmocka_unit_test(commands),
		cmocka_unit_test(only_one),  cmocka_unit_test(numbers),
		cmocka_unit_test(functions), cmocka_unit_test(other_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "symbolizer/profile/filter.h"

#define S INT64_C(1000000000)
#define NOW (INT64_C(1795230720) * S) /* 2026-11-21 03:12:00 UTC */

static const struct clock_triple no_clock;

static struct filter *
make(int option, const char *arg)
{
	struct filter *f = filter_new(NOW);
	const char *why = NULL;

	assert_non_null(f);
	if (filter_set(f, option, arg, &why) < 0)
		fail_msg("%s: %s", arg, why);
	return f;
}

static void
refused(int option, const char *arg)
{
	struct filter *f = filter_new(NOW);
	const char *why = NULL;

	assert_non_null(f);
	if (filter_set(f, option, arg, &why) == 0)
		fail_msg("'%s' was taken", arg);
	assert_non_null(why);
	filter_free(f);
}

static bool
sample(const struct filter *f, const char *comm, uint32_t pid, uint32_t tid, uint32_t cpu)
{
	return filter_sample(
		f, &(struct filter_subject){ comm, NULL, "cpu-clock", pid, tid, cpu, NULL });
}

static bool
of_event(const struct filter *f, const char *event)
{
	return filter_sample(f, &(struct filter_subject){ "cc1", NULL, event, 1, 1, 0, NULL });
}

static void
nothing_asked(void **state)
{
	struct filter *f = filter_new(NOW);
	uint64_t from, until;

	assert_true(sample(f, "a", 1, 2, 3));
	assert_true(filter_leaf(f, "libc.so.6", "/lib/libc.so.6", NULL));
	assert_int_equal(filter_window(f, &no_clock, &from, &until), 0);
	assert_true(from == 0 && until == UINT64_MAX);
	assert_false(filter_needs_range(f) || filter_by_cgroup(f));
	filter_free(f);
	filter_free(NULL);
}

static void
names(void **state)
{
	struct filter *f = make(FILTER_OPTION_comm, "cc1,tmux: server");
	const char *why;

	assert_true(sample(f, "cc1", 1, 1, 0));
	assert_true(sample(f, "tmux: server", 1, 1, 0));
	assert_false(sample(f, "cc1plus", 1, 1, 0));
	assert_false(sample(f, "tmux", 1, 1, 0));
	/* again: more */
	assert_int_equal(filter_set(f, FILTER_OPTION_comm, "cc1plus", &why), 0);
	assert_true(sample(f, "cc1plus", 1, 1, 0) && sample(f, "cc1", 1, 1, 0));
	/* another option: both have to hold */
	assert_int_equal(filter_set(f, FILTER_OPTION_event, "cycles", &why), 0);
	assert_false(sample(f, "cc1", 1, 1, 0));
	assert_true(of_event(f, "cycles"));
	filter_free(f);
	refused(FILTER_OPTION_comm, "");
	refused(FILTER_OPTION_comm, "a,,b");
	refused(FILTER_OPTION_comm, "a,");
}

static void
patterns(void **state)
{
	struct filter *f = make(FILTER_OPTION_comm, "kworker/*,cc1*,[x]");

	assert_true(sample(f, "kworker/0:1-events", 1, 1, 0) && sample(f, "cc1plus", 1, 1, 0));
	/* brackets are part of names */
	assert_true(sample(f, "[x]", 1, 1, 0));
	assert_false(sample(f, "x", 1, 1, 0) || sample(f, "xcc1", 1, 1, 0));
	filter_free(f);
	f = make(FILTER_OPTION_event, "sched:*");
	assert_true(of_event(f, "sched:sched_switch"));
	assert_false(of_event(f, "cycles"));
	filter_free(f);
	f = make(FILTER_OPTION_dso, "libc-*.so,/opt/*");
	assert_true(filter_leaf(f, "libc-2.36.so", "/lib/libc-2.36.so", "f"));
	assert_true(filter_leaf(f, "x", "/opt/bin/x", "f"));
	assert_false(filter_leaf(f, "libm-2.36.so", "/lib/libm-2.36.so", "f"));
	filter_free(f);
	f = make(FILTER_OPTION_symbol, "*alloc*,std::map<*, *>::find");
	assert_true(filter_leaf(f, "x", "/x", "xmalloc"));
	assert_true(filter_leaf(f, "x", "/x", "std::map<int, char>::find"));
	assert_false(filter_leaf(f, "x", "/x", "free") || filter_leaf(f, "x", "/x", NULL));
	filter_free(f);
	/* a name that has a backslash, as it is written and as a pattern */
	f = make(FILTER_OPTION_comm, "a\\b");
	assert_true(sample(f, "a\\b", 1, 1, 0) && sample(f, "ab", 1, 1, 0));
	filter_free(f);
}

static void
parts_of_symbols(void **state)
{
	struct filter *f = make(FILTER_OPTION_symbol_filter, "alloc");
	const char *why;

	assert_true(filter_leaf(f, "x", "/x", "xmalloc") && filter_leaf(f, "x", "/x", "alloc"));
	assert_false(filter_leaf(f, "x", "/x", "free") || filter_leaf(f, "x", "/x", NULL));
	/* more of them; what is in them is no pattern and no list */
	assert_int_equal(filter_set(f, FILTER_OPTION_symbol_filter, "<int, ch*>", &why), 0);
	assert_true(filter_leaf(f, "x", "/x", "map<int, ch*>::at"));
	assert_false(filter_leaf(f, "x", "/x", "map<int, char>::at"));
	/* both have to hold */
	assert_int_equal(filter_set(f, FILTER_OPTION_symbol, "xmalloc", &why), 0);
	assert_true(filter_leaf(f, "x", "/x", "xmalloc"));
	assert_false(filter_leaf(f, "x", "/x", "alloc"));
	filter_free(f);
}

static void
symbols_with_commas(void **state)
{
	struct filter *f = make(FILTER_OPTION_symbol,
				"std::map<int, char>::find,f(int, char),"
				"operator<<,operator->,last");

	assert_true(filter_leaf(f, "x", "/x", "std::map<int, char>::find"));
	assert_true(filter_leaf(f, "x", "/x", "f(int, char)"));
	assert_true(filter_leaf(f, "x", "/x", "operator<<"));
	assert_true(filter_leaf(f, "x", "/x", "operator->"));
	assert_true(filter_leaf(f, "x", "/x", "last"));
	assert_false(filter_leaf(f, "x", "/x", " char>::find"));
	assert_false(filter_leaf(f, "x", "/x", NULL));
	filter_free(f);
	f = make(FILTER_OPTION_symbol, "[unknown]");
	assert_true(filter_leaf(f, "x", "/x", NULL));
	assert_false(filter_leaf(f, "x", "/x", "main"));
	filter_free(f);
}

static void
objects(void **state)
{
	struct filter *f = make(FILTER_OPTION_dso, "libc.so.6,[kernel.kallsyms]");

	assert_true(filter_leaf(f, "libc.so.6", "/lib/libc.so.6", "f"));
	assert_true(filter_leaf(f, "[kernel.kallsyms]", "[kernel.kallsyms]", "f"));
	assert_false(filter_leaf(f, "libm.so.6", "/lib/libm.so.6", "f"));
	filter_free(f);
	f = make(FILTER_OPTION_dso, "/opt/libc.so.6");
	assert_true(filter_leaf(f, "libc.so.6", "/opt/libc.so.6", "f"));
	assert_false(filter_leaf(f, "libc.so.6", "/lib/libc.so.6", "f"));
	filter_free(f);
}

static bool
in_cgroup(const struct filter *f, const char *cgroup)
{
	return filter_sample(f, &(struct filter_subject){ "a", cgroup, "cycles", 1, 1, 0, NULL });
}

static void
cgroups(void **state)
{
	struct filter *f = make(FILTER_OPTION_cgroup, "nginx.service,/user.slice/*/app.slice");

	assert_true(filter_by_cgroup(f));
	assert_true(in_cgroup(f, "/system.slice/nginx.service"));
	assert_true(in_cgroup(f, "/nginx.service"));
	/* and what is below */
	assert_true(in_cgroup(f, "/system.slice/nginx.service/worker/1"));
	assert_true(in_cgroup(f, "/user.slice/user-1000.slice/app.slice/x.scope"));
	/* whole components */
	assert_false(in_cgroup(f, "/system.slice/old-nginx.service"));
	assert_false(in_cgroup(f, "/system.slice/nginx.service2"));
	assert_false(in_cgroup(f, "/system.slice") || in_cgroup(f, "/") || in_cgroup(f, NULL));
	assert_false(in_cgroup(f, "/x/user.slice/user-1000.slice/app.slice"));
	filter_free(f);
	f = make(FILTER_OPTION_cgroup, "system.slice/ssh*,[unknown]");
	assert_true(in_cgroup(f, "/system.slice/ssh.service") && in_cgroup(f, NULL));
	assert_true(in_cgroup(f, "/lxc/1/system.slice/ssh.service"));
	assert_false(in_cgroup(f, "/system.slice/cron.service") || in_cgroup(f, "/u"));
	filter_free(f);
	/* the root alone, and everything */
	f = make(FILTER_OPTION_cgroup, "/");
	assert_true(in_cgroup(f, "/"));
	assert_false(in_cgroup(f, "/system.slice"));
	filter_free(f);
	f = make(FILTER_OPTION_cgroup, "/*");
	assert_true(in_cgroup(f, "/") && in_cgroup(f, "/system.slice"));
	assert_false(in_cgroup(f, NULL));
	filter_free(f);
	/* directories, as a shell completes them */
	f = make(FILTER_OPTION_cgroup, "/sys/fs/cgroup/a/,/sys/fs/cgroup/unified/b,c/");
	assert_true(in_cgroup(f, "/a/x") && in_cgroup(f, "/b") && in_cgroup(f, "/x/c"));
	assert_false(in_cgroup(f, "/x/a") || in_cgroup(f, "/x/b") || in_cgroup(f, "/"));
	filter_free(f);
	f = make(FILTER_OPTION_cgroup, "/sys/fs/cgroup/");
	assert_true(in_cgroup(f, "/"));
	assert_false(in_cgroup(f, "/a"));
	filter_free(f);
	refused(FILTER_OPTION_cgroup, "a,,b");
}

static void
numbers(void **state)
{
	struct filter *f = make(FILTER_OPTION_cpu, "0-2,7");

	assert_true(sample(f, "a", 1, 1, 0) && sample(f, "a", 1, 1, 2) && sample(f, "a", 1, 1, 7));
	assert_false(sample(f, "a", 1, 1, 3) || sample(f, "a", 1, 1, 8));
	filter_free(f);
	f = make(FILTER_OPTION_pid, "12,4294967295");
	assert_true(sample(f, "a", 12, 1, 0) && sample(f, "a", UINT32_MAX, 1, 0));
	assert_false(sample(f, "a", 1, 12, 0));
	filter_free(f);
	f = make(FILTER_OPTION_tid, "12");
	assert_true(sample(f, "a", 1, 12, 0));
	assert_false(sample(f, "a", 12, 1, 0));
	filter_free(f);
	refused(FILTER_OPTION_pid, "");
	refused(FILTER_OPTION_pid, "x");
	refused(FILTER_OPTION_pid, "1,");
	refused(FILTER_OPTION_pid, "-1");
	refused(FILTER_OPTION_pid, "+1");
	refused(FILTER_OPTION_pid, " 1");
	refused(FILTER_OPTION_pid, "1-2");
	refused(FILTER_OPTION_pid, "4294967296");
	refused(FILTER_OPTION_cpu, "3-1");
	refused(FILTER_OPTION_cpu, "1-");
	refused(FILTER_OPTION_cpu, "-1");
	refused(FILTER_OPTION_cpu, "0x1");
	refused(0, "1");
}

static void
window(const char *arg, uint64_t want_from, uint64_t want_until)
{
	struct filter *f = make(FILTER_OPTION_time, arg);
	uint64_t from, until;

	filter_range(f, false, 1000, 2000);
	assert_int_equal(filter_window(f, &no_clock, &from, &until), 0);
	assert_int_equal(from, want_from);
	assert_int_equal(until, want_until);
	filter_free(f);
}

static void
times(void **state)
{
	struct filter *f = make(FILTER_OPTION_time, "10%-20%");

	assert_true(filter_needs_range(f));
	filter_free(f);
	f = make(FILTER_OPTION_time, "1.5,2");
	assert_false(filter_needs_range(f));
	filter_free(f);
	window("1.5,2", 1500000000, 2000000000);
	window("12345678.000000001,", UINT64_C(12345678000000001), UINT64_MAX);
	window(",0.000000001", 0, 1);
	window("10%-20%", 1100, 1200);
	window("0%-100%", 1000, 2001);
	window("50%-", 1500, UINT64_MAX);
	window("1%,2%", 1010, 1020);
	refused(FILTER_OPTION_time, "");
	refused(FILTER_OPTION_time, "1");
	refused(FILTER_OPTION_time, "1-2");
	refused(FILTER_OPTION_time, "2,1");
	refused(FILTER_OPTION_time, "20%-10%");
	refused(FILTER_OPTION_time, "1%-101%");
	refused(FILTER_OPTION_time, "nan%-");
	refused(FILTER_OPTION_time, "%-%");
	refused(FILTER_OPTION_time, "%-50%");
	refused(FILTER_OPTION_time, "0x1%-50%");
	refused(FILTER_OPTION_time, "+1%-50%");
	refused(FILTER_OPTION_time, "x,1");
	refused(FILTER_OPTION_time, ".5,1");
	refused(FILTER_OPTION_time, "99999999999999999999,");
	refused(FILTER_OPTION_time, "1e3,");
}

/* Half an hour after boot when it began, at 03:00. */
static const struct clock_triple three = { (uint64_t)(NOW - 720 * S), 1800 * S, 1800 * S };

static void
wall_clock(void **state)
{
	struct filter *f = make(FILTER_OPTION_since, "10m");
	uint64_t from, until;
	const char *why;

	assert_int_equal(filter_window(f, &three, &from, &until), 0);
	assert_int_equal(from, (1800 + 120) * S);
	assert_true(until == UINT64_MAX);
	assert_int_equal(filter_set(f, FILTER_OPTION_until, "2026-11-21 03:11 UTC", &why), 0);
	assert_true(filter_possible(f));
	assert_int_equal(filter_window(f, &three, &from, &until), 0);
	assert_int_equal(until, (1800 + 660) * S);
	filter_wall(f, &from, &until);
	assert_int_equal(from, NOW - 600 * S);
	assert_int_equal(until, NOW - 60 * S);
	/* both hold, --time's too */
	assert_int_equal(filter_set(f, FILTER_OPTION_time, "1900,2000", &why), 0);
	assert_int_equal(filter_window(f, &three, &from, &until), 0);
	assert_int_equal(from, 1920 * S);
	assert_int_equal(until, 2000 * S);
	assert_int_equal(filter_window(f, &no_clock, &from, &until), -1);
	filter_free(f);
	/* before the clock began */
	f = make(FILTER_OPTION_until, "@1");
	assert_int_equal(filter_window(f, &three, &from, &until), 0);
	assert_int_equal(until, 0);
	assert_int_equal(filter_set(f, FILTER_OPTION_since, "@1", &why), 0);
	assert_false(filter_possible(f));
	filter_free(f);
	/* percents of an archive */
	f = make(FILTER_OPTION_time, "50%-100%");
	filter_range(f, true, three.realtime, three.realtime + 200 * S);
	assert_false(filter_needs_range(f));
	assert_int_equal(filter_window(f, &three, &from, &until), 0);
	assert_int_equal(from, 1900 * S);
	assert_int_equal(until, 2000 * S + 1);
	filter_free(f);
	refused(FILTER_OPTION_since, "10");
	refused(FILTER_OPTION_until, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_asked),
		cmocka_unit_test(names),
		cmocka_unit_test(patterns),
		cmocka_unit_test(parts_of_symbols),
		cmocka_unit_test(symbols_with_commas),
		cmocka_unit_test(objects),
		cmocka_unit_test(cgroups),
		cmocka_unit_test(numbers),
		cmocka_unit_test(times),
		cmocka_unit_test(wall_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

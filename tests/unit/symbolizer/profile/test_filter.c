/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "symbolizer/profile/filter.h"

#define S INT64_C(1000000000)
#define NOW (INT64_C(1795230720) * S) /* 2026-11-21 03:12:00 UTC */

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
passes(const struct filter *f, const struct filter_subject *s)
{
	return filter_scope(f, s) && filter_sample(f, s);
}

static bool
sample(const struct filter *f, const char *comm, uint32_t pid, uint32_t tid, uint32_t cpu)
{
	return passes(f, &(struct filter_subject){ comm, NULL, "cpu-clock", pid, tid, cpu, NULL });
}

static bool
of_event(const struct filter *f, const char *event)
{
	return passes(f, &(struct filter_subject){ "cc1", NULL, event, 1, 1, 0, NULL });
}

/* The scope is asked about once: the rest does not ask again. */
static void
scope_is_asked_once(void **state)
{
	struct filter *f = make(FILTER_OPTION_cpu, "0");
	const struct filter_subject s = { "cc1", NULL, "cycles", 1, 1, 3, NULL };
	const char *why;

	assert_int_equal(filter_set(f, FILTER_OPTION_event, "cs", &why), 0);
	assert_false(filter_scope(f, &s));
	assert_true(filter_sample(f, &s));
	filter_free(f);
}

static void
nothing_asked(void **state)
{
	struct filter *f = filter_new(NOW);

	assert_true(sample(f, "a", 1, 2, 3));
	assert_true(filter_leaf(f, "libc.so.6", "/lib/libc.so.6", NULL));
	assert_true(filter_mode(f, true) && filter_mode(f, false));
	assert_false(filter_given(f) || filter_by_cgroup(f) || filter_by_comm(f) ||
		     filter_by_leaf(f));
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
	/* a comma that is part of a name; a backslash before it takes the meaning from another one alone */
	f = make(FILTER_OPTION_comm, "a\\,b,c\\\\,d");
	assert_true(sample(f, "a,b", 1, 1, 0) && sample(f, "c\\", 1, 1, 0) &&
		    sample(f, "d", 1, 1, 0));
	assert_false(sample(f, "a", 1, 1, 0) || sample(f, "b", 1, 1, 0) || sample(f, "c", 1, 1, 0));
	filter_free(f);
	f = make(FILTER_OPTION_symbol, "operator\\,,f\\<,g");
	assert_true(filter_leaf(f, "x", "/x", "operator,") && filter_leaf(f, "x", "/x", "f<"));
	assert_true(filter_leaf(f, "x", "/x", "g"));
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

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void
units(void **state)
{
	struct filter *f = make(FILTER_OPTION_unit, "nginx,cron.service,php*");

	assert_true(filter_by_cgroup(f));
	assert_true(in_cgroup(f, "/system.slice/nginx.service"));
	assert_true(in_cgroup(f, "/system.slice/nginx.service/worker/1"));
	assert_true(in_cgroup(f, "/lxc/1/system.slice/cron.service"));
	assert_true(in_cgroup(f, "/system.slice/php8.2-fpm.service"));
	assert_false(in_cgroup(f, "/system.slice/old-nginx.service") ||
		     in_cgroup(f, "/system.slice/nginx.socket") || in_cgroup(f, "/nginx") ||
		     in_cgroup(f, "/system.slice") || in_cgroup(f, "/") || in_cgroup(f, NULL));
	/* A star stays within a component. */
	assert_false(in_cgroup(f, "/system.slice/x.service/php/y.service") &&
		     in_cgroup(f, "/a/xphp/b"));
	filter_free(f);
	/* Slices, scopes, a user's units, all instances and one of a template. */
	f = make(FILTER_OPTION_unit, "user-1000.slice,init.scope,getty@,foo@1");
	assert_true(in_cgroup(f, "/user.slice/user-1000.slice/session-3.scope"));
	assert_true(in_cgroup(f, "/init.scope"));
	assert_true(in_cgroup(f, "/system.slice/system-getty.slice/getty@tty1.service"));
	assert_true(in_cgroup(f, "/system.slice/foo@1.service"));
	assert_false(in_cgroup(f, "/user.slice/user-1001.slice/session-3.scope") ||
		     in_cgroup(f, "/system.slice/foo@2.service") ||
		     in_cgroup(f, "/system.slice/getty.service"));
	filter_free(f);
	f = make(FILTER_OPTION_unit, "firefox,cgroup");
	assert_true(
		in_cgroup(f, "/user.slice/user-1.slice/user@1.service/app.slice/firefox.service"));
	assert_true(in_cgroup(f, "/system.slice/_cgroup.service"));
	filter_free(f);
	f = make(FILTER_OPTION_unit, "-.slice");
	assert_true(in_cgroup(f, "/") && in_cgroup(f, "/system.slice/nginx.service"));
	assert_false(in_cgroup(f, NULL));
	filter_free(f);
	/* A path is one of groups. */
	f = make(FILTER_OPTION_unit, "/sys/fs/cgroup/system.slice/nginx.service,/docker");
	assert_true(in_cgroup(f, "/system.slice/nginx.service/x") && in_cgroup(f, "/docker/1"));
	assert_false(in_cgroup(f, "/x/docker/1"));
	filter_free(f);
	refused(FILTER_OPTION_unit, "");
	refused(FILTER_OPTION_unit, "a,,b");
}

static void
slices(void **state)
{
	struct filter *f = make(FILTER_OPTION_slice, "system,user-1*,nginx.service");
	const char *why;

	assert_true(filter_by_cgroup(f));
	assert_true(in_cgroup(f, "/system.slice/nginx.service/worker"));
	assert_true(in_cgroup(f, "/system.slice"));
	assert_true(in_cgroup(f, "/user.slice/user-1000.slice/session-3.scope"));
	assert_false(in_cgroup(f, "/user.slice/user-0.slice/session-1.scope") ||
		     in_cgroup(f, "/user.slice/user-1000x") || in_cgroup(f, "/system.service") ||
		     in_cgroup(f, "/") || in_cgroup(f, NULL));
	/* With --unit both have to hold. */
	assert_int_equal(filter_set(f, FILTER_OPTION_unit, "nginx", &why), 0);
	assert_true(in_cgroup(f, "/system.slice/nginx.service"));
	assert_false(in_cgroup(f, "/system.slice/cron.service") ||
		     in_cgroup(f, "/machine.slice/nginx.service"));
	filter_free(f);
	f = make(FILTER_OPTION_slice, "-");
	assert_true(in_cgroup(f, "/") && in_cgroup(f, "/system.slice/nginx.service"));
	filter_free(f);
	refused(FILTER_OPTION_slice, "");
}

static void
containers(void **state)
{
	/* As it is shown, in both options; by what docker ps says; and whole. */
	struct filter *f = make(FILTER_OPTION_unit, "docker-0123456789ab.scope");

	assert_true(in_cgroup(f, "/system.slice/docker-" ID ".scope"));
	assert_false(in_cgroup(f, "/system.slice/docker-1" ID ".scope"));
	filter_free(f);
	f = make(FILTER_OPTION_unit, "0123456789ab");
	assert_true(in_cgroup(f, "/system.slice/docker-" ID ".scope"));
	assert_true(in_cgroup(f, "/docker/" ID "/init"));
	assert_false(in_cgroup(f, "/docker/f1"));
	filter_free(f);
	f = make(FILTER_OPTION_cgroup, "/docker/0123456789ab");
	assert_true(in_cgroup(f, "/docker/" ID) && in_cgroup(f, "/docker/" ID "/init"));
	filter_free(f);
	f = make(FILTER_OPTION_unit, "docker-*");
	assert_true(in_cgroup(f, "/system.slice/docker-" ID ".scope"));
	filter_free(f);
}

/* Both options have to hold; what was asked before is remembered by those who ask. */
static void
cgroup_and_unit(void **state)
{
	struct filter *f = make(FILTER_OPTION_cgroup, "a.slice");
	struct cgroup_verdicts *v = cgroup_verdicts_new();
	const char *why;

	assert_int_equal(filter_set(f, FILTER_OPTION_unit, "x", &why), 0);
	for (int i = 0; i < 2; i++) {
		struct filter_subject s = { "a", "/a.slice/x.service", "cycles", 1, 1, 0, v };

		assert_true(filter_sample(f, &s));
		s.cgroup = "/b.slice/x.service";
		assert_false(filter_sample(f, &s));
		s.cgroup = "/a.slice/y.service";
		assert_false(filter_sample(f, &s));
	}
	cgroup_verdicts_free(v);
	filter_free(f);
}

static void
modes(void **state)
{
	struct filter *f = make(FILTER_OPTION_kernel, NULL);
	const char *why;

	assert_true(filter_by_leaf(f));
	assert_true(filter_mode(f, true) && !filter_mode(f, false));
	/* Both are everything. */
	assert_int_equal(filter_set(f, FILTER_OPTION_user, NULL, &why), 0);
	assert_true(filter_mode(f, true) && filter_mode(f, false));
	filter_free(f);
	f = make(FILTER_OPTION_user, NULL);
	assert_true(!filter_mode(f, true) && filter_mode(f, false));
	filter_free(f);
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

/* Counting the CPUs that are asked for says nothing of samples on them. */
static void
cpus_that_were_met(void **state)
{
	struct filter *f = make(FILTER_OPTION_cpu, "1,4-5");
	struct filter_unmet u;
	size_t cursor = 0;

	assert_true(filter_wants_cpu(f, 1) && filter_wants_cpu(f, 4) && filter_wants_cpu(f, 5));
	assert_false(filter_wants_cpu(f, 0) || filter_wants_cpu(f, 6));
	assert_true(filter_next_unmet(f, &cursor, &u));
	assert_int_equal(u.option, FILTER_OPTION_cpu);
	assert_string_equal(u.value, "1");
	assert_true(filter_next_unmet(f, &cursor, &u));
	assert_string_equal(u.value, "4-5");
	assert_true(sample(f, "a", 1, 1, 5));
	cursor = 1;
	assert_false(filter_next_unmet(f, &cursor, &u));
	filter_free(f);
	f = make(FILTER_OPTION_comm, "a");
	assert_true(filter_wants_cpu(f, 7));
	filter_free(f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scope_is_asked_once),
		cmocka_unit_test(nothing_asked),
		cmocka_unit_test(names),
		cmocka_unit_test(patterns),
		cmocka_unit_test(parts_of_symbols),
		cmocka_unit_test(symbols_with_commas),
		cmocka_unit_test(objects),
		cmocka_unit_test(cgroups),
		cmocka_unit_test(units),
		cmocka_unit_test(slices),
		cmocka_unit_test(containers),
		cmocka_unit_test(cgroup_and_unit),
		cmocka_unit_test(modes),
		cmocka_unit_test(numbers),
		cmocka_unit_test(cpus_that_were_met),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

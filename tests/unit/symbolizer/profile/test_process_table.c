/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes of a recording made here: which runtime they have, whether they ended, and how many samples lack names. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include <linux/perf_event.h>

#include "symbolizer/profile/profile.h"
#include "tests/lab/profile_add.h"
#include "tests/lab/synthetic.h"

#define JVM "/nowhere/java-17-openjdk/lib/server/libjvm.so"
#define CODE 0x10000 /* where code without a file is mapped */

static struct synthetic s;
static struct resolver *resolver;
static struct profile *profile;
static struct profile_options options;

static void
begin(void)
{
	synthetic_begin(&s, PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD);
	s.cpumode = PERF_RECORD_MISC_USER;
}

static void
build(void)
{
	static const struct resolver_options o = { .symfs = "/nonexistent" };

	synthetic_read(&s);
	options = (struct profile_options){ .leaf_only = true, .processes = true };
	resolver = resolver_new(&o);
	profile = profile_new(resolver, NULL, &options);
	assert_non_null(profile);
	assert_int_equal(profile_add(profile, &options, s.stream, NULL), 0);
}

static void
end(void)
{
	profile_free(profile);
	resolver_free(resolver);
	synthetic_end(&s);
}

static const struct sampled_process *
process(uint32_t pid)
{
	return process_table_find(profile_processes(profile), pid);
}

static void
sample(uint32_t pid, uint64_t ip, int times)
{
	for (int i = 0; i < times; i++)
		synthetic_sample(&s, pid, pid, ip, NULL, 0);
}

/* A copy by fork has its parent's maps, and no record of them. */
static void
runtimes(void **state)
{
	(void)state;
	begin();
	synthetic_comm(&s, 1, 1, "java");
	synthetic_map(&s, 1, 0x400000, 0x1000, JVM);
	synthetic_map(&s, 1, CODE, 0x1000, "//anon");
	sample(1, CODE + 0x10, 3);
	sample(1, 0x400010, 1);
	synthetic_fork(&s, 200, 200, 0);
	synthetic_comm(&s, 200, 200, "copy");
	sample(200, CODE + 0x10, 1);
	synthetic_comm(&s, 300, 300, "other");
	synthetic_map(&s, 300, CODE, 0x1000, "//anon");
	sample(300, CODE + 0x10, 1);
	synthetic_comm(&s, 400, 400, "quiet");
	synthetic_map(&s, 400, 0x400000, 0x1000, JVM);
	sample(400, 0x400010, 2);
	build();
	assert_string_equal(process(1)->comm, "java");
	assert_int_equal(process(1)->runtime.kind, RUNTIME_java);
	assert_int_equal(process(1)->runtime.version, RUNTIME_VERSION(17, 0));
	assert_int_equal(process(1)->samples, 4);
	assert_int_equal(process(1)->missing[RESOLVE_NOT_FILE], 3);
	assert_int_equal(process(1)->missing[RESOLVE_NO_FILE], 1);
	assert_int_equal(sampled_process_missing(process(1)), 4);
	assert_int_equal(sampled_process_runtime(process(1)), 3);
	assert_int_equal(process(200)->runtime.kind, RUNTIME_java);
	assert_string_equal(process(200)->comm, "copy");
	/* What it has mapped matters where code without a name ran. */
	assert_int_equal(process(300)->runtime.kind, RUNTIME_none);
	assert_int_equal(process(400)->runtime.kind, RUNTIME_none);
	assert_int_equal(process(400)->missing[RESOLVE_NO_FILE], 2);
	/* Who they are does not keep stacks apart that the report does not. */
	assert_int_equal(profile_stacks(profile), 5);
	end();
}

/* Several of one comm: a row of the profile, and two processes. */
static void
one_stack_of_two_processes(void **state)
{
	(void)state;
	begin();
	for (uint32_t pid = 100; pid < 102; pid++) {
		synthetic_comm(&s, pid, pid, "node");
		synthetic_map(&s, pid, 0x400000, 0x1000, "/usr/bin/node");
		synthetic_map(&s, pid, CODE, 0x1000, "//anon");
		sample(pid, CODE + 0x10, (int)(pid - 99));
	}
	synthetic_exit(&s, 101, 101);
	build();
	assert_int_equal(profile_stacks(profile), 1);
	assert_int_equal(process(100)->missing[RESOLVE_NOT_FILE], 1);
	assert_int_equal(process(101)->missing[RESOLVE_NOT_FILE], 2);
	assert_int_equal(process(101)->runtime.kind, RUNTIME_node);
	assert_false(process(100)->ended);
	assert_true(process(101)->ended);
	end();
}

static void
sorted_by_what_is_asked(void **state)
{
	struct process_table t = { .v = NULL };
	const struct sampled_process **list;
	size_t nr;

	(void)state;
	assert_int_equal(process_table_count(&t, 5, RESOLVE_NOT_FILE, false, 2), 0);
	assert_int_equal(process_table_count(&t, 6, RESOLVE_NO_FILE, false, 9), 0);
	assert_int_equal(process_table_count(&t, 7, RESOLVE_OK, true, 3), 0);
	assert_int_equal(process_table_count(&t, 8, RESOLVE_OK, false, 99), 0);
	assert_int_equal(process_table_sorted(&t, sampled_process_runtime, &list, &nr), 0);
	assert_int_equal(nr, 2);
	assert_int_equal(list[0]->pid, 7);
	assert_int_equal(list[1]->pid, 5);
	free(list);
	assert_int_equal(process_table_sorted(&t, sampled_process_all, &list, &nr), 0);
	assert_int_equal(nr, 3);
	assert_int_equal(list[0]->pid, 6);
	free(list);
	/* What an interpreter runs has names, where any are known. */
	process_table_named(&t, 7);
	assert_int_equal(process_table_sorted(&t, sampled_process_runtime, &list, &nr), 0);
	assert_int_equal(nr, 1);
	free(list);
	process_table_done(&t);
}

static void
no_more_than_there_is_room_for(void **state)
{
	struct process_table t = { .v = NULL };

	(void)state;
	for (uint32_t pid = 1; pid <= PROCESS_TABLE_MAX + 10; pid++)
		assert_int_equal(process_table_count(&t, pid, RESOLVE_NO_FILE, false, 2), 0);
	assert_int_equal(t.nr, PROCESS_TABLE_MAX);
	assert_int_equal(t.left_out_samples, 20);
	assert_int_equal(process_table_count(&t, 7, RESOLVE_NO_FILE, false, 2), 0);
	assert_int_equal(process_table_find(&t, 7)->samples, 4);
	process_table_done(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runtimes),
		cmocka_unit_test(one_stack_of_two_processes),
		cmocka_unit_test(sorted_by_what_is_asked),
		cmocka_unit_test(no_more_than_there_is_room_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

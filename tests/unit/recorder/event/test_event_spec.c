/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What -e strings become: as `perf evlist -v` shows them for the same strings (perf 6.1), but
 * that perf does not exclude guests once there is a modifier other than u.
 */
#include "recorder/event/event_spec.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { U = 1, K = 2, H = 4, I = 8, GUEST = 16, HOST = 32, PINNED = 64, EXCL = 128 };

/* x: what is excluded (U K H I GUEST HOST), and PINNED, EXCL */
static const struct row {
	const char *text;
	uint32_t type;
	uint64_t config;
	int x;
	unsigned precise;
	bool precise_max;
} rows[] = {
	{ "cycles", 0, 0, GUEST, 0, false },
	{ "cpu-cycles", 0, 0, GUEST, 0, false },
	{ "instructions:u", 0, 1, K | H | GUEST, 0, false },
	{ "cache-references", 0, 2, GUEST, 0, false },
	{ "cache-misses:k", 0, 3, U | H | GUEST, 0, false },
	{ "branches", 0, 4, GUEST, 0, false },
	{ "branch-instructions:h", 0, 4, U | K | GUEST, 0, false },
	{ "branch-misses", 0, 5, GUEST, 0, false },
	{ "bus-cycles", 0, 6, GUEST, 0, false },
	{ "stalled-cycles-frontend", 0, 7, GUEST, 0, false },
	{ "idle-cycles-backend", 0, 8, GUEST, 0, false },
	{ "ref-cycles", 0, 9, GUEST, 0, false },
	{ "cycles:P", 0, 0, GUEST, 0, true },
	{ "cycles:ppp", 0, 0, GUEST, 3, false },
	{ "cycles:upp", 0, 0, K | H | GUEST, 2, false },
	{ "cycles:uk", 0, 0, H | GUEST, 0, false },
	{ "cycles:G", 0, 0, HOST, 0, false },
	{ "cycles:HG", 0, 0, 0, 0, false },
	{ "cycles:D", 0, 0, GUEST | PINNED, 0, false },
	{ "cycles:e", 0, 0, GUEST | EXCL, 0, false },
	{ "cpu-clock", 1, 0, GUEST, 0, false },
	{ "cpu-clock:I", 1, 0, GUEST | I, 0, false },
	{ "cpu-clock:uI", 1, 0, K | H | GUEST | I, 0, false },
	{ "task-clock", 1, 1, GUEST, 0, false },
	{ "page-faults", 1, 2, GUEST, 0, false },
	{ "faults:u", 1, 2, K | H | GUEST, 0, false },
	{ "context-switches", 1, 3, GUEST, 0, false },
	{ "cs", 1, 3, GUEST, 0, false },
	{ "migrations", 1, 4, GUEST, 0, false },
	{ "minor-faults", 1, 5, GUEST, 0, false },
	{ "major-faults", 1, 6, GUEST, 0, false },
	{ "dummy", 1, 9, GUEST, 0, false },
	{ "cgroup-switches", 1, 11, GUEST, 0, false },
	{ "L1-dcache-loads", 3, 0, GUEST, 0, false },
	{ "L1-dcache-load-misses", 3, 0x10000, GUEST, 0, false },
	{ "L1-dcache-stores", 3, 0x100, GUEST, 0, false },
	{ "L1-dcache-prefetch-misses", 3, 0x10200, GUEST, 0, false },
	{ "L1-icache-load-misses:u", 3, 0x10001, K | H | GUEST, 0, false },
	{ "LLC-loads", 3, 2, GUEST, 0, false },
	{ "LLC-store-misses", 3, 0x10102, GUEST, 0, false },
	{ "dTLB-load-misses", 3, 0x10003, GUEST, 0, false },
	{ "iTLB-loads", 3, 4, GUEST, 0, false },
	{ "branch-loads", 3, 5, GUEST, 0, false },
	{ "node-prefetches", 3, 0x206, GUEST, 0, false },
	{ "r1a", 4, 0x1a, GUEST, 0, false },
	{ "r003c:k", 4, 0x3c, U | H | GUEST, 0, false },
	/* The PMU that setup() makes: see there. */
	{ "fake/event=0x3c/", 77, 0x3c, GUEST, 0, false },
	{ "fake/event=0x13c,umask=3/u", 77, 0x10000033cULL, K | H | GUEST, 0, false },
	{ "fake/edge/", 77, 1 << 18, GUEST, 0, false },
	{ "fake/stall/", 77, 0x4000000a2ULL & 0xfffff, GUEST, 0, false },
	{ "fake/config=0x1234/", 77, 0x1234, GUEST, 0, false },
	{ "stall", 77, 0xa2, GUEST, 0, false },
	{ "stall:u", 77, 0xa2, K | H | GUEST, 0, false },
	{ "stall:P", 77, 0xa2, GUEST, 0, true },
	{ "sched:fork", 2, 4711, GUEST, 0, false },
	{ "sched:fork:k", 2, 4711, U | H | GUEST, 0, false },
};

static const char *const refused[] = {
	"",
	"nosuch",
	"cycles:z",
	"cycles:pppp",
	"rxyz",
	"r",
	"cycles,,cs",
	"cycles,",
	"{cycles,cs}",
	"fake/nosuch/",
	"fake/event=0x10000000000/",
	"fake/event=x/",
	"nosuch/event=1/",
	"fake/event",
	"fake/round/",
	"sched:nosuch",
	"../x:y",
	"mem:",
	"mem:zz",
	"mem:0x10/3",
	"mem:0x10:q",
	"mem:0x10:rr",
	"mem:0x10:rx",
	"mem:0x10:wx",
	"mem:0x10:rwx",
	"mem:0x10/1:x",
	"mem:0x10:w:q",
	"stall:z",
	"bpf-output",
	"fake/period=0/",
	"../fake/event=1/",
	"fake/../type/",
	"off-cpu:u",
	"off-cpu/min=soon/",
	"off-cpu/freq=0/",
	"off-cpu/min=1ms",
};

static struct event_spec_roots roots;
static char root[] = "/tmp/spoor-spec.XXXXXX";

static void
write_file(const char *path, const char *text)
{
	char full[256];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(full, 0700);
		*p = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

#define PMU "bus/event_source/devices/fake/"

static int
setup(void **state)
{
	assert_non_null(mkdtemp(root));
	write_file(PMU "type", "77\n");
	write_file(PMU "format/event", "config:0-7,32-35\n");
	write_file(PMU "format/umask", "config:8-15\n");
	write_file(PMU "format/edge", "config:18\n");
	write_file(PMU "format/ldlat", "config1:0-15\n");
	write_file(PMU "events/stall", "event=0xa2\n");
	write_file(PMU "events/round", "round\n");
	write_file("events/sched/fork/id", "4711\n");
	roots = (struct event_spec_roots){ root, root };
	return 0;
}

static int
teardown(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

static void
check_row(const struct row *row, const struct event_spec *s)
{
	const struct perf_event_attr *a = &s->attr;
	int x = (a->exclude_user ? U : 0) | (a->exclude_kernel ? K : 0) | (a->exclude_hv ? H : 0) |
		(a->exclude_idle ? I : 0) | (a->exclude_guest ? GUEST : 0) |
		(a->exclude_host ? HOST : 0) | (a->pinned ? PINNED : 0) | (a->exclusive ? EXCL : 0);

	if (a->type != row->type || a->config != row->config || x != row->x ||
	    a->precise_ip != row->precise || s->precise_max != row->precise_max)
		fail_msg("%s: type %u config %#llx excluded %#x precise %u", row->text, a->type,
			 (unsigned long long)a->config, x, (unsigned)a->precise_ip);
	assert_string_equal(s->name, row->text);
	assert_int_equal(s->each, row->type == PERF_TYPE_TRACEPOINT);
	assert_int_equal(s->modified, x != GUEST || a->precise_ip || s->precise_max);
	assert_false(s->named);
}

static void
test_table(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct event_spec_list l = { 0 };
		char err[256] = "";

		if (event_spec_parse(rows[i].text, &roots, &l, err, sizeof(err)) < 0)
			fail_msg("%s: %s", rows[i].text, err);
		assert_int_equal(l.nr, 1);
		check_row(&rows[i], &l.specs[0]);
		event_spec_list_done(&l);
	}
}

static void
test_list(void **state)
{
	static const char text[] = "cycles:u,fake/event=1,umask=2/k,mem:0x1000/8:w,sched:fork,cs";
	struct event_spec_list l = { 0 };
	char err[256];

	assert_int_equal(event_spec_parse(text, &roots, &l, err, sizeof(err)), 0);
	assert_int_equal(event_spec_parse("faults", &roots, &l, err, sizeof(err)), 0);
	assert_int_equal(l.nr, 6);
	assert_string_equal(l.specs[1].name, "fake/event=1,umask=2/k");
	assert_int_equal(l.specs[1].attr.config, 0x201);
	assert_true(l.specs[1].attr.exclude_user);
	assert_int_equal(l.specs[5].attr.config, 2);
	event_spec_list_done(&l);
}

static void
test_terms(void **state)
{
	struct event_spec_list l = { 0 };
	char err[256];

	assert_int_equal(event_spec_parse("fake/event=1,ldlat=30,period=1000,name=loads/", &roots,
					  &l, err, sizeof(err)),
			 0);
	assert_string_equal(l.specs[0].name, "loads");
	assert_int_equal(l.specs[0].attr.config1, 30);
	assert_int_equal(l.specs[0].attr.sample_period, 1000);
	assert_false(l.specs[0].attr.freq);
	assert_true(l.specs[0].has_rate);
	assert_true(l.specs[0].named);
	event_spec_list_done(&l);
	assert_int_equal(event_spec_parse("fake/stall,freq=49/", &roots, &l, err, sizeof(err)), 0);
	assert_true(l.specs[0].attr.freq);
	assert_int_equal(l.specs[0].attr.sample_freq, 49);
	event_spec_list_done(&l);
}

/* Whatever -F and -c say of the others, each switch, or so many a second. */
static void
test_off_cpu(void **state)
{
	struct event_spec_list l = { 0 };
	char err[256];

	assert_int_equal(event_spec_parse("off-cpu,off-cpu/min=1ms,freq=99/,cs", &roots, &l, err,
					  sizeof(err)),
			 0);
	assert_int_equal(l.nr, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(l.specs[i].attr.type, PERF_TYPE_SOFTWARE);
		assert_int_equal(l.specs[i].attr.config, PERF_COUNT_SW_CONTEXT_SWITCHES);
		assert_int_equal(l.specs[i].attr.context_switch, i < 2);
		assert_int_equal(l.specs[i].has_rate, i < 2);
	}
	assert_true(!l.specs[0].attr.freq && l.specs[0].attr.sample_period == 1);
	assert_true(l.specs[1].attr.freq && l.specs[1].attr.sample_freq == 99);
	assert_string_equal(l.specs[1].name, "off-cpu/min=1ms,freq=99/");
	event_spec_list_done(&l);
	assert_int_equal(event_spec_parse("off-cpu/freq=soon/", &roots, &l, err, sizeof(err)),
			 -EINVAL);
	assert_non_null(strstr(err, "'freq=soon'"));
	event_spec_list_done(&l);
}

static void
test_breakpoints(void **state)
{
	static const struct {
		const char *text;
		uint64_t addr, len;
		uint32_t type;
		bool user_only;
	} bp[] = {
		{ "mem:0x1000", 0x1000, 4, HW_BREAKPOINT_RW, false },
		{ "mem:4096/1:w", 4096, 1, HW_BREAKPOINT_W, false },
		{ "mem:0x1000/8:rw:u", 0x1000, 8, HW_BREAKPOINT_RW, true },
		{ "mem:0xffffffff81000000:x", 0xffffffff81000000, sizeof(long), HW_BREAKPOINT_X,
		  false },
		{ "mem:0x10::u", 0x10, 4, HW_BREAKPOINT_RW, true },
		{ "mem:0x10:u", 0x10, 4, HW_BREAKPOINT_RW, true },
		{ "mem:0x10/8:x", 0x10, 8, HW_BREAKPOINT_X, false },
	};

	for (size_t i = 0; i < sizeof(bp) / sizeof(bp[0]); i++) {
		struct event_spec_list l = { 0 };
		char err[256];

		assert_int_equal(event_spec_parse(bp[i].text, &roots, &l, err, sizeof(err)), 0);
		assert_int_equal(l.specs[0].attr.type, PERF_TYPE_BREAKPOINT);
		assert_true(l.specs[0].attr.bp_addr == bp[i].addr);
		assert_int_equal(l.specs[0].attr.bp_len, bp[i].len);
		assert_int_equal(l.specs[0].attr.bp_type, bp[i].type);
		assert_int_equal(l.specs[0].attr.exclude_kernel, bp[i].user_only);
		assert_true(l.specs[0].each);
		event_spec_list_done(&l);
	}
}

static void
test_refused(void **state)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct event_spec_list l = { 0 };
		char err[256] = "";

		if (event_spec_parse(refused[i], &roots, &l, err, sizeof(err)) != -EINVAL)
			fail_msg("'%s' was not refused", refused[i]);
		assert_true(strlen(err) > 10);
		event_spec_list_done(&l);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),	cmocka_unit_test(test_list),
		cmocka_unit_test(test_terms),	cmocka_unit_test(test_breakpoints),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_off_cpu),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

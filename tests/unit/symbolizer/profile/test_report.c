/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/perf_event.h>

#include "symbolizer/export/folded.h"
#include "symbolizer/profile/report.h"
#include "tests/lab/profile_add.h"
#include "tests/lab/synthetic.h"

#define HAVE (PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)

/* Functions, each 0x100 bytes; modules stand for perf's, bash's and libc's files. */
#define FUNCTIONS(X)                                                                               \
	X(KERNEL_SCHEDULE, "", "schedule")                                                         \
	X(KERNEL_PAGE_FAULT, "", "page_fault")                                                     \
	X(KERNEL_SYS_PERF, "", "sys_perf_event_open")                                              \
	X(PERF_MAIN, "perf", "main")                                                               \
	X(PERF_RUN, "perf", "run_command")                                                         \
	X(PERF_RECORD, "perf", "cmd_record")                                                       \
	X(BASH_MAIN, "bash", "main")                                                               \
	X(BASH_XMALLOC, "bash", "xmalloc")                                                         \
	X(LIBC_MALLOC, "libc", "malloc")                                                           \
	X(LIBC_FREE, "libc", "free")

enum function {
#define X(id, module, name) id,
	FUNCTIONS(X)
#undef X
		NR_FUNCTIONS,
	NOTHING = -1,
};

static const struct {
	const char *module, *name;
} functions[] = {
#define X(id, module, name) { module, name },
	FUNCTIONS(X)
#undef X
};

static uint64_t
address(enum function f)
{
	return UINT64_C(0xffffffff81000000) + (uint64_t)f * 0x100;
}

/*
 * The samples of perf's own tests/hists_common.c and hists_cumulate.c: same tasks, same
 * chains (with xmalloc and malloc that call each other), 1000 events each.
 */
static const struct {
	uint32_t pid, tid;
	enum function chain[8]; /* leaf first, ended by NOTHING */
} fake[] = {
	{ 100, 100, { KERNEL_SCHEDULE, PERF_RUN, PERF_MAIN, NOTHING } },
	{ 100, 100, { PERF_MAIN, NOTHING } },
	{ 100, 100, { PERF_RECORD, PERF_RUN, PERF_MAIN, NOTHING } },
	{ 100, 100, { LIBC_MALLOC, PERF_RECORD, PERF_RUN, PERF_MAIN, NOTHING } },
	{ 100, 100, { LIBC_FREE, PERF_RECORD, PERF_RUN, PERF_MAIN, NOTHING } },
	{ 200, 200, { PERF_MAIN, NOTHING } },
	{ 200, 200, { KERNEL_PAGE_FAULT, KERNEL_SYS_PERF, PERF_RUN, PERF_MAIN, NOTHING } },
	{ 300, 300, { BASH_MAIN, NOTHING } },
	{ 300,
	  300,
	  { BASH_XMALLOC, LIBC_MALLOC, BASH_XMALLOC, LIBC_MALLOC, BASH_XMALLOC, BASH_MAIN,
	    NOTHING } },
	{ 300, 300, { KERNEL_PAGE_FAULT, LIBC_MALLOC, BASH_MAIN, NOTHING } },
};

static struct synthetic s;
static struct resolver *resolver;
static struct profile *profile;
static struct report *report;

static void
add_sample(uint32_t pid, uint32_t tid, const enum function *chain)
{
	uint64_t words[16] = { (uint64_t)PERF_CONTEXT_KERNEL };
	size_t n = 1;

	for (; chain[n - 1] != NOTHING; n++)
		words[n] = address(chain[n - 1]) + 4;
	synthetic_sample(&s, pid, tid, words[1], words, n);
}

static void
begin_with(uint64_t have)
{
	synthetic_begin(&s, have);
	for (int f = 0; f < NR_FUNCTIONS; f++)
		synthetic_ksym(&s, address((enum function)f), address((enum function)f) + 0x100,
			       functions[f].module, functions[f].name);
	synthetic_comm(&s, 100, 100, "perf");
	synthetic_comm(&s, 200, 200, "perf");
	synthetic_comm(&s, 300, 300, "bash");
}

static void
begin(void)
{
	begin_with(HAVE);
}

static void
add_fake(void)
{
	for (size_t i = 0; i < sizeof(fake) / sizeof(fake[0]); i++)
		add_sample(fake[i].pid, fake[i].tid, fake[i].chain);
}

static void
read_profile(const struct profile_options *po)
{
	struct fmt_where where = { 0 };

	synthetic_read(&s);
	resolver = resolver_new(NULL);
	assert_non_null(resolver);
	profile = profile_new(resolver, NULL, po);
	assert_non_null(profile);
	assert_int_equal(profile_add(profile, po, s.stream, &where), 0);
}

static const struct filter *filter;

static struct report_list
list(const char *text, enum report_column last)
{
	struct report_list l = { .n = 0 };
	const char *bad;
	size_t len;

	if (text)
		assert_int_equal(report_parse_list(text, last, &l, &bad, &len), 0);
	return l;
}

static void
choose(struct report_options *o, const char *sort, const char *fields, bool samples)
{
	const struct report_list s_list = list(sort, REPORT_KEYS_MAX),
				 f_list = list(fields, REPORT_COLUMNS_MAX);

	report_choose(o, &s_list, &f_list, samples);
}

static void
build(const char *keys, bool children)
{
	struct report_options o = { .children = children };
	struct profile_options po = { .filter = filter };

	choose(&o, keys, NULL, false);
	report_profile_options(&o, &po);
	read_profile(&po);
	assert_int_equal(report_build(profile, &o, &report), 0);
}

static void
end(void)
{
	report_free(report);
	report = NULL;
	profile_free(profile);
	resolver_free(resolver);
	synthetic_end(&s);
}

struct want {
	uint64_t total, self; /* samples */
	const char *comm, *dso, *symbol;
};

static const char *
text(size_t row, enum report_column key)
{
	return report_value(report, report_row_at(report, row), key).text;
}

static void
expect(const struct want *want, size_t n)
{
	assert_int_equal(report_section_at(report, 0)->nr, n);
	for (size_t i = 0; i < n; i++) {
		const struct report_row *row = report_row_at(report, i);

		if (row->total.samples != want[i].total || row->self.samples != want[i].self ||
		    row->total.period != want[i].total * 1000 ||
		    row->self.period != want[i].self * 1000 ||
		    strcmp(text(i, REPORT_comm), want[i].comm) ||
		    strcmp(text(i, REPORT_dso), want[i].dso) ||
		    strcmp(text(i, REPORT_sym), want[i].symbol))
			fail_msg("row %zu is %d %d %s %s %s", i, (int)row->total.samples,
				 (int)row->self.samples, text(i, REPORT_comm), text(i, REPORT_dso),
				 text(i, REPORT_sym));
	}
}

#define EXPECT(...)                                                                                \
	expect((const struct want[]){ __VA_ARGS__ },                                               \
	       sizeof((const struct want[]){ __VA_ARGS__ }) / sizeof(struct want))

#define KERNEL "[kernel.kallsyms]"

static void
flat(void **state)
{
	begin();
	add_fake();
	build("comm,dso,sym", false);
	assert_int_equal(report_sections(report), 1);
	assert_int_equal(report_section_at(report, 0)->weight.samples, 10);
	assert_int_equal(report_section_at(report, 0)->weight.period, 10000);
	EXPECT({ 2, 2, "perf", "[perf]", "main" }, { 1, 1, "bash", "[bash]", "main" },
	       { 1, 1, "bash", "[bash]", "xmalloc" }, { 1, 1, "bash", KERNEL, "page_fault" },
	       { 1, 1, "perf", KERNEL, "page_fault" }, { 1, 1, "perf", KERNEL, "schedule" },
	       { 1, 1, "perf", "[libc]", "free" }, { 1, 1, "perf", "[libc]", "malloc" },
	       { 1, 1, "perf", "[perf]", "cmd_record" });
	end();
}

static void
children(void **state)
{
	begin();
	add_fake();
	build("comm,dso,symbol", true);
	/* bash's xmalloc is thrice and malloc twice in one stack, and counted once */
	EXPECT({ 7, 2, "perf", "[perf]", "main" }, { 5, 0, "perf", "[perf]", "run_command" },
	       { 3, 1, "bash", "[bash]", "main" }, { 3, 1, "perf", "[perf]", "cmd_record" },
	       { 2, 0, "bash", "[libc]", "malloc" }, { 1, 1, "bash", "[bash]", "xmalloc" },
	       { 1, 1, "bash", KERNEL, "page_fault" }, { 1, 1, "perf", KERNEL, "page_fault" },
	       { 1, 1, "perf", KERNEL, "schedule" }, { 1, 1, "perf", "[libc]", "free" },
	       { 1, 1, "perf", "[libc]", "malloc" },
	       { 1, 0, "perf", KERNEL, "sys_perf_event_open" });
	end();
}

static void
fewer_keys(void **state)
{
	const struct report_row *row;

	begin();
	add_fake();
	build("comm", true);
	/* however many frames of it are in a stack, a command is there once */
	assert_int_equal(report_section_at(report, 0)->nr, 2);
	row = report_row_at(report, 0);
	assert_string_equal(text(0, REPORT_comm), "perf");
	assert_true(row->total.samples == 7 && row->self.samples == 7);
	assert_true(!text(0, REPORT_dso) && !text(0, REPORT_sym));
	end();

	begin();
	add_fake();
	build("dso", true);
	row = report_row_at(report, 0);
	assert_string_equal(text(0, REPORT_dso), "[perf]");
	assert_true(row->total.samples == 7 && row->self.samples == 3);
	end();

	begin();
	add_fake();
	build("pid,sym", false);
	/* main of 100 and of 200 are two rows; equal weights are in order of names */
	assert_string_equal(text(0, REPORT_sym), "cmd_record");
	assert_int_equal(report_value(report, report_row_at(report, 0), REPORT_pid).number, 100);
	assert_int_equal(report_section_at(report, 0)->nr, 10);
	end();
}

static void
two_events(void **state)
{
	begin();
	add_fake();
	s.event = 1;
	s.period = 3;
	add_sample(300, 300, fake[7].chain);
	build("comm,dso,sym", false);
	assert_int_equal(report_sections(report), 2);
	assert_int_equal(report_section_at(report, 0)->event, 0);
	assert_int_equal(report_section_at(report, 0)->nr, 9);
	assert_int_equal(report_section_at(report, 1)->event, 1);
	assert_int_equal(report_section_at(report, 1)->nr, 1);
	assert_int_equal(report_section_at(report, 1)->weight.period, 3);
	assert_int_equal(report_row_at(report, report_section_at(report, 1)->first)->event, 1);
	end();
}

/* Rows of a report by parent: "samples parent". */
static void
parents_are(const char *regex, bool with_children, const char *const *want, size_t n)
{
	struct report_options o = { .children = with_children };
	struct profile_options po = { .filter = NULL };
	char why[BOUNDED_REGEX_WHY_MAX], row[64];

	begin();
	add_fake();
	choose(&o, "parent", NULL, false);
	report_profile_options(&o, &po);
	assert_false(po.leaf_only);
	assert_int_equal(frame_regex_new(regex, why, &o.parent), 0);
	read_profile(&po);
	assert_int_equal(report_build(profile, &o, &report), 0);
	assert_int_equal(report_section_at(report, 0)->nr, n);
	for (size_t i = 0; i < n; i++) {
		snprintf(row, sizeof(row), "%d %s", (int)report_row_at(report, i)->self.samples,
			 text(i, REPORT_parent));
		assert_string_equal(row, want[i]);
	}
	frame_regex_free(o.parent);
	end();
}

static void
parents(void **state)
{
	static const char *const commands[] = { "5 [other]", "5 run_command" };
	static const char *const nearest[] = { "5 [other]", "2 cmd_record", "2 malloc",
					       "1 xmalloc" };
	static const char *const own[] = { "6 [other]", "3 malloc", "1 schedule" };
	static const char *const all[] = { "10 [other]" };
	char why[BOUNDED_REGEX_WHY_MAX] = "";
	struct frame_regex *re;

	parents_are("^run", false, commands, 2);
	parents_are("^run", true, commands, 2);
	parents_are("loc|_record$", false, nearest, 4);
	parents_are("^malloc$|^schedule", false, own, 3);
	parents_are("nothing", true, all, 1);
	assert_int_equal(frame_regex_new("a(", why, &re), -FMT_E_UNSUPPORTED);
	assert_true(*why);
}

static void
row_is(size_t i, uint64_t samples, const char *cgroup)
{
	assert_int_equal(report_row_at(report, i)->self.samples, samples);
	assert_string_equal(text(i, REPORT_cgroup), cgroup);
}

static void
cgroups(void **state)
{
	const char *why;
	struct filter *f;

	begin_with(HAVE | PERF_SAMPLE_CGROUP);
	synthetic_cgroup(&s, 7, "/a");
	s.cgroup = 7;
	add_fake();
	/* one that comes later, one with no name, and one that is called otherwise from here on */
	synthetic_cgroup(&s, 8, "/a/b");
	s.cgroup = 8;
	add_sample(100, 100, fake[1].chain);
	add_sample(100, 100, fake[1].chain);
	s.cgroup = 9;
	add_sample(100, 100, fake[1].chain);
	synthetic_cgroup(&s, 7, "/c");
	s.cgroup = 7;
	for (int i = 0; i < 3; i++)
		add_sample(100, 100, fake[1].chain);
	build("cgroup", false);
	assert_int_equal(report_section_at(report, 0)->nr, 4);
	row_is(0, 10, "/a");
	row_is(1, 3, "/c");
	row_is(2, 2, "/a/b");
	row_is(3, 1, "[unknown]");
	end();

	/* what is of one unit is one row */
	begin_with(HAVE | PERF_SAMPLE_CGROUP);
	synthetic_cgroup(&s, 8, "/system.slice/a.service");
	synthetic_cgroup(&s, 9, "/system.slice/a.service/worker");
	s.cgroup = 8;
	add_fake();
	s.cgroup = 9;
	add_fake();
	s.cgroup = 7;
	add_sample(100, 100, fake[1].chain);
	build("unit", false);
	assert_int_equal(report_section_at(report, 0)->nr, 2);
	assert_string_equal(text(0, REPORT_unit), "a.service");
	assert_int_equal(report_row_at(report, 0)->self.samples, 20);
	assert_string_equal(text(1, REPORT_unit), "[unknown]");
	end();

	/* a filter needs no key, and a key no filter */
	f = filter_new(0);
	assert_int_equal(filter_set(f, FILTER_OPTION_cgroup, "b", &why), 0);
	begin_with(HAVE | PERF_SAMPLE_CGROUP);
	synthetic_cgroup(&s, 8, "/a/b");
	add_fake();
	s.cgroup = 8;
	add_sample(100, 100, fake[1].chain);
	filter = f;
	build("comm", false);
	filter = NULL;
	assert_int_equal(report_section_at(report, 0)->weight.samples, 1);
	assert_null(text(0, REPORT_cgroup));
	assert_int_equal(profile_totals(profile)->filtered, 10);
	end();
	filter_free(f);

	/* samples of older kernels */
	begin();
	synthetic_cgroup(&s, 0, "/a");
	add_fake();
	build("cgroup", false);
	assert_int_equal(report_section_at(report, 0)->nr, 1);
	row_is(0, 10, "[unknown]");
	end();
}

static void
shares(void **state)
{
	const struct report_section *section;
	struct report_options o = { 0 };
	struct filter *f = filter_new(0);
	const char *why;

	/* bash's four of eleven on CPU 0; what CPU 1 has is not looked at */
	begin();
	add_fake();
	s.period = 7000;
	add_sample(300, 300, fake[7].chain);
	s.cpu = 1;
	add_sample(300, 300, fake[7].chain);
	assert_int_equal(filter_set(f, FILTER_OPTION_comm, "bash", &why), 0);
	assert_int_equal(filter_set(f, FILTER_OPTION_cpu, "0", &why), 0);
	filter = f;
	build("sym", false);
	filter = NULL;
	section = report_section_at(report, 0);
	assert_true(section->weight.samples == 4 && section->weight.period == 10000);
	assert_true(section->whole.samples == 11 && section->whole.period == 17000);
	assert_int_equal(profile_totals(profile)->filtered, 8);
	assert_string_equal(text(0, REPORT_sym), "main");
	assert_true(report_percent(report, section, &report_row_at(report, 0)->self) == 80);
	report_free(report);
	choose(&o, "sym", NULL, false);
	o.absolute = true;
	assert_int_equal(report_build(profile, &o, &report), 0);
	section = report_section_at(report, 0);
	assert_true(report_percent(report, section, &report_row_at(report, 0)->self) ==
		    100.0 * 8000 / 17000);
	end();
	filter_free(f);
	/* without a period samples count, and nothing is a share of nothing */
	assert_true(report_share(&(struct profile_weight){ 1, 0 },
				 &(struct profile_weight){ 4, 0 }) == 25);
	assert_true(report_share(&(struct profile_weight){ 0, 0 },
				 &(struct profile_weight){ 0, 0 }) == 0);
}

static void
by_period(void **state)
{
	begin();
	add_sample(100, 100, fake[1].chain);
	add_sample(100, 100, fake[1].chain);
	s.period = 5000;
	add_sample(100, 100, fake[2].chain);
	build("sym", false);
	assert_string_equal(text(0, REPORT_sym), "cmd_record");
	assert_int_equal(report_row_at(report, 0)->self.period, 5000);
	assert_int_equal(report_row_at(report, 1)->self.samples, 2);
	end();
}

static void
unknowns(void **state)
{
	begin();
	synthetic_map(&s, 100, 0x400000, 0x1000, "/nowhere/prog");
	s.cpumode = PERF_RECORD_MISC_USER;
	synthetic_sample(&s, 100, 100, 0x10, NULL, 0);
	synthetic_sample(&s, 100, 100, 0x400010, NULL, 0);
	synthetic_sample(&s, 100, 100, 0x400020, NULL, 0);
	build("comm,dso,sym", false);
	/* one row for all that is not known of an object */
	assert_int_equal(report_section_at(report, 0)->nr, 2);
	assert_string_equal(text(0, REPORT_dso), "prog");
	assert_null(text(0, REPORT_sym));
	assert_string_equal(text(1, REPORT_dso), "[unknown]");
	assert_int_equal(report_unknowns(report), 2);
	assert_string_equal(report_unknown_at(report, 0)->dso_path, "/nowhere/prog");
	assert_int_equal(report_unknown_at(report, 0)->miss, RESOLVE_NO_FILE);
	assert_int_equal(report_unknown_at(report, 0)->samples, 2);
	assert_int_equal(report_unknown_at(report, 1)->miss, RESOLVE_NO_MAP);
	end();
}

/* Spans of time: by share, or where they are the first column in their order. */
static void
times(void **state)
{
	static const char *const fields[] = { "overhead,time", "time,overhead" };
	static const uint64_t at[] = { 200309, 200400, 200401, 200409, 200500, 200599, 200200 };
	/* The span and the samples of a row. With a shift of 4, from 200196 to 200205, and so on. */
	static const uint64_t want[2][6][2] = {
		{ { 20040, 2 },
		  { 20020, 1 },
		  { 20031, 1 },
		  { 20041, 1 },
		  { 20050, 1 },
		  { 20060, 1 } },
		{ { 20020, 1 },
		  { 20031, 1 },
		  { 20040, 2 },
		  { 20041, 1 },
		  { 20050, 1 },
		  { 20060, 1 } },
	};

	for (size_t i = 0; i < 2; i++) {
		struct report_options o = { .quantum_ns = 10 };
		struct profile_options po = { .bucket_shift_ns = 4 };

		begin();
		for (size_t k = 0; k < sizeof(at) / sizeof(*at); k++) {
			s.now = at[k] - 1000; /* which it goes on by */
			add_sample(100, 100, fake[0].chain);
		}
		choose(&o, NULL, fields[i], false);
		report_profile_options(&o, &po);
		assert_int_equal(po.bucket_ns, 10);
		read_profile(&po);
		assert_int_equal(report_build(profile, &o, &report), 0);
		assert_int_equal(report_section_at(report, 0)->nr, 6);
		for (size_t k = 0; k < 6; k++) {
			const struct report_row *row = report_row_at(report, k);

			assert_int_equal(report_value(report, row, REPORT_time).number,
					 want[i][k][0]);
			assert_int_equal(row->self.samples, want[i][k][1]);
		}
		end();
	}
}

static void
empty(void **state)
{
	begin();
	build("comm,dso,sym", true);
	assert_int_equal(report_sections(report), 0);
	assert_int_equal(report_unknowns(report), 0);
	end();
}

static void
refused(const char *text, enum report_column last, const char *word)
{
	struct report_list l = { .n = 7 };
	const char *bad;
	size_t len;

	assert_int_equal(report_parse_list(text, last, &l, &bad, &len), -1);
	assert_int_equal(len, strlen(word));
	assert_memory_equal(bad, word, len);
	/* and nothing was changed */
	assert_int_equal(l.n, 7);
}

static void
keys(void **state)
{
	struct report_list l = list("sym,cpu", REPORT_KEYS_MAX);

	assert_true(l.n == 2 && l.v[0] == REPORT_sym && l.v[1] == REPORT_cpu && !l.more);
	assert_true(report_has(&l, REPORT_cpu) && !report_has(&l, REPORT_comm));
	l = list("+symbol,sample", REPORT_COLUMNS_MAX);
	assert_true(l.n == 2 && l.v[0] == REPORT_sym && l.v[1] == REPORT_sample && l.more);
	refused("comm,parents", REPORT_KEYS_MAX, "parents");
	refused("sym,symbol", REPORT_KEYS_MAX, "symbol");
	refused("", REPORT_KEYS_MAX, "");
	refused("+", REPORT_KEYS_MAX, "");
	refused("comm,", REPORT_KEYS_MAX, "");
	refused("com", REPORT_KEYS_MAX, "com");
	refused("comm,sample", REPORT_KEYS_MAX, "sample");
}

/* The order of columns; every key of them is a key. */
static void
chosen(const char *sort, const char *fields, bool children, bool samples, const char *want)
{
	struct report_options o = { .children = children };
	const struct report_list w = list(want, REPORT_COLUMNS_MAX);
	size_t nr_keys = 0;

	choose(&o, sort, fields, samples);
	assert_int_equal(o.columns.n, w.n);
	for (size_t i = 0; i < w.n; i++) {
		assert_int_equal(o.columns.v[i], w.v[i]);
		if (w.v[i] < REPORT_KEYS_MAX)
			assert_int_equal(o.keys.v[nr_keys++], w.v[i]);
	}
	assert_int_equal(o.keys.n, nr_keys);
	assert_int_equal(o.children, report_has(&w, REPORT_overhead_children));
}

static void
columns(void **state)
{
	chosen(NULL, NULL, false, false, "overhead,comm,dso,sym");
	chosen(NULL, NULL, true, true, "overhead_children,overhead,sample,comm,dso,sym");
	chosen("cgroup", NULL, false, true, "overhead,sample,cgroup");
	chosen("+cgroup,cpu", NULL, false, false, "overhead,comm,dso,sym,cgroup,cpu");
	chosen("+sym", NULL, false, false, "overhead,comm,dso,sym");
	/* as perf has them: all that is wanted, or more */
	chosen(NULL, "sample,comm,overhead", false, false, "sample,comm,overhead");
	chosen("sym,comm", "sample,comm", false, false, "sample,comm,sym");
	chosen(NULL, "+period", false, false, "overhead,period,comm,dso,sym");
	chosen("cpu", "+period,cpu", true, false, "overhead_children,overhead,period,cpu");
	chosen(NULL, "overhead", true, true, "overhead");
	chosen(NULL, "overhead_children,sym", false, false, "overhead_children,sym");
}

static void
folded(struct stack_export x, const char *want)
{
	char *got = NULL;
	size_t len;
	FILE *f = open_memstream(&got, &len);

	x.profile = profile;
	assert_int_equal(folded_write(&x, f), 0);
	fclose(f);
	assert_string_equal(got, want);
	free(got);
}

static void
folded_stacks(void **state)
{
	begin();
	synthetic_comm(&s, 100, 100, "a;b\n");
	synthetic_map(&s, 100, 0x400000, 0x1000, "/nowhere/prog");
	add_sample(100, 100, fake[0].chain);
	add_sample(300, 300, fake[8].chain);
	add_sample(300, 300, fake[9].chain);
	add_sample(300, 300, fake[8].chain);
	s.cpumode = PERF_RECORD_MISC_USER;
	synthetic_sample(&s, 100, 100, 0x400010, NULL, 0);
	synthetic_sample(&s, 100, 100, 0x10, NULL, 0);
	s.event = 1;
	synthetic_sample(&s, 100, 100, 0x10, NULL, 0);
	read_profile(&(struct profile_options){ 0 });
	folded((struct stack_export){ .event = 0 },
	       "a:b\\012;[prog] 1\n"
	       "a:b\\012;[unknown] 1\n"
	       "a:b\\012;main;run_command;schedule 1\n"
	       "bash;main;malloc;page_fault 1\n"
	       "bash;main;xmalloc;malloc;xmalloc;malloc;xmalloc 2\n");
	folded((struct stack_export){ .event = 0, .by_period = true, .annotate_kernel = true },
	       "a:b\\012;[prog] 1000\n"
	       "a:b\\012;[unknown] 1000\n"
	       "a:b\\012;main_[k];run_command_[k];schedule_[k] 1000\n"
	       "bash;main_[k];malloc_[k];page_fault_[k] 1000\n"
	       "bash;main_[k];xmalloc_[k];malloc_[k];xmalloc_[k];malloc_[k];xmalloc_[k] 2000\n");
	folded((struct stack_export){ .event = 1 }, "a:b\\012;[unknown] 1\n");
	end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flat),	      cmocka_unit_test(children),
		cmocka_unit_test(fewer_keys), cmocka_unit_test(two_events),
		cmocka_unit_test(by_period),  cmocka_unit_test(unknowns),
		cmocka_unit_test(times),      cmocka_unit_test(empty),
		cmocka_unit_test(keys),	      cmocka_unit_test(folded_stacks),
		cmocka_unit_test(cgroups),    cmocka_unit_test(parents),
		cmocka_unit_test(shares),     cmocka_unit_test(columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

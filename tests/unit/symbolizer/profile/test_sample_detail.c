/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows by what single samples, and single branches, have of their own. */
#include "symbolizer/profile/sample_detail.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <linux/perf_event.h>

#include "symbolizer/profile/report.h"
#include "tests/lab/profile_add.h"
#include "tests/lab/synthetic.h"

#define BASE UINT64_C(0xffffffff81000000)
#define MEMORY                                                                                     \
	(PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD | PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC |           \
	 PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_PHYS_ADDR |             \
	 PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE)
#define BRANCHES (PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD | PERF_SAMPLE_BRANCH_STACK)

static struct synthetic s;
static struct filter *filter;

static void
begin(uint64_t have)
{
	static const char *const names[] = { "first", "second", "third" };

	synthetic_begin(&s, have);
	for (unsigned i = 0; i < 3; i++)
		synthetic_ksym(&s, BASE + i * 0x100, BASE + (i + 1) * 0x100, "", names[i]);
	synthetic_comm(&s, 7, 7, "one");
	synthetic_comm(&s, 8, 8, "other");
	synthetic_map(&s, 7, 0x400000, 0x10000, "/nowhere/data");
}

static void
sample(uint32_t pid, unsigned function)
{
	synthetic_sample(&s, pid, pid, BASE + function * 0x100 + 8, NULL, 0);
}

static void
add_value(char *row, size_t size, const struct report *r, const struct report_row *of,
	  enum report_column key)
{
	const struct report_value v = report_value(r, of, key);
	const size_t len = strlen(row);

	if (report_is_detail(key))
		snprintf(row + len, size - len, " %llx", (unsigned long long)v.number);
	else if (key == REPORT_symbol_daddr)
		snprintf(row + len, size - len, " %s+%llx", v.text ? v.text : "",
			 (unsigned long long)v.number);
	else
		snprintf(row + len, size - len, " %s", v.text ? v.text : "-");
}

/* Rows are "samples period VALUE...", in the report's order. */
static void
expect_report(struct report_options *o, size_t raw_bytes, const char *const *want, size_t n)
{
	struct profile_options po = { .raw_bytes_max = raw_bytes, .filter = filter };
	struct resolver *resolver = resolver_new(NULL);
	struct fmt_where where = { 0 };
	struct profile *profile;
	struct report *report;
	char row[256];

	report_profile_options(o, &po);
	profile = profile_new(resolver, NULL, &po);
	assert_int_equal(profile_add(profile, &po, s.stream, &where), 0);
	assert_int_equal(report_build(profile, o, &report), 0);
	assert_int_equal(report_rows(report), n);
	for (size_t i = 0; i < n; i++) {
		const struct report_row *of = report_row_at(report, i);

		snprintf(row, sizeof(row), "%d %d", (int)of->self.samples, (int)of->self.period);
		for (size_t k = 0; k < o->columns.n; k++)
			if (o->columns.v[k] < REPORT_KEYS_MAX)
				add_value(row, sizeof(row), report, of, o->columns.v[k]);
		assert_string_equal(row, want[i]);
	}
	report_free(report);
	profile_free(profile);
	resolver_free(resolver);
}

/* In one raw profile, and in as many as there are samples. */
static void
expect(struct report_options o, const char *sort, const char *const *want, size_t n)
{
	struct report_list keys = { .n = 0 }, none = { .n = 0 };
	const char *bad;
	size_t len;

	if (sort)
		assert_int_equal(report_parse_list(sort, REPORT_KEYS_MAX, &keys, &bad, &len), 0);
	report_choose(&o, &keys, &none, false);
	synthetic_read(&s);
	expect_report(&o, 0, want, n);
	record_stream_close(s.stream);
	assert_int_equal(record_stream_open(s.reader, &s.stream), 0);
	expect_report(&o, 1, want, n);
	synthetic_end(&s);
}

#define EXPECT(options, sort, ...)                                                                 \
	expect((struct report_options)options, sort, (const char *const[]){ __VA_ARGS__ },         \
	       sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))
#define OPTIONS(...)                                                                               \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

static void
add_memory(void)
{
	const uint64_t l1 = PERF_MEM_S(LVL, L1) | PERF_MEM_S(LVL, HIT);

	begin(MEMORY);
	s.more = (struct perf_sample){ .addr = 0x400010,
				       .data_src = PERF_MEM_S(OP, LOAD) | l1,
				       .weight = 7 | UINT64_C(3) << 32,
				       .data_page_size = 4096 };
	sample(7, 0);
	s.more.data_src = PERF_MEM_S(OP, STORE) | l1; /* the level is the same */
	sample(7, 0);
	s.more.data_src = PERF_MEM_S(LVL, L3) | PERF_MEM_S(LOCK, LOCKED);
	s.more.weight = 50;
	sample(7, 1);
	s.more.addr = 0x400018;
	s.more.weight = 0;
	s.more.phys_addr = 0x1018;
	sample(8, 1); /* has no map */
	s.more.addr = UINT64_MAX - 15;
	s.more.transaction = PERF_TXN_CONFLICT;
	sample(7, 2);
}

static void
memory(void **state)
{
	add_memory();
	EXPECT(OPTIONS(0), "mem", "3 3000 800", "2 2000 140");
	add_memory();
	EXPECT(OPTIONS(0), "locked,weight,local_ins_lat", "2 2000 0 7 3", "2 2000 2000000 0 0",
	       "1 1000 2000000 32 0");
	add_memory();
	EXPECT(OPTIONS(0), "symbol_daddr,dso_daddr", "3 3000 +10 data", "1 1000 +400018 [unknown]",
	       "1 1000 +fffffffffffffff0 [kernel.kallsyms]");
	add_memory();
	EXPECT(OPTIONS(0), "dso_daddr,sym", "2 2000 data first", "1 1000 [unknown] second",
	       "1 1000 data second", "1 1000 [kernel.kallsyms] third");
	add_memory();
	EXPECT(OPTIONS(0), "phys_daddr,data_page_size,code_page_size,transaction",
	       "3 3000 0 1000 0 0", "1 1000 1018 1000 0 0", "1 1000 1018 1000 0 20");
}

/* Two samples of weight 7, one of 50, and two of none, which are 1 each. */
static void
weights(void **state)
{
	add_memory();
	EXPECT(OPTIONS(.mem_mode = true), "sym", "2 51 second", "2 14 first", "1 1 third");
}

static void
branch_stack(const uint64_t *entries, size_t n)
{
	s.more.branch.nr = n;
	s.more.branch.entries = span_of(entries, n * 24);
}

/* Two samples with three branches and one that has none, which is no row. */
static void
add_branches(void)
{
	const uint64_t two[] = { BASE + 4,     BASE + 0x100, SAMPLE_BRANCH_PREDICTED | 5 << 4,
				 BASE + 0x104, BASE + 0x200, SAMPLE_BRANCH_MISPREDICTED | 1 << 2 };
	const uint64_t one[] = { BASE + 8, BASE + 0x108, SAMPLE_BRANCH_PREDICTED | 5 << 4 };

	begin(BRANCHES);
	branch_stack(two, 2);
	sample(7, 2);
	branch_stack(one, 1);
	sample(8, 0);
	branch_stack(NULL, 0);
	sample(7, 0);
}

static void
branches(void **state)
{
	add_branches();
	EXPECT(OPTIONS(.branches = true), NULL, "1 1 one [kernel.kallsyms] first second 5",
	       "1 1 one [kernel.kallsyms] second third 0",
	       "1 1 other [kernel.kallsyms] first second 5");
	add_branches();
	EXPECT(OPTIONS(.branches = true), "symbol_from,symbol_to", "2 2 first second",
	       "1 1 second third");
	add_branches();
	EXPECT(OPTIONS(.branches = true), "mispredict,in_tx,abort,sym", "2 2 2 0 0 second",
	       "1 1 1 1 0 third");
	/* A sample is where it was taken all the same. */
	add_branches();
	EXPECT(OPTIONS(0), "sym", "2 2000 first", "1 1000 third");
}

/* What nobody wants is no row, and takes no place of another's. */
static void
filtered(void **state)
{
	const char *why;

	filter = filter_new(0);
	assert_int_equal(filter_set(filter, FILTER_OPTION_comm, "other", &why), 0);
	add_memory();
	EXPECT(OPTIONS(0), "symbol_daddr,mem", "1 1000 +400018 800");
	add_branches();
	EXPECT(OPTIONS(.branches = true), "symbol_from,sym", "1 1 first second");
	filter_free(filter);
	filter = filter_new(0);
	assert_int_equal(filter_set(filter, FILTER_OPTION_symbol, "third", &why), 0);
	add_branches();
	EXPECT(OPTIONS(.branches = true), "symbol_from", "1 1 second");
	filter_free(filter);
	filter = NULL;
}

static void
words(void **state)
{
	const struct perf_sample old = { .have = PERF_SAMPLE_WEIGHT,
					 .weight = UINT64_C(5) << 32 | 6 };
	const struct perf_branch b = { .flags = 0xffff << 4 };
	const uint32_t asked = 1u << SAMPLE_DETAIL_mem | 1u << SAMPLE_DETAIL_cycles;
	uint32_t list[4];

	assert_int_equal(sample_detail_of(SAMPLE_DETAIL_weight, &old, NULL), old.weight);
	assert_int_equal(sample_detail_of(SAMPLE_DETAIL_local_ins_lat, &old, NULL), 0);
	assert_int_equal(sample_detail_of(SAMPLE_DETAIL_cycles, &old, NULL), 0);
	assert_int_equal(sample_detail_of(SAMPLE_DETAIL_cycles, &old, &b), 0xffff);
	assert_int_equal(sample_detail_at(asked, SAMPLE_DETAIL_mem), 0);
	assert_int_equal(sample_detail_at(asked, SAMPLE_DETAIL_cycles), 2);
	sample_detail_put(list, 2, UINT64_C(0x123456789abcdef0));
	assert_int_equal(sample_detail_get(list, 2), UINT64_C(0x123456789abcdef0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory),   cmocka_unit_test(weights), cmocka_unit_test(branches),
		cmocka_unit_test(filtered), cmocka_unit_test(words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel names from several KSYMS blocks, and BPF programs that come and go. */
#include "symbolizer/resolve/kernel_symbols.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/block/ksyms.h"
#include "format/model/task_model.h"

static struct intern *strings;
static struct kernel_symbols *k;

static int
setup(void **state)
{
	strings = intern_new(INTERN_BYTES_MAX);
	k = kernel_symbols_new(strings);
	return strings == NULL || k == NULL;
}

static int
teardown(void **state)
{
	kernel_symbols_free(k);
	intern_free(strings);
	return 0;
}

struct row {
	uint64_t start, end;
	const char *module, *name;
};

static int
add(const struct row *rows, size_t n, size_t cut)
{
	struct buf b = { 0 };
	int error;

	ksyms_begin(&b);
	for (size_t i = 0; i < n; i++)
		ksyms_add(&b, rows[i].start, rows[i].end, rows[i].module, rows[i].name);
	assert_int_equal(le32dec(b.p), n);
	error = kernel_symbols_add_block(k, span_of(b.p, b.len - cut));
	buf_done(&b);
	return error;
}
#define ADD(...)                                                                                   \
	assert_int_equal(add((const struct row[]){ __VA_ARGS__ },                                  \
			     sizeof((const struct row[]){ __VA_ARGS__ }) / sizeof(struct row), 0), \
			 0)

static void
is(uint64_t address, const char *name, const char *dso)
{
	struct kernel_symbol s;

	if (name == NULL) {
		assert_false(kernel_symbols_find(k, address, &s));
		return;
	}
	assert_true(kernel_symbols_find(k, address, &s));
	assert_string_equal(s.name, name);
	assert_string_equal(s.dso, dso);
}

static void
ksymbol(uint64_t address, uint32_t len, uint16_t flags, const char *name)
{
	struct perf_record r = { .type = REC_KSYMBOL };

	r.ksymbol.addr = address;
	r.ksymbol.len = len;
	r.ksymbol.ksym_type = 1;
	r.ksymbol.flags = flags;
	r.ksymbol.name = name;
	assert_int_equal(kernel_symbols_apply(k, &r), 0);
}

static void
nothing_known(void **state)
{
	is(0xffffffff81000000, NULL, NULL);
}

static void
objects(void **state)
{
	ADD({ 0xffffffff81000000, 0xffffffff81000100, "", "_stext" },
	    { 0xffffffffc0001000, 0xffffffffc0001200, "ext4", "ext4_sync_file" },
	    { 0xffffffffc0002000, 0xffffffffc0002010, "bpf", "bpf_prog_6deef7357e7b4530_f" },
	    { 0xffffffffc0003000, 0xffffffffc0003010, "__builtin__ftrace", "ftrace_trampoline" });
	is(0xffffffff810000ff, "_stext", "[kernel.kallsyms]");
	is(0xffffffff81000100, NULL, NULL);
	is(0xffffffffc00011ff, "ext4_sync_file", "[ext4]");
	is(0xffffffffc0002000, "bpf_prog_6deef7357e7b4530_f", "bpf_prog_6deef7357e7b4530_f");
	is(0xffffffffc0003000, "ftrace_trampoline", "ftrace_trampoline");
	is(0, NULL, NULL);
	is(UINT64_MAX, NULL, NULL);
}

static void
is_frame(uint64_t ip, bool is_return, const char *name)
{
	struct kernel_symbol s;

	assert_true(kernel_symbols_find_frame(k, ip, is_return, &s));
	assert_string_equal(s.name, name);
}

static void
padding(void **state)
{
	ADD({ 0xffffffff81000000, 0xffffffff810000f0, "", "calls_at_its_end" },
	    { 0xffffffff810000f0, 0xffffffff81000100, "", "__pfx_goes_to" },
	    { 0xffffffff81000100, 0xffffffff81000200, "", "goes_to" },
	    { 0xffffffff81000200, 0xffffffff81000300, "", "unpadded" },
	    { 0xffffffff81000300, 0xffffffff81000310, "", "__pfx_not_recorded" },
	    { 0xffffffff81000400, 0xffffffff81000410, "", "__cfi_checked" },
	    { 0xffffffff81000410, 0xffffffff81000500, "", "checked" });
	is_frame(0xffffffff81000100, true, "goes_to");
	is_frame(0xffffffff81000100, false, "goes_to");
	is_frame(0xffffffff810000f8, true, "__pfx_goes_to");
	is_frame(0xffffffff810000ff, false, "__pfx_goes_to");
	is_frame(0xffffffff810000f0, true, "calls_at_its_end");
	is_frame(0xffffffff81000101, true, "goes_to");
	is_frame(0xffffffff81000200, true, "goes_to");
	is_frame(0xffffffff81000310, true, "not_recorded");
	is_frame(0xffffffff81000410, true, "checked");
}

static size_t
count(void)
{
	struct kernel_symbol s = { 0 };
	size_t n = 0;

	for (uint64_t at = 0; kernel_symbols_next(k, at, &s); at = s.start + 1)
		n++;
	return n;
}

static void
blocks_add_up(void **state)
{
	ADD({ 100, 110, "", "b" }, { 300, 310, "", "d" });
	is(100, "b", "[kernel.kallsyms]");
	is(200, NULL, NULL);
	ADD({ 50, 60, "", "a" }, { 100, 110, "", "b" }, { 200, 210, "", "c" });
	is(55, "a", "[kernel.kallsyms]");
	is(105, "b", "[kernel.kallsyms]");
	is(205, "c", "[kernel.kallsyms]");
	is(305, "d", "[kernel.kallsyms]");
	assert_int_equal(count(), 4);
}

static void
programs_come_and_go(void **state)
{
	ADD({ 1000, 1100, "", "kernel" });
	ksymbol(5000, 64, 0, "bpf_prog_1_one");
	is(5063, "bpf_prog_1_one", "bpf_prog_1_one");
	is(5064, NULL, NULL);
	ksymbol(5000, 64, 1, "bpf_prog_1_one");
	is(5000, NULL, NULL);
	ksymbol(5000, 32, 0, "bpf_prog_2_two");
	is(5031, "bpf_prog_2_two", "bpf_prog_2_two");
	is(5032, NULL, NULL);
	is(1000, "kernel", "[kernel.kallsyms]");
	/* Without a search between: the last word counts. */
	ksymbol(5000, 32, 1, "bpf_prog_2_two");
	ksymbol(5000, 16, 0, "bpf_prog_3_three");
	is(5015, "bpf_prog_3_three", "bpf_prog_3_three");
	is(5016, NULL, NULL);
}

static void
nonsense(void **state)
{
	ADD({ 600, 600, "", "empty" }, { 700, 701, "", "one" });
	is(600, NULL, NULL);
	is(700, "one", "[kernel.kallsyms]");
	ksymbol(UINT64_MAX - 4, 64, 0, "wraps");
	is(UINT64_MAX - 4, NULL, NULL);
}

/* Programs load while samples are resolved: a search is not paid for by all of them. */
static void
loads_and_searches_take_turns(void **state)
{
	for (uint64_t i = 0; i < 200000; i++) {
		ksymbol(i * 16, 16, 0, "prog");
		is(i * 16 + 15, "prog", "prog");
	}
	assert_int_equal(count(), 200000);
	for (uint64_t i = 0; i < 200000; i++) {
		ksymbol(i * 16, 16, 1, "prog");
		is(i * 16, NULL, NULL);
	}
	assert_int_equal(count(), 0);
}

/* A payload that is cut: what is before the cut counts, and it is said. */
static void
cut_blocks(void **state)
{
	static const struct row rows[] = { { 1, 2, "", "one" }, { 3, 4, "mod", "three" } };

	/* The second entry is 32 bytes; a block that ends before it is whole. */
	for (size_t cut = 1; cut < 32; cut++)
		assert_int_equal(add(rows, 2, cut), -FMT_E_CORRUPT);
	is(1, "one", "[kernel.kallsyms]");
	is(3, NULL, NULL);
	/* There was room for all. */
	assert_int_equal(kernel_symbols_left_out(k), 0);
}

static void
mmap_module(uint64_t address, uint64_t len, const char *name)
{
	const struct perf_mmap m = {
		.pid = TASK_PID_KERNEL, .addr = address, .len = len, .filename = name
	};

	assert_int_equal(kernel_symbols_map(k, &m), 0);
}

/* All symbols are known from the start; which of them are meant, the records say as they come. */
static void
modules_come_and_go(void **state)
{
	ADD({ 0xffffffffc0000000, 0xffffffffc0000100, "one", "one_read" },
	    { 0xffffffffc0000100, 0xffffffffc0009000, "one", "one_last" },
	    { 0xffffffffc0004000, 0xffffffffc0004080, "two", "two_read" });
	mmap_module(0xffffffff81000000, 0x2000000, "[kernel.kallsyms]_text");
	/* Nothing says that it is not there. */
	is(0xffffffffc0004000, "two_read", "[two]");
	mmap_module(0xffffffffc0000000, 0x8000, "[one]");
	is(0xffffffffc00000ff, "one_read", "[one]");
	is(0xffffffffc0007fff, "one_last", "[one]");
	is(0xffffffffc0004000, "one_last", "[one]");
	is(0xffffffffc0008000, NULL, NULL);
	ksymbol(0xffffffffc0000000, 0x8000, 1, "[one]");
	is(0xffffffffc0000000, NULL, NULL);
	is(0xffffffffc0004000, NULL, NULL);
	mmap_module(0xffffffffc0004000, 0x4000, "[two]");
	is(0xffffffffc0004000, "two_read", "[two]");
	is(0xffffffffc0004080, NULL, NULL);
	is(0xffffffffc0000000, NULL, NULL);
	/* And again, elsewhere. */
	ADD({ 0xffffffffc0100000, 0xffffffffc0100100, "one", "one_read" });
	mmap_module(0xffffffffc0100000, 0x8000, "[one]");
	is(0xffffffffc0100000, "one_read", "[one]");
	is(0xffffffffc0000000, NULL, NULL);
	/* Code that is no module's comes to a place that one had. */
	ksymbol(0xffffffffc0000040, 64, 0, "bpf_prog_1_one");
	is(0xffffffffc0000040, "bpf_prog_1_one", "bpf_prog_1_one");
	is(0xffffffffc0000080, NULL, NULL);
}

/* Another build of a module at the place of the one before, of which nothing else is left. */
static void
module_of_another_build(void **state)
{
	ADD({ 0xffffffffc0000000, 0xffffffffc0000100, "one", "before" },
	    { 0xffffffffc0000100, 0xffffffffc0000200, "one", "behind" });
	mmap_module(0xffffffffc0000000, 0x8000, "[one]");
	ksymbol(0xffffffffc0000000, 0x8000, 1, "[one]");
	mmap_module(0xffffffffc0000000, 0x8000, "[one]");
	ADD({ 0xffffffffc0000080, 0xffffffffc0000180, "one", "now" });
	is(0xffffffffc000007f, "before", "[one]");
	is(0xffffffffc0000080, "now", "[one]");
	is(0xffffffffc0000100, "now", "[one]");
	is(0xffffffffc000017f, "now", "[one]");
}

/* As recorders wrote them of kernels since 6.4, in any order: each up to the next. */
static void
maps_that_are_too_long(void **state)
{
	ADD({ 0xffffffffc0000000, 0xffffffffc0000100, "one", "one_read" },
	    { 0xffffffffc0004000, 0xffffffffc0004080, "two", "two_read" },
	    { 0xffffffffc0008000, 0xffffffffc0008080, "three", "three_read" });
	mmap_module(0xffffffffc0004000, 0x10000, "[two]");
	mmap_module(0xffffffffc0000000, 0x10000, "[one]");
	mmap_module(0xffffffffc0008000, 0x10000, "[three]");
	is(0xffffffffc0000000, "one_read", "[one]");
	is(0xffffffffc0004000, "two_read", "[two]");
	is(0xffffffffc0008000, "three_read", "[three]");
}

/* A program comes to where another one was, whose end was lost. */
static void
program_over_programs(void **state)
{
	ADD({ 5000, 5100, "bpf", "bpf_prog_1_one" }, { 5100, 5200, "bpf", "bpf_prog_2_two" },
	    { 5200, 5300, "bpf", "bpf_prog_3_three" });
	ksymbol(5050, 200, 0, "bpf_prog_4_four");
	is(5049, "bpf_prog_1_one", "bpf_prog_1_one");
	is(5100, "bpf_prog_4_four", "bpf_prog_4_four");
	is(5249, "bpf_prog_4_four", "bpf_prog_4_four");
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	static const struct CMUnitTest tests[] = {
		T(nothing_known),
		T(objects),
		T(padding),
		T(blocks_add_up),
		T(programs_come_and_go),
		T(modules_come_and_go),
		T(module_of_another_build),
		T(maps_that_are_too_long),
		T(program_over_programs),
		T(nonsense),
		T(cut_blocks),
		T(loads_and_searches_take_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

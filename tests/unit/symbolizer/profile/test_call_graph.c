/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call graphs of rows, and callers and callees of functions: the samples and expectations of perf's
 * tests/hists_cumulate.c, and of its other orders.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/perf_event.h>

#include "format/bytes/buf.h"
#include "symbolizer/profile/call_graph.h"
#include "symbolizer/profile/peek.h"
#include "tests/lab/profile_add.h"
#include "tests/lab/synthetic.h"

#define BASE UINT64_C(0xffffffff81000000)

static const char *const functions[] = { "main",    "run_command", "cmd_record", "malloc",
					 "free",    "schedule",	   "page_fault", "sys_perf",
					 "xmalloc", "bash_main" };
enum { MAIN, RUN, RECORD, MALLOC, FREE, SCHEDULE, FAULT, SYS_PERF, XMALLOC, BASH, END = -1 };

/* Leaf first; perf's, whose bash has xmalloc and malloc that call each other. */
static const int chains[][8] = {
	{ SCHEDULE, RUN, MAIN, END },
	{ MAIN, END },
	{ RECORD, RUN, MAIN, END },
	{ MALLOC, RECORD, RUN, MAIN, END },
	{ FREE, RECORD, RUN, MAIN, END },
	{ MAIN, END },
	{ FAULT, SYS_PERF, RUN, MAIN, END },
	{ BASH, END },
	{ XMALLOC, MALLOC, XMALLOC, MALLOC, XMALLOC, BASH, END },
	{ FAULT, MALLOC, BASH, END },
};

static struct synthetic s;
static struct resolver *resolver;
static struct profile *profile;
static struct report *report;
static struct call_graphs *graphs;

static void
begin(const char *keys, bool children, bool caller)
{
	struct report_options o = { .children = children, .graphs = true };
	const struct report_list none = { .n = 0 };
	struct fmt_where where = { 0 };
	struct profile_options po = { 0 };
	struct report_list sort;
	const char *bad;
	size_t len;

	synthetic_begin(&s, PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN);
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		synthetic_ksym(&s, BASE + i * 0x100, BASE + i * 0x100 + 0x100, "", functions[i]);
	synthetic_comm(&s, 100, 100, "perf");
	for (size_t i = 0; i < sizeof(chains) / sizeof(chains[0]); i++) {
		uint64_t words[16] = { (uint64_t)PERF_CONTEXT_KERNEL };
		size_t n = 1;

		/* Each from another address: a function is one node of a graph all the same. */
		for (; chains[i][n - 1] != END; n++)
			words[n] = BASE + (uint64_t)chains[i][n - 1] * 0x100 + 4 + i;
		synthetic_sample(&s, 100, 100, words[1], words, n);
	}
	synthetic_read(&s);
	assert_int_equal(report_parse_list(keys, REPORT_KEYS_MAX, &sort, &bad, &len), 0);
	report_choose(&o, &sort, &none, false);
	report_profile_options(&o, &po);
	resolver = resolver_new(NULL);
	profile = profile_new(resolver, NULL, &po);
	assert_int_equal(profile_add(profile, &po, s.stream, &where), 0);
	assert_int_equal(report_build(profile, &o, &report), 0);
	assert_int_equal(call_graphs_new(profile, report, &o, caller, &graphs), 0);
	assert_true(call_graphs_any(graphs));
}

static void
end(void)
{
	call_graphs_free(graphs);
	report_free(report);
	profile_free(profile);
	resolver_free(resolver);
	synthetic_end(&s);
}

/* "main 5(self 1) [run 2 ...]" of the nodes below at. */
static void
describe(const struct call_tree *t, uint32_t at, struct buf *out)
{
	char text[64];

	for (at = call_tree_node(t, at)->first_child; at != CALL_TREE_NONE;
	     at = call_tree_node(t, at)->next) {
		const struct call_node *n = call_tree_node(t, at);

		snprintf(text, sizeof(text), "%s %d/%d",
			 n->frame == CALL_TREE_NONE ? n->comm
						    : profile_frame(profile, n->frame)->symbol,
			 (int)n->total.samples, (int)n->self.samples);
		buf_text(out, text);
		if (n->first_child != CALL_TREE_NONE) {
			buf_text(out, "(");
			describe(t, at, out);
			buf_text(out, ")");
		}
		if (n->next != CALL_TREE_NONE)
			buf_text(out, " ");
	}
}

static void
graph_is(const char *symbol, const char *want)
{
	struct call_tree *t;
	struct buf got;

	for (size_t i = 0; i < report_rows(report); i++) {
		if (strcmp(report_value(report, report_row_at(report, i), REPORT_sym).text,
			   symbol) != 0)
			continue;
		buf_init(&got);
		assert_int_equal(call_graphs_tree(graphs, i, &t), 0);
		describe(t, CALL_TREE_ROOT, &got);
		buf_u8(&got, 0);
		assert_string_equal((const char *)got.p, want);
		assert_int_equal(call_tree_node(t, CALL_TREE_ROOT)->total.samples,
				 report_row_at(report, i)->total.samples);
		call_tree_free(t);
		buf_done(&got);
		return;
	}
	fail_msg("no row of %s", symbol);
}

/* perf's test4: children, callee. */
static void
children_callee(void **state)
{
	begin("comm,sym", true, false);
	graph_is("main", "main 7/7");
	graph_is("run_command", "run_command 5/0(main 5/5)");
	graph_is("cmd_record", "cmd_record 3/0(run_command 3/0(main 3/3))");
	/* Of bash's two mallocs in a stack the inner one. */
	graph_is("malloc",
		 "malloc 3/0(bash_main 1/1 cmd_record 1/0(run_command 1/0(main 1/1)) "
		 "xmalloc 1/0(malloc 1/0(xmalloc 1/0(bash_main 1/1))))");
	graph_is("xmalloc",
		 "xmalloc 1/0(malloc 1/0(xmalloc 1/0(malloc 1/0(xmalloc 1/0("
		 "bash_main 1/1)))))");
	graph_is("page_fault",
		 "page_fault 2/0(malloc 1/0(bash_main 1/1) "
		 "sys_perf 1/0(run_command 1/0(main 1/1)))");
	graph_is("sys_perf", "sys_perf 1/0(run_command 1/0(main 1/1))");
	end();
}

/* From a row to what it called, and to it where it was sampled. */
static void
children_caller(void **state)
{
	begin("comm,sym", true, true);
	graph_is("run_command",
		 "run_command 5/0(cmd_record 3/1(free 1/1 malloc 1/1) schedule 1/1 "
		 "sys_perf 1/0(page_fault 1/1))");
	graph_is("cmd_record",
		 "cmd_record 2/0(free 1/1 malloc 1/1) "
		 "main 1/0(run_command 1/0(cmd_record 1/1))");
	/* The outer one of a stack; and the whole stack of the other, that ends in it. */
	graph_is("malloc",
		 "malloc 2/0(page_fault 1/1 xmalloc 1/0(malloc 1/0(xmalloc 1/1))) "
		 "main 1/0(run_command 1/0(cmd_record 1/0(malloc 1/1)))");
	graph_is("xmalloc",
		 "bash_main 1/0(xmalloc 1/0(malloc 1/0(xmalloc 1/0(malloc 1/0("
		 "xmalloc 1/1)))))");
	end();
}

static void
flat(void **state)
{
	begin("comm,sym", false, false);
	graph_is("main", "main 2/2");
	graph_is("page_fault",
		 "page_fault 2/0(malloc 1/0(bash_main 1/1) "
		 "sys_perf 1/0(run_command 1/0(main 1/1)))");
	end();
	begin("comm,sym", false, true);
	graph_is("page_fault",
		 "bash_main 1/0(malloc 1/0(page_fault 1/1)) "
		 "main 1/0(run_command 1/0(sys_perf 1/0(page_fault 1/1)))");
	end();
	/* Frames of one function apart, for the sake of rows: all 30, but for xmalloc and malloc in their stack. */
	begin("address,sym", true, false);
	assert_int_equal(report_rows(report), 27);
	graph_is("cmd_record", "cmd_record 1/0(run_command 1/0(main 1/1))");
	end();
}

/* Rows of everything, and in no order. */
static void
any_order(void **state)
{
	begin("comm", true, false);
	assert_int_equal(report_rows(report), 1);
	end();
	begin("comm,sym", true, false);
	graph_is("sys_perf", "sys_perf 1/0(run_command 1/0(main 1/1))");
	graph_is("run_command", "run_command 5/0(main 5/5)");
	end();
}

static void
tree_is(bool inverted, double percent, const struct profile_weight *of, const char *want)
{
	struct call_tree *t;
	struct buf got;

	buf_init(&got);
	assert_int_equal(call_tree_build(profile, 0, inverted, percent, of, &t), 0);
	describe(t, CALL_TREE_ROOT, &got);
	buf_u8(&got, 0);
	assert_string_equal((const char *)got.p, want);
	/* What is too small to be there counts above it all the same. */
	assert_int_equal(call_tree_node(t, CALL_TREE_ROOT)->total.samples, 10);
	call_tree_free(t);
	buf_done(&got);
}

static void
trees(void **state)
{
	struct profile_weight twice;
	struct call_tree *t;

	begin("comm,sym", true, false);
	twice = profile_event_whole(profile, 0);
	profile_weigh(&twice, &(struct profile_weight){ twice.samples, twice.period });
	tree_is(false, 0, NULL,
		"perf 10/0(main 7/2(run_command 5/0(cmd_record 3/1(free 1/1 malloc 1/1) "
		"schedule 1/1 sys_perf 1/0(page_fault 1/1))) "
		"bash_main 3/1(malloc 1/0(page_fault 1/1) "
		"xmalloc 1/0(malloc 1/0(xmalloc 1/0(malloc 1/0(xmalloc 1/1))))))");
	tree_is(false, 20, NULL,
		"perf 10/0(main 7/2(run_command 5/0(cmd_record 3/1)) bash_main 3/1)");
	/* Equal is not below. */
	tree_is(false, 30, NULL,
		"perf 10/0(main 7/2(run_command 5/0(cmd_record 3/1)) bash_main 3/1)");
	tree_is(false, 30.01, NULL, "perf 10/0(main 7/2(run_command 5/0))");
	tree_is(false, 15, &twice,
		"perf 10/0(main 7/2(run_command 5/0(cmd_record 3/1)) bash_main 3/1)");
	tree_is(false, 20, &twice, "perf 10/0(main 7/2(run_command 5/0))");
	tree_is(false, 100.01, NULL, "");
	tree_is(true, 20, NULL, "main 2/0(perf 2/2) page_fault 2/0");
	/* Only what stays is kept. */
	assert_int_equal(call_tree_build(profile, 0, true, 20, NULL, &t), 0);
	assert_int_equal(call_tree_nodes(t), 4);
	call_tree_free(t);
	/* Of another event there is nothing. */
	assert_int_equal(call_tree_build(profile, -1, false, 20, NULL, &t), 0);
	assert_int_equal(call_tree_nodes(t), 1);
	call_tree_free(t);
	end();
}

/* "name total/self: callers; callees" of the i-th function. */
static void
peek_is(const struct peek *k, size_t i, const char *want)
{
	const struct peek_function *f = peek_function(k, i);
	struct buf got;
	char text[64];

	buf_init(&got);
	snprintf(text, sizeof(text), "%s %d/%d:", profile_frame(profile, f->frame)->symbol,
		 (int)f->total.samples, (int)f->self.samples);
	buf_text(&got, text);
	for (size_t c = 0; c < f->nr_callers + f->nr_callees; c++) {
		const struct peek_call *call =
			peek_call(k,
				  c < f->nr_callers ? f->first_caller + c
						    : f->first_callee + c - f->nr_callers);

		snprintf(text, sizeof(text), "%s %s %d", c == f->nr_callers ? ";" : "",
			 profile_frame(profile, call->frame)->symbol, (int)call->weight.samples);
		buf_text(&got, text);
	}
	buf_u8(&got, 0);
	assert_string_equal((const char *)got.p, want);
	buf_done(&got);
}

/* As pprof counts: a function and a call once a stack. */
static void
peeks(void **state)
{
	char why[BOUNDED_REGEX_WHY_MAX];
	struct frame_regex *re;
	struct peek *k;

	begin("comm,sym", true, false);
	assert_int_equal(frame_regex_new("malloc$|^main$", why, &re), 0);
	assert_int_equal(peek_new(profile, 0, re, &k), 0);
	assert_int_equal(peek_whole(k).samples, 10);
	assert_int_equal(peek_functions(k), 3);
	peek_is(k, 0, "main 7/2:; run_command 5");
	peek_is(k, 1, "malloc 3/1: bash_main 1 cmd_record 1 xmalloc 1; page_fault 1 xmalloc 1");
	peek_is(k, 2, "xmalloc 1/1: bash_main 1 malloc 1; malloc 1");
	peek_free(k);
	frame_regex_free(re);
	assert_int_equal(frame_regex_new("^nothing", why, &re), 0);
	assert_int_equal(peek_new(profile, 0, re, &k), 0);
	assert_int_equal(peek_functions(k), 0);
	peek_free(k);
	/* Of another event there is nothing. */
	assert_int_equal(peek_new(profile, -1, re, &k), 0);
	assert_int_equal(peek_whole(k).samples, 0);
	peek_free(k);
	frame_regex_free(re);
	end();
}

static void
parse(void **state)
{
	static const char *const bad[] = { "",	 ",",	"graph,",     "sideways", "graph,101",
					   "-1", "nan", "graph,1,2x", "callers",  "0.5,4294967296" };
	struct call_graph_options o = CALL_GRAPH_DEFAULT;
	const char *at;
	size_t len;

	assert_true(o.mode == CALL_GRAPH_NONE && !o.order_given);
	assert_int_equal(call_graph_parse("callee", &o, &at, &len), 0);
	assert_true(o.mode == CALL_GRAPH_GRAPH && o.order_given && !o.caller);
	assert_int_equal(call_graph_parse("fr,2.5,7,caller,count", &o, &at, &len), 0);
	assert_true(o.mode == CALL_GRAPH_FRACTAL && o.caller && o.value == CALL_GRAPH_COUNT);
	assert_true(o.percent_limit == 2.5 && o.print_limit == 7);
	assert_int_equal(call_graph_parse(CALL_GRAPH_TEXT, &o, &at, &len), 0);
	assert_true(o.mode == CALL_GRAPH_GRAPH && o.percent_limit == 0.5);
	assert_int_equal(call_graph_parse("none", &o, &at, &len), 0);
	assert_int_equal(o.mode, CALL_GRAPH_NONE);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(call_graph_parse(bad[i], &o, &at, &len), -1);
	assert_int_equal(o.mode, CALL_GRAPH_NONE);
	assert_int_equal(call_graph_parse("flat,what,1", &o, &at, &len), -1);
	assert_true(len == 4 && strncmp(at, "what", 4) == 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(children_callee),
		cmocka_unit_test(children_caller),
		cmocka_unit_test(flat),
		cmocka_unit_test(any_order),
		cmocka_unit_test(trees),
		cmocka_unit_test(peeks),
		cmocka_unit_test(parse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

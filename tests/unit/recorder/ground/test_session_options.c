/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/ground/session_options.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct {
	const char *text;
	int result, how;
	uint32_t bytes;
} rows[] = {
	{ "fp", 0, SESSION_CALL_GRAPH_FP, 0 },
	{ "none", 0, SESSION_CALL_GRAPH_NONE, 0 },
	{ "no", 0, SESSION_CALL_GRAPH_NONE, 0 },
	{ "dwarf", 0, SESSION_CALL_GRAPH_DWARF, 0 },
	{ "dwarf,8", 0, SESSION_CALL_GRAPH_DWARF, 8 },
	{ "dwarf,65528", 0, SESSION_CALL_GRAPH_DWARF, 65528 },
	{ "", -EINVAL, 0, 0 },
	{ "lbr", 0, SESSION_CALL_GRAPH_LBR, 0 },
	{ "fp,127", 0, SESSION_CALL_GRAPH_FP, 0 },
	{ "fp,", -EINVAL, 0, 0 },
	{ "fp,0", -EINVAL, 0, 0 },
	{ "fp,65536", -EINVAL, 0, 0 },
	{ "lbr,8", -EINVAL, 0, 0 },
	{ "dwarf8", -EINVAL, 0, 0 },
	{ "dwarf,", -EINVAL, 0, 0 },
	{ "dwarf,0", -EINVAL, 0, 0 },
	{ "dwarf,-8", -EINVAL, 0, 0 },
	{ "dwarf,1001", -EINVAL, 0, 0 },
	{ "dwarf,65536", -EINVAL, 0, 0 },
	{ "dwarf,8 ", -EINVAL, 0, 0 },
};

static void
test_call_graph(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct session_options o = { .call_graph = SESSION_CALL_GRAPH_FP,
					     .stack_bytes = 16 };
		const struct session_options before = o;
		int result = session_call_graph_parse(rows[i].text, &o);

		if (result != rows[i].result)
			fail_msg("'%s' gives %d", rows[i].text, result);
		assert_int_equal(o.call_graph, result < 0 ? (int)before.call_graph : rows[i].how);
		assert_int_equal(o.extra.max_stack, strcmp(rows[i].text, "fp,127") == 0 ? 127 : 0);
		assert_int_equal(o.stack_bytes, result < 0 ? before.stack_bytes : rows[i].bytes);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_call_graph) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

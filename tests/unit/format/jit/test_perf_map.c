/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "format/jit/jit_table.h"
#include "format/jit/perf_map.h"

static struct span
text_of(const char *text)
{
	return span_of(text, strlen(text));
}

static void
expect(struct span *text, uint64_t start, uint64_t size, const char *name)
{
	struct perf_map_line line;

	assert_true(perf_map_next(text, &line));
	assert_int_equal(line.start, start);
	assert_int_equal(line.size, size);
	assert_int_equal(line.name_len, strlen(name));
	assert_memory_equal(line.name, name, line.name_len);
}

static void
test_lines(void **state)
{
	struct span text = text_of("7f00 20 JS:*fib /a b.js:1:13\n"
				   "0x00007FAB 0xc0 void Fib.main(String[])\r\n"
				   "ffffffffffffff00 ff last\n");
	struct perf_map_line line;

	expect(&text, 0x7f00, 0x20, "JS:*fib /a b.js:1:13");
	expect(&text, 0x7fab, 0xc0, "void Fib.main(String[])");
	expect(&text, UINT64_C(0xffffffffffffff00), 0xff, "last");
	assert_false(perf_map_next(&text, &line));
}

/* What is no line costs itself alone. */
static void
test_bad_lines(void **state)
{
	static const char bytes[] = "\n1\n1 \n1 2\n1 2 \nx 2 n\n1 x n\n-1 2 n\n 1 2 n\n1 0 empty\n"
				    "11112222333344445 1 long\nfffffffffffffff0 10 wraps\n0x 1 n\n"
				    "10 2 cut\0off\n30 2 good\n40 2 unfinished";
	struct span text = span_of(bytes, sizeof(bytes) - 1);
	struct perf_map_line line;

	expect(&text, 0x10, 2, "cut");
	expect(&text, 0x30, 2, "good");
	assert_false(perf_map_next(&text, &line));
}

static void
test_long_name(void **state)
{
	static char text[2 * JIT_NAME_MAX];
	struct span s = span_of(text, sizeof(text));
	struct perf_map_line line;

	memset(text, 'n', sizeof(text));
	memcpy(text, "1 2 ", 4);
	assert_false(perf_map_next(&s, &line));
	text[sizeof(text) - 1] = '\n';
	assert_true(perf_map_next(&s, &line));
	assert_int_equal(line.name_len, JIT_NAME_MAX);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_bad_lines),
		cmocka_unit_test(test_long_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

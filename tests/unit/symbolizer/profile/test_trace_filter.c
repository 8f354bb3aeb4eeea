/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields by name, and samples by what is in them. */
#include "symbolizer/profile/trace_filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "symbolizer/profile/trace_fields.h"

static const char format[] =
	"sched\nname: sched_switch\nID: 3\nformat:\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:char prev_comm[4];\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:int prev_prio;\toffset:12;\tsize:4;\tsigned:1;\n"
	"\tfield:int far;\toffset:16;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n";
static const uint8_t bytes[16] = "\3\0\0\0\7\0\0\0sh\0\0\xff\xff\xff\xff";

static struct tracepoint *
made(void)
{
	struct tracepoint *t = NULL;

	assert_int_equal(tracepoint_parse(format, &t), 0);
	return t;
}

static void
expect_text(const char *list, const char *text)
{
	struct tracepoint *t = made();
	struct buf out;

	buf_init(&out);
	trace_fields_text(list, t, span_of(bytes, sizeof(bytes)), &out);
	buf_u8(&out, 0);
	assert_string_equal((const char *)out.p, text);
	buf_done(&out);
	tracepoint_free(t);
}

static void
test_fields(void **state)
{
	assert_true(trace_fields_is_one("a.b", 3));
	assert_true(trace_fields_is_one("a:b.c", 5));
	assert_false(trace_fields_is_one("a.", 2));
	assert_false(trace_fields_is_one(".b", 2));
	assert_false(trace_fields_is_one("ab.c", 2));
	expect_text("sched_switch.prev_comm", "sh");
	expect_text("sched:sched_switch.prev_prio", "-1");
	expect_text("*.common_pid", "7");
	expect_text("sched_switch.prev_prio,*.prev_comm", "prev_prio=-1 prev_comm=sh");
	expect_text("other.prev_comm,*.prev_comm", "prev_comm=sh");
	expect_text("sched_switch.far", ""); /* it lies behind the bytes */
	expect_text("sched_switch.nosuch", "");
	expect_text("sched_switc.prev_comm", "");
	expect_text("sched.prev_comm", "");
	expect_text("sched:.prev_comm", "");
	expect_text("irq:sched_switch.prev_comm", "");
	expect_text("", "");
}

/* Does a filter of these options, up to a NULL, have the sample? */
static bool
has(const char *const *options)
{
	struct trace_filter f = { 0 };
	struct tracepoint *t = made();
	const char *why = NULL;
	bool result;

	for (; *options; options++)
		assert_int_equal(trace_filter_add(&f, *options, &why), 0);
	result = trace_filter_has(&f, t, span_of(bytes, sizeof(bytes)));
	/* Of no tracepoint there are no fields. */
	assert_int_equal(trace_filter_has(&f, NULL, span_of(bytes, sizeof(bytes))), f.n == 0);
	tracepoint_free(t);
	trace_filter_done(&f);
	return result;
}
#define HAS(...) has((const char *const[]){ __VA_ARGS__, NULL })

static void
test_filter(void **state)
{
	assert_true(has((const char *const[]){ NULL }));
	assert_true(HAS("sched_switch.prev_comm=sh"));
	assert_true(HAS("sched_switch.prev_comm=bash,s?"));
	assert_false(HAS("sched_switch.prev_comm=bash"));
	assert_true(HAS("*.prev_prio=-1"));
	assert_false(HAS("*.prev_prio=1"));
	assert_true(HAS("*.prev_prio=-1", "*.common_pid=7"));
	assert_false(HAS("*.prev_prio=-1", "*.common_pid=8"));
	assert_true(HAS("*.common_pid=8", "*.common_pid=7"));
	assert_false(HAS("*.far=*"));
	assert_false(HAS("*.nosuch=*"));
	assert_false(HAS("other.prev_comm=sh"));
}

static void
test_refused(void **state)
{
	static const char *const bad[] = { "", "=", "a.b", "a=b", ".b=c", "a.=c", "a.b=", "a.b=,c" };
	struct trace_filter f = { 0 };
	char text[32];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *why = NULL;

		assert_int_equal(trace_filter_add(&f, bad[i], &why), -1);
		assert_non_null(why);
	}
	for (int i = 0; i < 100; i++) {
		const char *why = NULL;

		snprintf(text, sizeof(text), "a.b%d=c", i);
		if (trace_filter_add(&f, text, &why) < 0) {
			assert_string_equal(why, "too many fields");
			trace_filter_done(&f);
			return;
		}
	}
	fail_msg("no bound");
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_fields),
					    cmocka_unit_test(test_filter),
					    cmocka_unit_test(test_refused) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

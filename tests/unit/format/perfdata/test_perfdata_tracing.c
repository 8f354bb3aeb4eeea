/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/perfdata/perfdata_tracing.h"

#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "format/bytes/fmt_error.h"

static void
add(struct event_set *events, uint32_t type, uint64_t config, const char *name)
{
	uint8_t attr[64] = { 0 };

	le32enc(attr, type);
	le32enc(attr + 4, sizeof(attr));
	le64enc(attr + 8, config);
	assert_int_equal(event_set_add(events, span_of(attr, sizeof(attr)), name, NULL), 0);
}

/* Takes a string or a length with its bytes off the front. */
static const char *
take_string(struct span *s)
{
	const char *text = NULL;

	assert_true(span_string(s, &text));
	return text;
}

static struct span
take_file(struct span *s)
{
	struct span file = { 0 };
	uint64_t size = 0;

	assert_true(span_u64(s, &size));
	assert_true(span_take(s, (size_t)size, &file));
	return file;
}

static void
expect(struct span *s, const char *system, const char *begins)
{
	struct span file;
	uint32_t n = 0;

	assert_string_equal(take_string(s), system);
	assert_true(span_u32(s, &n));
	assert_int_equal(n, 1);
	file = take_file(s);
	assert_true(file.len > strlen(begins));
	assert_memory_equal(file.p, begins, strlen(begins));
}

static void
test_section(void **state)
{
	struct event_set *events = event_set_new();
	struct buf out;
	struct span s;
	uint32_t n = 1;

	buf_init(&out);
	add(events, 1, 5, "cpu-clock");
	assert_int_equal(perfdata_tracing_count(events), 0);
	add(events, 2, 5, "sched:sched_switch:u");
	add(events, 2, 5, "sched:sched_switch:k"); /* the same one */
	add(events, 2, 6, "a b:c\nID: 7");
	add(events, 2, UINT64_MAX, "");
	assert_int_not_equal(perfdata_tracing_count(events), 0);
	perfdata_tracing_section(&out, events);
	s = buf_span(&out);
	assert_string_equal(take_string(&s), "\x17\x08\x44tracing0.5");
	assert_true(span_skip(&s, 6));
	assert_string_equal(take_string(&s), "header_page");
	assert_true(take_file(&s).len > 0);
	assert_string_equal(take_string(&s), "header_event");
	assert_int_equal(take_file(&s).len, 0);
	assert_true(span_u32(&s, &n) && n == 0);
	assert_true(span_u32(&s, &n));
	assert_int_equal(n, 3);
	expect(&s, "sched", "name: sched_switch\nID: 5\nformat:\n");
	expect(&s, "a_b", "name: c_ID\nID: 6\nformat:\n");
	expect(&s, "unknown", "name: tracepoint_18446744073709551615\nID: 18446744073709551615\n");
	assert_true(span_u32(&s, &n) && n == 0);
	assert_true(span_u32(&s, &n) && n == 0);
	assert_int_equal(s.len, 0);
	buf_done(&out);
	event_set_free(events);
}

#define FORMAT(n) "sched\nname: sched_" #n "\nID: " #n "\nformat:\n\nprint fmt: \"\"\n"

/* What is written is read back by the events of those ids, and only what is known. */
static void
test_back(void **state)
{
	struct event_set *events = event_set_new(), *again = event_set_new();
	struct buf out;

	buf_init(&out);
	add(events, 2, 5, "sched:sched_5");
	add(events, 2, 6, "sched:unknown");
	add(events, 2, 7, "named");
	assert_int_equal(event_set_format(events, 0, FORMAT(5)), 0);
	assert_int_equal(event_set_format(events, 2, FORMAT(7)), 0);
	perfdata_tracing_section(&out, events);
	add(again, 1, 5, "cpu-clock");
	add(again, 2, 7, "a");
	add(again, 2, 5, "b");
	add(again, 2, 7, "c");
	add(again, 2, 9, "d");
	assert_int_equal(perfdata_tracing_read(buf_span(&out), again), 0);
	assert_null(event_set_at(again, 0)->format);
	assert_string_equal(event_set_at(again, 1)->format, FORMAT(7));
	assert_string_equal(event_set_at(again, 2)->format, FORMAT(5));
	assert_string_equal(event_set_at(again, 3)->format, FORMAT(7));
	assert_null(event_set_at(again, 4)->format);
	buf_done(&out);
	event_set_free(events);
	event_set_free(again);
}

static void
test_back_cut(void **state)
{
	struct event_set *events = event_set_new();
	struct buf out;

	buf_init(&out);
	add(events, 2, 5, "sched:sched_5");
	assert_int_equal(event_set_format(events, 0, FORMAT(5)), 0);
	perfdata_tracing_section(&out, events);
	/* The last two words are those of what is not looked at. */
	for (size_t n = 0; n < out.len - 8; n++)
		assert_int_equal(perfdata_tracing_read(span_of(out.p, n), events), -FMT_E_CORRUPT);
	assert_int_equal(perfdata_tracing_read(buf_span(&out), events), 0);
	out.p[14] = 1; /* big-endian */
	assert_int_equal(perfdata_tracing_read(buf_span(&out), events), -FMT_E_CORRUPT);
	buf_done(&out);
	event_set_free(events);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_section),
					    cmocka_unit_test(test_back),
					    cmocka_unit_test(test_back_cut) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

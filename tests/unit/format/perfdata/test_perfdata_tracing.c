/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/perfdata/perfdata_tracing.h"

#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

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

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_section) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Formats as kernels write them, odd ones, and hostile ones; and bytes that do not fit them. */
#include "format/record/tracepoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "format/bytes/fmt_error.h"

#define COMMON                                                                                     \
	"format:\n"                                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

#define FIELD(decl, offset, size, is_signed)                                                       \
	"\tfield:" decl ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #is_signed ";\n"

/* What a made one has of each of these, in text. */
static const char odd[] = "odd\nname: odd_one\nID: 4711\n" COMMON
	/* clang-format off */
	FIELD("char comm[8]", 8, 8, 0)
	FIELD("pid_t pid", 16, 4, 1)
	FIELD("u8 level", 20, 1, 0)
	FIELD("s8 nice", 21, 1, 1)
	FIELD("short delta", 22, 2, 1)
	FIELD("const void * ip", 24, 8, 0)
	FIELD("unsigned long args[2]", 32, 16, 0)
	FIELD("__data_loc char[] path", 48, 4, 0)
	FIELD("__rel_loc char[] rel", 52, 4, 0)
	FIELD("__data_loc unsigned short[] few", 56, 4, 0)
	FIELD("u8 mac[ETH_ALEN]", 60, 4, 0)
	FIELD("struct triple packed", 64, 3, 0)
	FIELD("struct in6_addr both[2]", 64, 8, 0)
	FIELD("u32 many[COUNT]", 64, 8, 0)
	FIELD("s16 grid[2][2]", 64, 8, 1)
	FIELD("bool yes", 72, 1, 0)
	FIELD("enum zone_type zone", 73, 1, 0)
	/* clang-format on */
	"\nprint fmt: \"%s field:int no;\toffset:0;\tsize:4;\", REC->comm\n";

static const uint8_t odd_raw[] =
	/* clang-format off */
	"\x67\x12\0\0\x07\0\0\0" "sh\0trash" "\xff\xff\xff\xff" "\xc8" "\xec" "\x00\x80"
	"\x88\x77\x66\x55\x44\x33\x22\xff" "\x01\0\0\0\0\0\0\0" "\xff\xff\xff\xff\xff\xff\xff\xff"
	"\x4a\x00\x05\x00" "\x17\x00\x02\x00" "\x52\x00\x04\x00" "\xde\xad\xbe\xef"
	"\x01\x00\x02\x00\xff\xff\x03\x00" "\x01" "\x02" "/a b\0" "hi" "!" "\x05\x00\x06\x00";
/* clang-format on */

static struct tracepoint *
parsed(const char *format)
{
	struct tracepoint *t = NULL;

	assert_int_equal(tracepoint_parse(format, &t), 0);
	return t;
}

static void
expect_text(const struct tracepoint *t, struct span raw, const char *text)
{
	struct buf out;

	buf_init(&out);
	tracepoint_text(t, raw, &out);
	buf_u8(&out, 0);
	assert_false(buf_failed(&out));
	assert_string_equal((const char *)out.p, text);
	buf_done(&out);
}

static void
test_odd(void **state)
{
	struct tracepoint *t = parsed(odd);

	assert_int_equal(t->id, 4711);
	assert_string_equal(t->system, "odd");
	assert_string_equal(t->name, "odd_one");
	assert_int_equal(sizeof(odd_raw) - 1, 86);
	expect_text(t, span_of(odd_raw, sizeof(odd_raw) - 1),
		    "comm=sh pid=-1 level=200 nice=-20 delta=-32768 ip=0xff22334455667788 "
		    "args={1,18446744073709551615} path=/a b rel=hi few={5,6} mac=deadbeef "
		    "packed=010002 both=01000200ffff0300 many={131073,262143} "
		    "grid={1,2,-1,3} yes=1 zone=2");
	tracepoint_free(t);
}

static void
test_common(void **state)
{
	struct tracepoint *t = parsed(odd);
	const struct tracepoint_field *f = tracepoint_find(t, "common_pid", 10);
	struct tracepoint_value v;

	assert_non_null(f);
	assert_true(f->common);
	assert_false(tracepoint_find(t, "comm", 4)->common);
	assert_true(tracepoint_value(f, span_of(odd_raw, sizeof(odd_raw)), &v));
	assert_int_equal(v.number, 7);
	assert_null(tracepoint_find(t, "no", 2));
	assert_null(tracepoint_find(t, "commo", 5));
	tracepoint_free(t);
}

/* Cut anywhere, it has the fields that are still there. */
static void
test_cut(void **state)
{
	struct tracepoint *t = parsed(odd);
	struct buf out;

	for (size_t n = 0; n < sizeof(odd_raw); n++) {
		uint8_t *exact = malloc(n ? n : 1); /* so that a sanitizer sees one byte too many */

		memcpy(exact, odd_raw, n);
		buf_init(&out);
		tracepoint_text(t, span_of(exact, n), &out);
		assert_int_equal(out.len > 0, n >= 16);
		buf_done(&out);
		free(exact);
	}
	expect_text(t, span_of(odd_raw, 20), "comm=sh pid=-1");
	tracepoint_free(t);
}

/* Words that name what is not there. */
static void
test_hostile_words(void **state)
{
	struct tracepoint *t =
		parsed("a\nname: b\nID: 1\nformat:\n" FIELD("__data_loc char[] d", 0, 4, 0)
			       FIELD("__rel_loc char[] r", 4, 4, 0) FIELD("char c[4]", 8, 4, 0));
	uint8_t raw[12] = "\0\0\0\0\0\0\0\0abcd";

	expect_text(t, span_of(raw, 12), "d= r= c=abcd");
	le32enc(raw, 8 | 4 << 16);
	le32enc(raw + 4, 3 << 16);
	expect_text(t, span_of(raw, 12), "d=abcd r=abc c=abcd");
	le32enc(raw, 9 | 4 << 16);
	le32enc(raw + 4, 0xffff | 1 << 16);
	expect_text(t, span_of(raw, 12), "c=abcd");
	le32enc(raw, 0xffffffff);
	le32enc(raw + 4, 5 << 16);
	expect_text(t, span_of(raw, 12), "c=abcd");
	tracepoint_free(t);
}

static void
test_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"\n",
		"sched",
		"sched\nname: x\nformat:\n",
		"sched\nID: 1\nformat:\n",
		"sched\nname: \nID: 1\nformat:\n",
		"sched\nname: x\nID: -1\nformat:\n",
		"sched\nname: x\nID: 18446744073709551616\nformat:\n",
	};
	struct tracepoint *t = NULL;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(tracepoint_parse(bad[i], &t), -FMT_E_CORRUPT);
	assert_null(t);
}

/* Fields that make no sense are none; the others are. */
static void
test_hostile_fields(void **state)
{
	struct tracepoint *t = parsed(
		"a\nname: b\nID: 18446744073709551615\nformat:\n"
		"\tfield:\n\tfield:;\n\tfield:int;\toffset:0;\tsize:4;\n" FIELD(
			"int x\x1b[31m", 0, 4, 0) FIELD("int 7", 0, 4, 0)
			FIELD("int far", 4294967296, 4, 0) FIELD("int off", -1, 4, 0)
				FIELD("__data_loc char[] d", 0, 8, 0) FIELD("int ]", 0, 4, 0)
					FIELD("int []", 0, 4, 0) FIELD("int edge", 4294967295, 4, 1)
						FIELD("char huge[4294967295]", 0, 4294967295, 0)
							FIELD("int zero[0]", 0, 0, 0)
								FIELD("int good", 0, 4, 1));
	const uint8_t raw[8] = { 5 };

	assert_int_equal(t->id, UINT64_MAX);
	expect_text(t, span_of(raw, sizeof(raw)), "int=5 zero={} good=5");
	tracepoint_free(t);
}

static void
test_many_fields(void **state)
{
	struct tracepoint *t;
	struct buf text;

	buf_init(&text);
	buf_text(&text, "a\nname: b\nID: 1\nformat:\n");
	for (int i = 0; i < 1000; i++) {
		char field[80];

		snprintf(field, sizeof(field), FIELD("int x%d", 0, 4, 0), i);
		buf_text(&text, field);
		buf_text(&text, field); /* twice is once */
	}
	buf_u8(&text, 0);
	t = parsed((const char *)text.p);
	assert_int_equal(t->nr_fields, TRACEPOINT_FIELDS_MAX);
	assert_string_equal(t->fields[TRACEPOINT_FIELDS_MAX - 1].name, "x255");
	tracepoint_free(t);
	buf_done(&text);
}

static void
add(struct event_set *events, uint64_t sample_type, const char *format)
{
	uint8_t attr[64] = { 0 };
	size_t index;

	le32enc(attr, 2);
	le32enc(attr + 4, sizeof(attr));
	le64enc(attr + 24, sample_type);
	assert_int_equal(event_set_add(events, span_of(attr, sizeof(attr)), "x", &index), 0);
	assert_int_equal(event_set_format(events, index, format), 0);
}

static void
test_of_events(void **state)
{
	struct event_set *events = event_set_new();
	struct tracepoints all = { 0 };
	const struct tracepoint *t;

	add(events, 1 << 10, odd);
	add(events, 1 << 10, "no format");
	add(events, 1 << 10, NULL);
	add(events, 0, odd); /* samples without bytes have no fields */
	assert_null(tracepoints_of(&all, events, -1));
	t = tracepoints_of(&all, events, 0);
	assert_non_null(t);
	assert_ptr_equal(tracepoints_of(&all, events, 0), t);
	for (int i = 1; i < 5; i++)
		assert_null(tracepoints_of(&all, events, i));
	add(events, 1 << 10, odd);
	assert_non_null(tracepoints_of(&all, events, 4));
	assert_ptr_equal(tracepoints_of(&all, events, 0), t);
	tracepoints_done(&all);
	event_set_free(events);
}

/* One is kept, and all together are bounded: a file can have 100,000 events. */
static void
test_bounds(void **state)
{
	struct event_set *events = event_set_new();
	char *large = malloc(EVENT_FORMAT_BYTES_MAX + 2);
	size_t kept = 0, nr = EVENT_FORMATS_BYTES_MAX / EVENT_FORMAT_BYTES_MAX;

	memset(large, 'x', EVENT_FORMAT_BYTES_MAX + 1);
	large[EVENT_FORMAT_BYTES_MAX + 1] = '\0';
	add(events, 0, large);
	assert_null(event_set_at(events, 0)->format);
	large[EVENT_FORMAT_BYTES_MAX] = '\0';
	for (size_t i = 0; i < nr + 2; i++)
		add(events, 0, large);
	for (size_t i = 0; i < event_set_count(events); i++)
		kept += event_set_at(events, i)->format != NULL;
	assert_int_equal(kept, nr);
	assert_int_equal(event_set_format(events, 1, "another"), 0);
	assert_string_equal(event_set_at(events, 1)->format, large);
	free(large);
	event_set_free(events);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_odd),	    cmocka_unit_test(test_common),
		cmocka_unit_test(test_cut),	    cmocka_unit_test(test_hostile_words),
		cmocka_unit_test(test_refused),	    cmocka_unit_test(test_hostile_fields),
		cmocka_unit_test(test_many_fields), cmocka_unit_test(test_of_events),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

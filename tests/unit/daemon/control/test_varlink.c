/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/control/varlink.h"
#include "daemon/control/varlink_idl.h"

static int
parse(const char *text, struct varlink_call *ret)
{
	/* The exact size on the heap, so that a sanitizer sees a read past the end. */
	size_t n = strlen(text);
	char *copy = malloc(n ? n : 1);
	int r;

	assert_non_null(copy);
	memcpy(copy, text, n);
	r = varlink_call_parse(copy, n, ret);
	free(copy);
	return r;
}

static void
calls_are_read(void **state)
{
	struct varlink_call call;

	assert_int_equal(parse("{\"method\":\"a.b.C\"}", &call), 0);
	assert_string_equal(call.method, "a.b.C");
	assert_true(json_is_object(call.parameters));
	assert_int_equal(json_object_size(call.parameters), 0);
	assert_false(call.more || call.oneway || call.upgrade);
	json_decref(call.message);

	assert_int_equal(parse("{\"method\":\"a.b.C\",\"more\":true,\"oneway\":false,"
			       "\"parameters\":{\"x\":[1]},\"later\":{}}",
			       &call),
			 0);
	assert_true(call.more);
	assert_int_equal(json_array_size(json_object_get(call.parameters, "x")), 1);
	json_decref(call.message);

	assert_int_equal(parse("{\"method\":\"a.b.C\",\"more\":null,\"parameters\":null}", &call),
			 0);
	json_decref(call.message);
}

static void
what_is_no_call_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		" ",
		"{",
		"[]",
		"null",
		"1",
		"{}",
		"{\"method\":1}",
		"{\"method\":null}",
		"{\"method\":\"a.B\"}x",
		"{\"method\":\"a.B\"}{\"method\":\"a.B\"}",
		"{\"method\":\"a.B\",\"method\":\"a.C\"}",
		"{\"method\":\"a.B\",\"parameters\":[]}",
		"{\"method\":\"a.B\",\"parameters\":{\"x\":1,\"x\":2}}",
		"{\"method\":\"a.B\",\"more\":1}",
		"{\"method\":\"a.B\",\"more\":true,\"oneway\":true}",
		"{\"method\":\"a.B\",\"more\":true,\"upgrade\":true}",
		"{\"method\":\"a.B\",\"parameters\":{\"x\":99999999999999999999}}",
		"{\"method\":\"a.B\",\"parameters\":{\"x\":1e999}}",
		"{\"method\":\"a\xff.B\"}",
		"{\"method\":\"a\\u0000.B\"}",
		"{\"method\":\"\xed\xa0\x80\"}",
		"{\"method\":\"a.B\",\"parameters\":{\"x\":[[[[[[[[]]]]]]]]}}",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct varlink_call call = { .method = "untouched" };

		if (parse(bad[i], &call) != -EBADMSG)
			fail_msg("taken: %s", bad[i]);
		assert_string_equal(call.method, "untouched");
	}
}

static void
nesting_and_size_have_limits(void **state)
{
	size_t n = VARLINK_MESSAGE_BYTES * 2;
	struct varlink_call call;
	char *text = malloc(n + 1);

	assert_non_null(text);
	memset(text, '[', n);
	text[n] = '\0';
	assert_int_equal(varlink_call_parse(text, VARLINK_MESSAGE_BYTES, &call), -EMSGSIZE);
	assert_int_equal(varlink_call_parse(text, VARLINK_MESSAGE_BYTES - 1, &call), -EBADMSG);

	/* Brackets in strings are no nesting, also after a quote that is escaped. */
	assert_int_equal(parse("{\"method\":\"[[[[[[[[[[\\\"[[[[[[[[[[[\\\\\"}", &call), 0);
	json_decref(call.message);
	assert_int_equal(parse("{\"method\":\"a.B\",\"parameters\":{\"x\":[[[[[[]]]]]]}}", &call),
			 0);
	json_decref(call.message);

	/* A name that is longer than any method's. */
	snprintf(text, n, "{\"method\":\"%0*d\"}", VARLINK_METHOD_BYTES, 0);
	assert_int_equal(parse(text, &call), -EBADMSG);
	free(text);
}

static void
replies_go_out_and_come_back(void **state)
{
	struct varlink_reply reply;
	struct buf out;

	buf_init(&out);
	assert_int_equal(varlink_reply_print(&out, NULL, NULL, false), 0);
	assert_string_equal((char *)out.p, "{\"parameters\":{}}");
	assert_int_equal(out.len, strlen((char *)out.p) + 1);
	buf_clear(&out);

	assert_int_equal(varlink_reply_print(&out, NULL, json_pack("{si}", "x", 1), true), 0);
	assert_int_equal(varlink_reply_parse((char *)out.p, out.len - 1, &reply), 0);
	assert_true(reply.continues);
	assert_null(reply.error);
	assert_int_equal(json_integer_value(json_object_get(reply.parameters, "x")), 1);
	json_decref(reply.message);
	buf_clear(&out);

	assert_int_equal(varlink_reply_print(&out, "a.b.C", NULL, false), 0);
	assert_int_equal(varlink_reply_parse((char *)out.p, out.len - 1, &reply), 0);
	assert_string_equal(reply.error, "a.b.C");
	json_decref(reply.message);
	assert_int_equal(varlink_reply_parse("{\"error\":1}", 11, &reply), -EBADMSG);
	assert_int_equal(varlink_reply_parse("{\"continues\":1}", 15, &reply), -EBADMSG);
	buf_clear(&out);

	assert_int_equal(varlink_call_print(&out, "a.b.C", json_pack("{ss}", "x", "y"), true), 0);
	assert_string_equal((char *)out.p,
			    "{\"method\":\"a.b.C\",\"more\":true,"
			    "\"parameters\":{\"x\":\"y\"}}");
	buf_done(&out);
}

static void
text_is_always_utf8(void **state)
{
	json_t *j = varlink_text("\xff/x\n");

	assert_string_equal(json_string_value(j), "?/x\n");
	json_decref(j);
	j = varlink_text("\xc3\xa4");
	assert_string_equal(json_string_value(j), "\xc3\xa4");
	json_decref(j);
}

static bool
check(const char *text, const char *wanted_bad)
{
	static const struct varlink_field fields[] = {
		{ "must", "int" },	 { "may", "?string" },
		{ "many", "?[]string" }, { "map", "?[string]int" },
		{ "share", "?float" },	 { "flag", "?bool" },
		{ NULL, NULL },
	};
	json_t *j = json_loads(text, 0, NULL);
	const char *bad = "";
	bool good;

	assert_non_null(j);
	good = varlink_idl_check(fields, j, &bad);
	if (!good)
		assert_string_equal(bad, wanted_bad);
	json_decref(j);
	return good;
}

static void
parameters_are_checked(void **state)
{
	assert_true(check("{\"must\":1}", ""));
	assert_true(check("{\"must\":1,\"may\":null,\"many\":null,\"map\":null}", ""));
	assert_true(
		check("{\"must\":1,\"may\":\"\",\"many\":[\"x\",\"y\"],\"map\":{\"a\":1}}", ""));
	assert_true(check("{\"must\":1,\"share\":1,\"flag\":true}", ""));
	assert_true(check("{\"must\":1,\"share\":1.5,\"many\":[]}", ""));
	assert_false(check("{}", "must"));
	assert_false(check("{\"must\":null}", "must"));
	assert_false(check("{\"must\":1.0}", "must"));
	assert_false(check("{\"must\":\"1\"}", "must"));
	assert_false(check("{\"must\":1,\"other\":1}", "other"));
	assert_false(check("{\"must\":1,\"may\":1}", "may"));
	assert_false(check("{\"must\":1,\"many\":\"x\"}", "many"));
	assert_false(check("{\"must\":1,\"many\":[\"x\",null]}", "many"));
	assert_false(check("{\"must\":1,\"map\":[1]}", "map"));
	assert_false(check("{\"must\":1,\"map\":{\"a\":\"b\"}}", "map"));
	assert_false(check("{\"must\":1,\"flag\":0}", "flag"));
	assert_false(check("{\"must\":1,\"share\":true}", "share"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_read),
		cmocka_unit_test(what_is_no_call_is_refused),
		cmocka_unit_test(nesting_and_size_have_limits),
		cmocka_unit_test(replies_go_out_and_come_back),
		cmocka_unit_test(text_is_always_utf8),
		cmocka_unit_test(parameters_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

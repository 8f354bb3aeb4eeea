/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/buf.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/json_value.h"

/* What json_value_dump() prints reads back the same, and has nothing that a terminal may not see. */
static void
dumped_for_a_terminal(const char *s)
{
	json_t *wanted = json_pack("{s:[o]}", "name", json_value_text(s)), *got;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(wanted);
	assert_non_null(f);
	assert_int_equal(json_value_dump(wanted, f, JSON_COMPACT), 0);
	assert_int_equal(fclose(f), 0);
	got = json_loadb(text, len, 0, NULL);
	assert_true(json_equal(got, wanted));
	for (const char *p = text; *p;)
		assert_true(escape_printable(escape_next(&p)));
	json_decref(got);
	json_decref(wanted);
	free(text);
}

/* What is appended reads back as what json_value_text() has of the same bytes. */
static void
appended_as_jansson_has_it(const char *s)
{
	json_t *wanted = json_value_text(s), *got;
	struct buf b;

	buf_init(&b);
	json_value_append(&b, s);
	assert_false(buf_failed(&b));
	got = json_loadb((const char *)b.p, b.len, JSON_DECODE_ANY, NULL);
	assert_non_null(got);
	assert_true(json_equal(got, wanted));
	buf_u8(&b, 0);
	for (const char *p = (const char *)b.p; *p;)
		assert_true(escape_printable(escape_next(&p)));
	json_decref(got);
	json_decref(wanted);
	buf_done(&b);
}

static void
appended(void **state)
{
	static const char *const some[] = {
		"",
		"main",
		"\"\\/",
		"a\nb\tc\x01\x7f",
		"\xff\xfe",
		"\xc3\xa9",
		"\xed\xa0\x80",
		"\xf0\x9f\x98\x80",
		"\xe2\x80\xa8",
		"</script>",
		"\\xff",
		"\x80\"\\",
		"\xc2\x9b[31m",
		"\xe2\x80\xaelive",
		"\xef\xbf\xbf",
		"\xf0\x9d\x85\xb3",
		"\xf3\xa0\x80\x81",
	};
	char text[64];

	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		appended_as_jansson_has_it(some[i]);
		dumped_for_a_terminal(some[i]);
	}
	srand(1);
	for (int i = 0; i < 20000; i++) {
		size_t n = (size_t)rand() % (sizeof(text) - 1);

		for (size_t k = 0; k < n; k++)
			text[k] = (char)(1 + rand() % 255);
		text[n] = '\0';
		appended_as_jansson_has_it(text);
		dumped_for_a_terminal(text);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(appended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

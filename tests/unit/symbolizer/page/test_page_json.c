/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "symbolizer/page/page.h"
#include "symbolizer/page/page_files.h"

static char *text;
static size_t size;

static FILE *
begin(struct page_json *j)
{
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	page_json_init(j, out);
	return out;
}

static json_t *
end(struct page_json *j, FILE *out)
{
	json_error_t error;
	json_t *value;

	assert_int_equal(page_json_done(j), 0);
	assert_int_equal(fclose(out), 0);
	value = json_loads(text, JSON_DECODE_ANY, &error);
	if (!value)
		fail_msg("%s at %d of %s", error.text, error.position, text);
	return value;
}

/* Whatever a name is: what stands in the page is one string, and no byte of it ends a script. */
static void
names(void **state)
{
	static const struct {
		const char *name, *read;
	} cases[] = {
		{ "", "" },
		{ "main", "main" },
		{ "a\"b\\c", "a\"b\\c" },
		{ "</script><script>alert(1)</script>", "</script><script>alert(1)</script>" },
		{ "<!--<script", "<!--<script" },
		{ "a\nb\tc\x1b[2J\x7f", "a\\012b\\011c\\033[2J\\177" },
		{ "\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xae",
		  "\\342\\200\\250\\342\\200\\251\\342\\200\\256" },
		{ "\xff\xc3(\xed\xa0\x80", "\\xff\\xc3(\\xed\\xa0\\x80" },
		{ "na\xc3\xafve \xf0\x9f\x94\xa5", "na\xc3\xafve \xf0\x9f\x94\xa5" },
	};
	struct page_json j;
	FILE *out = begin(&j);
	json_t *value;

	page_json_open(&j, NULL, '[');
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		page_json_text(&j, NULL, cases[i].name);
	page_json_text(&j, NULL, NULL);
	page_json_close(&j, ']');
	value = end(&j, out);
	assert_int_equal(json_array_size(value), sizeof(cases) / sizeof(cases[0]) + 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(json_string_value(json_array_get(value, i)), cases[i].read);
	assert_true(json_is_null(json_array_get(value, sizeof(cases) / sizeof(cases[0]))));
	assert_null(strchr(text, '<'));
	json_decref(value);
	free(text);
}

static void
long_names(void **state)
{
	char *name = malloc(1 << 20);
	struct page_json j;
	FILE *out = begin(&j);
	json_t *value;

	assert_non_null(name);
	memset(name, '<', (1 << 20) - 1);
	name[(1 << 20) - 1] = '\0';
	page_json_open(&j, NULL, '{');
	page_json_text(&j, "name", name);
	page_json_number(&j, "n", UINT64_MAX >> 1);
	page_json_number(&j, "zero", 0);
	page_json_real(&j, "real", 0.1);
	page_json_real(&j, "none", 0.0 / 0.0);
	page_json_open(&j, "empty", '[');
	page_json_close(&j, ']');
	page_json_close(&j, '}');
	value = end(&j, out);
	assert_string_equal(json_string_value(json_object_get(value, "name")), name);
	assert_int_equal(json_integer_value(json_object_get(value, "n")), INT64_MAX);
	assert_int_equal(json_integer_value(json_object_get(value, "zero")), 0);
	assert_true(json_real_value(json_object_get(value, "real")) == 0.1);
	assert_true(json_is_null(json_object_get(value, "none")));
	assert_int_equal(json_array_size(json_object_get(value, "empty")), 0);
	json_decref(value);
	free(text);
	free(name);
}

/* Of columns that are longer than what is written at once, nothing is missing. */
static void
columns(void **state)
{
	struct page_json j;
	FILE *out = begin(&j);
	json_t *value;

	page_json_open(&j, NULL, '[');
	for (uint64_t i = 0; i < 200000; i++)
		page_json_number(&j, NULL, i * i);
	page_json_close(&j, ']');
	value = end(&j, out);
	assert_int_equal(json_array_size(value), 200000);
	for (uint64_t i = 0; i < 200000; i++)
		assert_int_equal(json_integer_value(json_array_get(value, i)), i * i);
	json_decref(value);
	free(text);
}

static void
page_around(void **state)
{
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(page_begin(out, &page_flame, "</title><script>\"&\x1b\xff"), 0);
	fputs("{}", out);
	page_end(out, &page_flame);
	assert_int_equal(fclose(out), 0);
	assert_non_null(
		strstr(text, "<title>&lt;/title&gt;&lt;script&gt;&quot;&amp;\\033\\xff</title>"));
	assert_non_null(strstr(text, "default-src 'none'"));
	assert_null(strstr(text, "unsafe"));
	assert_non_null(strstr(text, "id=\"data\">\n{}</script>"));
	free(text);
}

/* Where addresses of symbols are told by halves (s390x), an odd one does not link. */
static void
files_are_aligned(void **state)
{
	(void)state;
#define X(name, file) assert_int_equal((uintptr_t)page_files_##name % 8, 0);
	PAGE_FILES(X)
#undef X
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_aligned), cmocka_unit_test(names),
		cmocka_unit_test(long_names),	     cmocka_unit_test(columns),
		cmocka_unit_test(page_around),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

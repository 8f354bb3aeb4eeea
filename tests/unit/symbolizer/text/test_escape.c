/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "symbolizer/text/escape.h"

static void
expect(void (*how)(struct buf *, const char *), const char *in, const char *want)
{
	struct buf b;

	buf_init(&b);
	how(&b, in);
	buf_u8(&b, 0);
	assert_false(buf_failed(&b));
	assert_string_equal((const char *)b.p, want);
	buf_done(&b);
}

static void
names_pass(void **state)
{
	expect(escape, "", "");
	expect(escape, "std::map<int, char>::find", "std::map<int, char>::find");
	expect(escape, "a\\b \"q\"", "a\\b \"q\"");
	expect(escape, "Grüße 日本 😀", "Grüße 日本 😀");
}

static void
control_bytes_do_not(void **state)
{
	expect(escape, "\033[31mred\033[0m", "\\033[31mred\\033[0m");
	expect(escape, "a\nb\tc\rd\x7f", "a\\012b\\011c\\015d\\177");
	expect(escape, "\x01", "\\001");
	/* C1: NEL, CSI */
	expect(escape, "\xc2\x85\xc2\x9b", "\\302\\205\\302\\233");
}

static void
text_that_lies_does_not(void **state)
{
	/* RLO, RLI, LRM, zero width space, BOM, line separator, tag */
	expect(escape, "\xe2\x80\xae", "\\342\\200\\256");
	expect(escape, "\xe2\x81\xa7", "\\342\\201\\247");
	expect(escape, "\xe2\x80\x8e", "\\342\\200\\216");
	expect(escape, "\xe2\x80\x8b", "\\342\\200\\213");
	expect(escape, "\xef\xbb\xbf", "\\357\\273\\277");
	expect(escape, "\xe2\x80\xa8", "\\342\\200\\250");
	expect(escape, "\xf3\xa0\x80\x81", "\\363\\240\\200\\201");
}

static void
not_utf8(void **state)
{
	expect(escape, "a\xff z", "a\\xff z");
	expect(escape, "\x80", "\\x80");
	/* cut, overlong, a surrogate, over U+10FFFF, five bytes */
	expect(escape, "\xc3", "\\xc3");
	expect(escape, "\xe2\x82", "\\xe2\\x82");
	expect(escape, "\xc0\xaf", "\\xc0\\xaf");
	expect(escape, "\xe0\x80\xaf", "\\xe0\\x80\\xaf");
	expect(escape, "\xed\xa0\x80", "\\xed\\xa0\\x80");
	expect(escape, "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
	/* letters that show nothing: a name of them looks like another, or like none */
	expect(escape, "\xe3\x85\xa4", "\\343\\205\\244");
	expect(escape, "\xef\xbe\xa0", "\\357\\276\\240");
	expect(escape, "\xe1\x9e\xb4", "\\341\\236\\264");
	expect(escape, "\xf0\x9d\x85\xb3", "\\360\\235\\205\\263");
	expect(escape, "\xf8\x88\x80\x80\x80", "\\xf8\\x88\\x80\\x80\\x80");
	expect(escape,
	       "\xe2\x82"
	       "A",
	       "\\xe2\\x82"
	       "A");
}

static void
all_bytes_twice(void **state)
{
	/* whatever comes, what goes out is printable and valid */
	for (unsigned a = 1; a < 256; a++)
		for (unsigned c = 1; c < 256; c++) {
			const char in[] = { (char)a, (char)c, '\0' };
			const char *p;
			struct buf b;

			buf_init(&b);
			escape(&b, in);
			buf_u8(&b, 0);
			for (p = (const char *)b.p; *p;) {
				int32_t ch = escape_next(&p);

				assert_true(ch >= 0x20 && ch != 0x7f && !(ch >= 0x80 && ch < 0xa0));
			}
			buf_done(&b);
		}
}

static void
for_json(void **state)
{
	expect(escape_utf8, "a\nb\033\xff;Grüße", "a\nb\033\\xff;Grüße");
}

static void
for_folded(void **state)
{
	expect(escape_folded, "operator;\n", "operator:\\012");
	expect(escape_folded, "(anonymous namespace)::f", "(anonymous namespace)::f");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_pass),
		cmocka_unit_test(control_bytes_do_not),
		cmocka_unit_test(text_that_lies_does_not),
		cmocka_unit_test(not_utf8),
		cmocka_unit_test(all_bytes_twice),
		cmocka_unit_test(for_json),
		cmocka_unit_test(for_folded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

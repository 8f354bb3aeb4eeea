/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/text/screen_text.h"

static void
widths(void **state)
{
	assert_int_equal(screen_text_width(""), 0);
	assert_int_equal(screen_text_width("main"), 4);
	assert_int_equal(screen_text_width("日本"), 4);
	assert_int_equal(screen_text_width("e\xcc\x81"), 1);
	assert_int_equal(screen_text_width("\xff"), 1);
}

static void
prints(int columns, const char *text, const char *want)
{
	char *got = NULL;
	size_t len;
	FILE *f = open_memstream(&got, &len);

	screen_text_print(f, columns, "#   ", "%s", text);
	fclose(f);
	assert_string_equal(got, want);
	free(got);
}

static void
sentences(void **state)
{
	prints(80, "# a few words", "# a few words\n");
	/* not one column more than there are, nor one less */
	prints(13, "# a few words", "# a few words\n");
	prints(12, "# a few words", "# a few\n#   words\n");
	prints(7, "# a few words", "# a few\n#   words\n");
	prints(6, "# a few words", "# a\n#   few\n#   words\n");
	prints(9, "# 日本 語", "# 日本 語\n");
	prints(8, "# 日本 語", "# 日本\n#   語\n");
	/* blanks at the beginning and within stay, but at a break */
	prints(16, "#    12  a file: it is gone", "#    12  a file:\n#   it is gone\n");
	/* a word that is longer stays whole */
	prints(8, "# /usr/lib/libfoo.so is gone", "#\n#   /usr/lib/libfoo.so\n#   is\n#   gone\n");
	prints(1, "ab cd", "ab\n#   cd\n");
	/* no terminal */
	prints(0, "# a few words", "# a few words\n");
	prints(0, "", "\n");
	prints(10, "", "\n");
	prints(10, "a  ", "a\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(widths),
		cmocka_unit_test(sentences),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

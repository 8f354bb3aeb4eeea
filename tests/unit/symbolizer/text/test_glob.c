/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/text/glob.h"

static void
names(void **state)
{
	assert_true(glob_match("", ""));
	assert_false(glob_match("", "a"));
	assert_true(glob_match("main", "main"));
	assert_false(glob_match("main", "main2"));
	assert_false(glob_match("main2", "main"));
	assert_true(glob_match("*alloc*", "xmalloc"));
	assert_true(glob_match("*alloc*", "alloc"));
	assert_false(glob_match("*alloc*", "allot"));
	assert_true(glob_match("std::*::find", "std::map<int, char>::find"));
	assert_false(glob_match("std::*::find", "std::map<int, char>::find_first"));
	assert_true(glob_match("a*b*c", "abbbc"));
	assert_true(glob_match("***", ""));
	assert_true(glob_match("cc1?lus", "cc1plus"));
	assert_false(glob_match("cc1?", "cc1"));
}

static void
characters(void **state)
{
	/* one character each, not one byte, and one of what is no UTF-8 */
	assert_true(glob_match("?", "\xe6\x97\xa5"));
	assert_false(glob_match("??", "\xe6\x97\xa5"));
	assert_true(glob_match("a?b",
			       "a\xff"
			       "b"));
	assert_true(glob_match("*\xa5", "\xe6\x97\xa5"));
}

static void
ordinary(void **state)
{
	assert_true(glob_match("[unknown]", "[unknown]"));
	assert_false(glob_match("[unknown]", "u"));
	assert_true(glob_match("[*]", "[vdso]"));
	assert_true(glob_match("operator[]", "operator[]"));
	assert_true(glob_match("operator\\*", "operator*"));
	assert_false(glob_match("operator\\*", "operator*="));
	assert_true(glob_match("operator*", "operator*="));
	assert_true(glob_match("a\\\\b", "a\\b"));
	/* at the end there is nothing for it to take the meaning from */
	assert_true(glob_match("a\\", "a\\"));
}

static void
above(void **state)
{
	assert_true(glob_match_above("/a", "/a"));
	assert_true(glob_match_above("/a", "/a/b/c"));
	assert_true(glob_match_above("/*/b", "/a/b/c"));
	assert_false(glob_match_above("/a", "/ab"));
	assert_false(glob_match_above("/a/b", "/a"));
	assert_true(glob_match_above("/", "/"));
	assert_false(glob_match_above("/", "/a"));
	assert_true(glob_match_above("n*.service", "nginx.service/worker"));
	assert_false(glob_match("n*.service", "nginx.service/worker"));
}

/* What fnmatch() says of patterns without brackets is right. */
static void
as_fnmatch(void **state)
{
	static const char letters[] = "ab*?/\\";
	char pattern[7], name[7];

	srand(8);
	for (int i = 0; i < 200000; i++) {
		size_t p = (size_t)rand() % sizeof(pattern), n = (size_t)rand() % sizeof(name);

		for (size_t k = 0; k < p; k++)
			pattern[k] = letters[(size_t)rand() % 6];
		for (size_t k = 0; k < n; k++)
			name[k] = letters[(size_t)rand() % 6];
		pattern[p] = name[n] = '\0';
		if (p > 0 && pattern[p - 1] == '\\')
			continue;
		if (glob_match(pattern, name) != (fnmatch(pattern, name, 0) == 0) ||
		    glob_match_above(pattern, name) !=
			    (fnmatch(pattern, name, FNM_LEADING_DIR) == 0))
			fail_msg("'%s' and '%s'", pattern, name);
	}
}

/* No name makes it slow: each '*' is tried once more a character, not each with each other. */
static void
long_names(void **state)
{
	enum { LENGTH = 65535 };
	char *name = malloc(LENGTH + 1);

	assert_non_null(name);
	memset(name, 'a', LENGTH);
	name[LENGTH] = '\0';
	assert_false(glob_match("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", name));
	assert_true(glob_match("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*", name));
	free(name);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names), cmocka_unit_test(characters), cmocka_unit_test(ordinary),
		cmocka_unit_test(above), cmocka_unit_test(as_fnmatch), cmocka_unit_test(long_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/text/screen_text.h"
#include "symbolizer/text/short_names.h"

#define NR(a) (sizeof(a) / sizeof((a)[0]))

static void
shows(const char *const *names, size_t n, int columns, const char *const *want)
{
	struct short_names *s = short_names_new(names, n, columns);

	assert_non_null(s);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(short_names_at(s, i), want[i]);
	short_names_free(s);
}

#define ONE(name, columns, want) shows(&(const char *){ name }, 1, columns, &(const char *){ want })

static void
middles(void **state)
{
	ONE("", 10, "");
	ONE("abcdefghij", 10, "abcdefghij");
	ONE("abcdefghijk", 10, "abcd..hijk");
	ONE("abcdefghijk", 9, "abcd..ijk");
	ONE("abcdefghijk", 5, "ab..k");
	/* no room for two ends */
	ONE("abcdefghijk", 4, "abcd");
	ONE("abcdefghijk", 1, "a");
	/* characters stay whole: a column may be left over */
	ONE("日本語日本語", 8, "日..語");
	ONE("日本語日本語", 10, "日本..本語");
	ONE("ae\xcc\x81gggggggggggge\xcc\x81z", 6, "ae\xcc\x81..e\xcc\x81z");
}

static void
apart(void **state)
{
	/* the same beginning and the same end */
	static const char *const ends[] = {
		"std::map<int, Foo>::operator[]",
		"std::map<int, Bar>::operator[]",
		"std::map<int, Foo>::operator[]",
		"main",
	};
	static const char *const want[] = { "std::..Foo>::op..tor[]", "std::..Bar>::op..tor[]",
					    "std::..Foo>::op..tor[]", "main" };
	static const char *const deep[] = {
		"std::vector<std::pair<int, std::string>, Alloc>::begin() const",
		"std::vector<std::pair<int, std::vector>, Alloc>::begin() const",
	};
	static const char *const late[] = {
		"a_rather_long_name_of_a_function_with_a_number_1_in_it",
		"a_rather_long_name_of_a_function_with_a_number_2_in_it",
	};
	static const char *const repeated[] = { "aaaaaaaaaaaaaaaaaaaaaaaaa",
						"aaaaaaaaaaaaaaaaaaaaaaaaaaa" };

	shows(ends, NR(ends), 22, want);
	shows(deep, NR(deep), 20,
	      (const char *[]){ "std:..string>,..onst", "std:..vector>,..onst" });
	shows(late, NR(late), 12, (const char *[]){ "a_.._1_in_it", "a_.._2_in_it" });
	/* no part of them differs */
	shows(repeated, NR(repeated), 12, (const char *[]){ "aaaa..1..aaa", "aaaa..2..aaa" });
	/* one of them fits, and looks like the other */
	shows((const char *[]){ "abcd..hijk", "abcdefghijk" }, 2, 10,
	      (const char *[]){ "abcd..hijk", "abcdef..jk" });
}

/* Whatever there is, names that differ are shown so, and all have their room. */
static void
all_differ(void **state)
{
	enum { NAMES = 4000 };
	static char text[NAMES][200];
	const char *names[NAMES];
	srand(80);
	for (size_t i = 0; i < NAMES; i++) {
		names[i] = text[i];
		snprintf(text[i], sizeof(text[i]), "ns::Template<%s%0*d, std::allocator<%d> >::%s",
			 rand() % 2 ? "unsigned " : "", rand() % 30, rand() % 100, rand() % 100,
			 rand() % 2 ? "insert" : "emplace_back");
	}
	for (int columns = 10; columns <= 70; columns += 12) {
		struct short_names *s = short_names_new(names, NAMES, columns);

		assert_non_null(s);
		for (size_t i = 0; i < NAMES; i++) {
			assert_true(screen_text_width(short_names_at(s, i)) <= columns);
			for (size_t k = 0; k < i; k++)
				if (!strcmp(short_names_at(s, i), short_names_at(s, k)) !=
				    !strcmp(names[i], names[k]))
					fail_msg("%s: %s and %s", short_names_at(s, i), names[i],
						 names[k]);
		}
		short_names_free(s);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(middles),
		cmocka_unit_test(apart),
		cmocka_unit_test(all_differ),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

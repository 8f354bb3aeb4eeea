/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/table.h"

static const struct table_column columns[] = {
	{ "Overhead", true, false },
	{ "Command", false, true },
	{ "Symbol", false, false },
};

static struct table *
make(const char *const *cells)
{
	struct table *t = table_new(columns, 3);

	assert_non_null(t);
	for (size_t i = 0; cells[i]; i++)
		table_cell(t, cells[i], i == 0 ? TABLE_HOT : TABLE_PLAIN);
	return t;
}

static void
prints(const char *const *cells, int width, bool color, const char *want)
{
	struct table *t = make(cells);
	char *got = NULL;
	size_t len;
	FILE *f = open_memstream(&got, &len);

	assert_int_equal(table_print(t, f, width, color), 0);
	fclose(f);
	assert_string_equal(got, want);
	free(got);
	table_free(t);
}

static void
aligned(void **state)
{
	prints((const char *[]){ "10.00%", "a", "[.] main", "9.00%", "longer name", "[k] f", NULL },
	       0, false,
	       "# Overhead  Command      Symbol\n"
	       "# ........  ...........  ........\n"
	       "#\n"
	       "    10.00%  a            [.] main\n"
	       "     9.00%  longer name  [k] f\n");
}

static void
empty(void **state)
{
	prints((const char *[]){ NULL }, 0, false,
	       "# Overhead  Command  Symbol\n# ........  .......  ......\n#\n");
}

static void
wide(void **state)
{
	/* two columns each, one with a combining mark, one in none of them */
	prints((const char *[]){ "1%", "日本", "x", "2%", "e\xcc\x81t\xc3\xa9", "y", NULL }, 0,
	       false,
	       "# Overhead  Command  Symbol\n"
	       "# ........  .......  ......\n"
	       "#\n"
	       "        1%  日本     x\n"
	       "        2%  e\xcc\x81t\xc3\xa9      y\n");
	assert_int_equal(table_width("日本"), 4);
	assert_int_equal(table_width("e\xcc\x81"), 1);
	assert_int_equal(table_width("\xff"), 1);
}

static void
cut_on_a_terminal(void **state)
{
	const char *const cells[] = { "1%", "abcdefghijkl", "std::vector<int>::push_back", NULL };

	prints(cells, 40, false,
	       "# Overhead  Command       Symbol\n"
	       "# ........  ............  ..............\n"
	       "#\n"
	       "        1%  abcdefghijkl  std::vector<..\n");
	/* the narrowest: no column loses all */
	prints(cells, 1, false,
	       "# Overhead  Command   Symbol\n"
	       "# ........  ........  ........\n"
	       "#\n"
	       "        1%  abcdef..  std::v..\n");
	/* never in the middle of a wide character */
	prints((const char *[]){ "1%", "日本語日本語日本語", "x", NULL }, 1, false,
	       "# Overhead  Command   Symbol\n"
	       "# ........  ........  ......\n"
	       "#\n"
	       "        1%  日本語..  x\n");
	prints((const char *[]){ "1%", "x日本語日本語日本語", "x", NULL }, 1, false,
	       "# Overhead  Command   Symbol\n"
	       "# ........  ........  ......\n"
	       "#\n"
	       "        1%  x日本..   x\n");
}

static void
whole_in_a_pipe(void **state)
{
	char name[3001], *got = NULL;
	struct table *t;
	size_t len;
	FILE *f = open_memstream(&got, &len);

	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	t = make((const char *[]){ "1%", "b", name, NULL });
	assert_int_equal(table_print(t, f, 0, false), 0);
	fclose(f);
	assert_non_null(strstr(got, name));
	/* and no ruler of 3000 dots */
	assert_true(len < 3300);
	free(got);
	table_free(t);
}

static void
colored(void **state)
{
	prints((const char *[]){ "99%", "a", "b", NULL }, 0, true,
	       "# Overhead  Command  Symbol\n"
	       "# ........  .......  ......\n"
	       "#\n"
	       "       \033[31m99%\033[0m  a        b\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(aligned),
		cmocka_unit_test(empty),
		cmocka_unit_test(wide),
		cmocka_unit_test(cut_on_a_terminal),
		cmocka_unit_test(whole_in_a_pipe),
		cmocka_unit_test(colored),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

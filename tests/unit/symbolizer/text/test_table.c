/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/text/table.h"

static const struct table_column columns[] = {
	{ "Overhead", true, false, false },
	{ "Command", false, true, false },
	{ "Symbol", false, true, false },
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
prints_with(const char *const *cells, const struct table_options *o, const char *want)
{
	struct table *t = make(cells);
	char *got = NULL;
	size_t len;
	FILE *f = open_memstream(&got, &len);

	assert_int_equal(table_print(t, f, o), 0);
	fclose(f);
	assert_string_equal(got, want);
	free(got);
	table_free(t);
}

static void
prints(const char *const *cells, int terminal, bool color, const char *want)
{
	prints_with(cells, &(struct table_options){ .terminal = terminal, .color = color }, want);
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
}

static void
shortened_on_a_terminal(void **state)
{
	const char *const cells[] = { "1%", "abcdefghijkl", "std::vector<int>::push_back", NULL };

	/* the last one gives less */
	prints(cells, 40, false,
	       "# Overhead  Command   Symbol\n"
	       "# ........  ........  ..................\n"
	       "#\n"
	       "        1%  abc..jkl  std::vec..ush_back\n");
	/* the narrowest: no column loses all */
	prints(cells, 1, false,
	       "# Overhead  Command   Symbol\n"
	       "# ........  ........  ........\n"
	       "#\n"
	       "        1%  abc..jkl  std..ack\n");
	/* never in the middle of a wide character */
	prints((const char *[]){ "1%", "日本語日本語日本語", "x", NULL }, 1, false,
	       "# Overhead  Command   Symbol\n"
	       "# ........  ........  ......\n"
	       "#\n"
	       "        1%  日..語    x\n");
}

/* Text, and no name, ends where the room does. */
static void
cut_at_its_end(void **state)
{
	static const struct table_column of_text[] = {
		{ "Percent", true, false, false },
		{ "Source", false, true, true },
	};
	struct table *t = table_new(of_text, 2);
	char *got = NULL;
	size_t len;
	FILE *f = open_memstream(&got, &len);

	table_cell(t, "1%", TABLE_PLAIN);
	table_cell(t, "for (i = 0; i < n; i++)", TABLE_PLAIN);
	table_cell(t, "", TABLE_PLAIN);
	table_cell(t, "\"日本語\"[i] + 1", TABLE_PLAIN);
	assert_int_equal(table_print(t, f, &(struct table_options){ .terminal = 19 }), 0);
	fclose(f);
	assert_string_equal(got,
			    "# Percent  Source\n"
			    "# .......  ........\n"
			    "#\n"
			    "       1%  for (i =\n"
			    "           \"日本語\"\n");
	free(got);
	table_free(t);
}

static void
asked_widths(void **state)
{
	static const int widths[] = { 3, 12, 7 }, one[] = { 0, 0 };
	const char *const cells[] = { "10.00%", "abc", "std::vector<int>::push_back", NULL };
	const struct table_options three = { .widths = widths, .nr_widths = 3 },
				   whole = { .terminal = 20, .widths = one, .nr_widths = 1 },
				   two = { .terminal = 20, .widths = one, .nr_widths = 2 };

	/* a number is whole, a title is cut */
	prints_with(cells, &three,
		    "# Overhead  Command       Symbol\n"
		    "# ........  ............  .......\n"
		    "#\n"
		    "    10.00%  abc           std..ck\n");
	/* of the others the terminal decides */
	prints_with(cells, &whole,
		    "# Overhead  Command  Symbol\n"
		    "# ........  .......  ........\n"
		    "#\n"
		    "    10.00%  abc      std..ack\n");
	prints_with(cells, &two,
		    "# Overhead  Command  Symbol\n"
		    "# ........  .......  ........\n"
		    "#\n"
		    "    10.00%  abc      std..ack\n");
}

static void
separated(void **state)
{
	const struct table_options comma = { .terminal = 20, .separator = ",", .color = true },
				   two = { .separator = "::" }, rows = { .rows_only = true },
				   both = { .rows_only = true, .separator = "\t" };
	const char *const cells[] = { "1%", "a,b", "std::map<int, int>", "2%", "c", "d", NULL };

	prints_with(cells, &comma,
		    "# Overhead,Command,Symbol\n"
		    "1%,a.b,std::map<int. int>\n"
		    "2%,c,d\n");
	prints_with(cells, &two,
		    "# Overhead::Command::Symbol\n"
		    "1%::a,b::std.map<int, int>\n"
		    "2%::c::d\n");
	prints_with(cells, &rows,
		    "        1%  a,b      std::map<int, int>\n"
		    "        2%  c        d\n");
	prints_with(cells, &both, "1%\ta,b\tstd::map<int, int>\n2%\tc\td\n");
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
	assert_int_equal(table_print(t, f, &(struct table_options){ 0 }), 0);
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
		cmocka_unit_test(aligned),	  cmocka_unit_test(empty),
		cmocka_unit_test(wide),		  cmocka_unit_test(shortened_on_a_terminal),
		cmocka_unit_test(cut_at_its_end), cmocka_unit_test(asked_widths),
		cmocka_unit_test(separated),	  cmocka_unit_test(whole_in_a_pipe),
		cmocka_unit_test(colored),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/unwind/code_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/lab/elf_lab.h"

#define GAP (1u << 20)

/* Two functions, and a megabyte of code between them of which no call frame information knows. */
static const char source[] = "int a(int x) { return x + 1; }\n"
			     "__asm__(\".fill 1048576, 1, 0x90\");\n"
			     "int main(int n, char **v) { return a(n); }\n";

static void
read_it(struct code_file *f, size_t bytes_max)
{
	struct elf_object *elf = elf_lab_open(lab_path("gap"));

	assert_int_equal(code_file_read(f, elf, NULL, bytes_max), 0);
	elf_object_close(elf);
}

/* Where there is no room for the code as well, what is known of the functions is kept. */
static void
test_gaps_go_first(void **state)
{
	struct code_file f;
	size_t all, rest;

	(void)lab_build("gap", source, 0, "-O1 -w -fasynchronous-unwind-tables");
	read_it(&f, SIZE_MAX);
	all = code_file_bytes(&f);
	assert_true(all >= GAP);
	rest = all - GAP;
	code_file_done(&f);

	read_it(&f, all - GAP / 2);
	assert_non_null(f.cfi);
	assert_true(code_file_bytes(&f) <= rest);
	code_file_done(&f);

	read_it(&f, 100);
	assert_null(f.cfi);
	code_file_done(&f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_gaps_go_first) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

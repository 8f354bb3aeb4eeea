/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/unwind/code_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <elf.h>

#include "tests/lab/elf_lab.h"

#define GAP (1u << 20)
#define IMAGE_MAX (2u << 20)

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

/* The file without the program header of its table; returns its size. */
static size_t
without_table(uint8_t *to, const char *path)
{
	size_t size;
	uint8_t *bytes = lab_read(path, &size);
	Elf64_Ehdr e;

	assert_true(size <= IMAGE_MAX);
	memcpy(to, bytes, size);
	free(bytes);
	memcpy(&e, to, sizeof(e));
	for (size_t i = 0; i < e.e_phnum; i++) {
		uint8_t *at = to + e.e_phoff + i * sizeof(Elf64_Phdr);
		Elf64_Phdr p;

		memcpy(&p, at, sizeof(p));
		if (p.p_type == PT_GNU_EH_FRAME)
			p.p_type = PT_NULL;
		memcpy(at, &p, sizeof(p));
	}
	return size;
}

/* A file that stays open takes next to nothing before a walk asks; one without a table is read at once. */
static void
test_open(void **state)
{
	static uint8_t image[IMAGE_MAX];
	struct elf_object *elf;
	struct code_file f;

	(void)lab_build("gap", source, 0, "-O1 -w -fasynchronous-unwind-tables");
	elf = elf_lab_open(lab_path("gap"));
	assert_int_equal(code_file_open(&f, elf, SIZE_MAX, NULL), 0);
	assert_non_null(f.cfi);
	assert_in_range(code_file_bytes(&f), 1, 16384);
	code_file_done(&f);
	assert_int_equal(code_file_open(&f, elf, 16, NULL), 0);
	assert_null(f.cfi);
	elf_object_close(elf);

	assert_int_equal(elf_object_open_memory(image, without_table(image, lab_path("gap")), &elf),
			 0);
	assert_int_equal(code_file_open(&f, elf, SIZE_MAX, NULL), 0);
	assert_non_null(f.cfi);
	assert_true(code_file_bytes(&f) >= GAP);
	code_file_done(&f);
	elf_object_close(elf);
}

/* exit() and its like are looked for when they are first asked for. */
static void
test_never_returns(void **state)
{
	static const char ends[] = "void abort(void) { for (;;); }\n"
				   "void other(void) { for (;;); }\n"
				   "int main(void) { abort(); }\n";
	struct elf_object *elf;
	struct cfi *some;

	(void)lab_build("ends", ends, 0, "-O1 -w -fno-builtin -fasynchronous-unwind-tables");
	elf = elf_lab_open(lab_path("ends"));
	assert_int_equal(cfi_open(elf, SIZE_MAX, NULL, &some), 0);
	assert_true(cfi_never_returns(some, elf_object_address(elf, "abort")));
	assert_false(cfi_never_returns(some, elf_object_address(elf, "other")));
	elf_object_close(elf);
	cfi_free(some);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_gaps_go_first),
					    cmocka_unit_test(test_open),
					    cmocka_unit_test(test_never_returns) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

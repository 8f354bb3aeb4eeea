/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files without section headers: their functions and variables are those that nm -D has of the whole file, by whichever
 * table of hashes; and files of which parts of the dynamic segment are damaged.
 */
#include "symbolizer/object/elf_dynamic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/bytes/fmt_error.h"
#include "tests/lab/elf_lab.h"

static const char source[] =
	"int variable = 5; static int hidden(int x) { return x * variable; }\n"
	"int answer(int x) { int s = 0; while (x--) s += x ^ 3; return s + hidden(x); }\n"
	"__attribute__((weak)) int other(int x) { return x * 7; }\n"
	"extern int printf(const char *, ...); int says(int x) { return printf(\"%d\", x); }\n";

/* A copy of it without section headers. */
static const char *
headless(const char *name)
{
	char to[64];
	size_t size;
	uint8_t *p = lab_read(lab_path(name), &size);
	const bool is64 = p[EI_CLASS] == ELFCLASS64;
	uint8_t *field = p + (is64 ? offsetof(Elf64_Ehdr, e_shnum) : offsetof(Elf32_Ehdr, e_shnum));

	snprintf(to, sizeof(to), "%s.headless", name);
	if (is64)
		le64enc(p + offsetof(Elf64_Ehdr, e_shoff), 0);
	else
		le32enc(p + offsetof(Elf32_Ehdr, e_shoff), 0);
	memset(field, 0, 4);
	elf_lab_write(lab_path(to), p, size);
	free(p);
	return lab_keep(lab_path(to));
}

static void
test_functions(void **state)
{
	static const char *const flags[] = {
		"-Wl,--hash-style=gnu",
		"-Wl,--hash-style=sysv",
		"-Wl,--hash-style=both",
		"-Wl,-z,noseparate-code",
		"-Wl,--hash-style=gnu -Wl,--build-id=none -Wl,-z,max-page-size=65536",
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		struct lab_symbol *list;
		char all[256], name[32];
		struct elf_object *o;
		struct symtab *t;
		struct symbol s;
		const char *path;
		size_t n;

		snprintf(all, sizeof(all), "-shared -fPIC %s", flags[i]);
		snprintf(name, sizeof(name), "l%zu.so", i);
		lab_build(name, source, 0, all);
		lab_run("strip %s", name);
		path = headless(name);
		o = elf_lab_open(path);
		t = lab_symtab_of(o, NULL);
		n = lab_nm(lab_path(name), "-D --defined-only -S", &list);
		assert_true(n >= 3);
		for (size_t k = 0; k < n; k++) {
			struct elf_function f;

			assert_true(symtab_find(t, list[k].address + 1, &s));
			assert_string_equal(s.name, list[k].name);
			assert_int_equal(s.start, list[k].address);
			assert_false(symtab_find(t, list[k].address + list[k].size, &s) &&
				     s.start == list[k].address);
			elf_object_function(o, list[k].name, &f);
			assert_int_equal(f.nr, 1);
			assert_int_equal(f.vaddr, list[k].address);
		}
		free(list);
		symtab_free(t);
		elf_object_close(o);
	}
}

static void
test_variables(void **state)
{
	struct symtab_builder *b = symtab_builder_new();
	struct elf_object *o;
	struct symtab *t;
	struct symbol s;

	lab_build("v.so", source, 0, "-shared -fPIC");
	o = elf_lab_open(headless("v.so"));
	assert_int_equal(elf_object_data_symbols(o, 0, b), 0);
	assert_int_equal(symtab_build(b, &t), 0);
	assert_int_equal(symtab_count(t), 1);
	s.start = 0;
	{
		struct elf_function f;

		elf_object_symbol(o, "variable", &f);
		assert_int_equal(f.nr, 1);
		assert_true(symtab_find(t, f.vaddr, &s));
	}
	assert_string_equal(s.name, "variable");
	symtab_free(t);
	elf_object_close(o);
}

/* Each byte of its first page, and of its dynamic segment, is another: nothing crashes, and names end in the file. */
static void
test_damaged(void **state)
{
	const char *path;
	size_t size;
	uint8_t *p;

	lab_build("d.so", source, 0, "-shared -fPIC -nostdlib -Wl,--unresolved-symbols=ignore-all");
	lab_run("strip d.so");
	path = headless("d.so");
	p = lab_read(path, &size);
	for (size_t i = 0; i < size; i += 1 + (size - i > 4096 && i > 1024 && i < 8192 ? 3 : 0)) {
		static const uint8_t values[] = { 0xff, 0x80, 0x00 };
		const uint8_t was = p[i];

		for (size_t k = 0; k < sizeof(values); k++) {
			struct elf_object *o;
			struct elf_dynamic d;

			if (was == values[k])
				continue;
			p[i] = values[k];
			if (elf_object_open_memory(p, size, &o) < 0)
				continue;
			symtab_free(lab_symtab_of(o, NULL));
			if (elf_dynamic_read(o, &d) == 0) {
				assert_true(d.nr <= d.symbols.len / sizeof(Elf64_Sym));
				elf_dynamic_done(&d);
			}
			elf_object_close(o);
		}
		p[i] = was;
	}
	free(p);
}

static void
test_none(void **state)
{
	struct elf_dynamic d;
	struct elf_object *o;

	lab_build("static", "int main(void) { return 0; }", 0, "-static");
	o = elf_lab_open(headless("static"));
	assert_int_equal(elf_dynamic_read(o, &d), -FMT_E_EMPTY);
	elf_object_close(o);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_variables),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests_name("elf_dynamic", tests, NULL, NULL);
}

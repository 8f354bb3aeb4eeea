/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Go's table of functions in each of its forms, of which the installed Go writes one (names.t has
 * that); and tables that are cut and changed.
 */
#include "symbolizer/object/elf_gopclntab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lab/elf_lab.h"

#define CODE                                                                                       \
	"__asm__(\".text\\n.globl one\\none: .skip 32, 0x90\\n.globl two\\ntwo: .skip 16, 0x90\\n\" \
	 \"after: nop\\n\");\n"
#define MAIN "int main(void) { return 0; }\n"
#define NAMES_OF(two) "n0: .byte 0\\nn1: .asciz \\\"main.one\\\"\\nn2: .asciz \\\"" two "\\\"\\n"
#define NAMES NAMES_OF("main.(*t).two")
#define TABLE(section, flags, magic, body)                                                         \
	CODE "__asm__(\".section " section ",\\\"" flags "\\\",@progbits\\ntab: .long " magic      \
	     "\\n.byte 0,0,1,8\\n" body ".previous\\n\");\n" MAIN

#define GO_1_2                                                                                     \
	".quad 2\\nfuncs: .quad one, f1-tab, two, f2-tab, after\\n"                                \
	"f1: .quad one\\n.long n1-tab\\nf2: .quad two\\n.long n2-tab\\n" NAMES
#define GO_1_16                                                                                    \
	".quad 2, 0, n0-tab, cu-tab, 0, 0, funcs-tab\\n" NAMES                                     \
	"cu:\\nfuncs: .quad one, f1-funcs, two, f2-funcs, after\\n"                                \
	"f1: .quad one\\n.long n1-n0\\nf2: .quad two\\n.long n2-n0\\n"
#define GO_1_18                                                                                    \
	".quad 2, 0, one, n0-tab, cu-tab, 0, 0, funcs-tab\\n" NAMES                                \
	"cu:\\nfuncs: .long 0, f1-funcs, two-one, f2-funcs, after-one\\n"                          \
	"f1: .long 0, n1-n0\\nf2: .long two-one, n2-n0\\n"

/* Since Go 1.26 the head has 0 for where the text begins: something else in the file says it. */
#define GO_1_26(names, more)                                                                       \
	TABLE(".gopclntab", "a", "0xfffffff1",                                                     \
	      ".quad 2, 0, 0, n0-tab, cu-tab, 0, 0, funcs-tab\\n" names                            \
	      "cu:\\nfuncs: .long 0, f1-funcs, two-one, f2-funcs, after-one\\n"                    \
	      "f1: .long 0, n1-n0\\nf2: .long two-one, n2-n0\\n" more)
#define GO_1_26_WITH(more) GO_1_26(NAMES, more)
#define GO_BEGINNING "_rt0_amd64_linux"
/* What looks like the runtime's moduledata; and it: the table, the names, ..., the first function, ..., the text. */
#define MODULE(section)                                                                            \
	".section " section ",\\\"aw\\\",@progbits\\n.balign 8\\n.quad tab, 0, 0, tab, n0\\n"      \
	".skip 18*8\\n.quad one, after, one, after\\n"

static const struct {
	const char *name, *source, *flags;
} forms[] = {
	{ "go1_2", TABLE(".gopclntab", "a", "0xfffffffb", GO_1_2), "-no-pie" },
	{ "go1_16", TABLE(".gopclntab", "a", "0xfffffffa", GO_1_16), "-no-pie" },
	{ "go1_18", TABLE(".gopclntab", "a", "0xfffffff0", GO_1_18), "-no-pie" },
	{ "go1_20", TABLE(".gopclntab", "a", "0xfffffff1", GO_1_18), "-no-pie" },
	/* The text's address is in a relocation alone. */
	{ "go1_20_pie", TABLE(".gopclntab", "aw", "0xfffffff1", GO_1_18), "-pie" },
	{ "go1_26_module", GO_1_26_WITH(MODULE(".go.module")), "-no-pie" },
	{ "go1_26_data", GO_1_26_WITH(MODULE(".noptrdata")), "-no-pie" },
	/* Linked by another linker, which put the program's beginning before the text. */
	{ "go1_26_pie", GO_1_26_WITH(MODULE(".go.module")), "-pie" },
	{ "go1_26_relr", GO_1_26_WITH(MODULE(".go.module")), "-pie -fuse-ld=lld -Wl,-z,rel" },
};

static struct symtab *
functions_of(const char *path)
{
	struct elf_object *o = elf_lab_open(path);
	struct symtab_builder *b = symtab_builder_new();
	struct symtab *t = NULL;

	assert_int_equal(elf_gopclntab_symbols(o, b), 0);
	assert_int_equal(symtab_build(b, &t), 0);
	elf_object_close(o);
	return t;
}

static uint64_t
address_of(const char *path, const char *name)
{
	struct lab_symbol *list;
	uint64_t address = 0;
	size_t n = lab_nm(path, "", &list);

	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i].name, name) == 0)
			address = list[i].address;
	free(list);
	assert_true(address != 0);
	return address;
}

static void
has(const struct symtab *t, uint64_t at, uint64_t start, const char *name)
{
	struct symbol s;

	assert_true(symtab_find(t, at, &s));
	assert_int_equal(s.start, start);
	assert_string_equal(s.name, name);
}

static void
test_forms(void **state)
{
	struct symbol s;

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const char *path =
			lab_keep(lab_build(forms[i].name, forms[i].source, 0, forms[i].flags));
		uint64_t one = address_of(path, "one");
		struct symtab *t;

		lab_run("strip -s %s", forms[i].name);
		t = functions_of(path);
		has(t, one, one, "main.one");
		has(t, one + 31, one, "main.one");
		has(t, one + 32, one + 32, "main.(*t).two");
		has(t, one + 47, one + 32, "main.(*t).two");
		assert_false(symtab_find(t, one - 1, &s));
		assert_false(symtab_find(t, one + 48, &s));
		symtab_free(t);
	}
}

/* Tables of which it is not known, or of which not all functions are in code. */
static const struct {
	const char *name, *source, *flags;
} unbelieved[] = {
	{ "no_base", GO_1_26_WITH(""), "-no-pie" },
	{ "other_beginning", GO_1_26_WITH(""), "-no-pie -nostdlib -Wl,-e,two" },
	{ "entered_elsewhere", GO_1_26(NAMES_OF(GO_BEGINNING), ""),
	  "-no-pie -nostdlib -Wl,-e,one" },
	{ "other_module",
	  GO_1_26_WITH(".data\\n.quad tab+8, n0\\n.skip 18*8\\n"
		       ".quad one, after, one, after\\n"),
	  "-no-pie" },
	{ "other_text",
	  GO_1_26_WITH(".data\\n.quad tab, n0\\n.skip 18*8\\n"
		       ".quad one, after, one+1, after\\n"),
	  "-no-pie" },
	{ "half_in_code",
	  TABLE(".gopclntab", "a", "0xfffffff1",
		".quad 2, 0, one, n0-tab, cu-tab, 0, 0, funcs-tab\\n" NAMES
		"cu:\\nfuncs: .long 0, f1-funcs, two-one, f2-funcs, 0x7fffffff\\n"
		"f1: .long 0, n1-n0\\nf2: .long two-one, n2-n0\\n"),
	  "-no-pie" },
	{ "not_sorted",
	  TABLE(".gopclntab", "a", "0xfffffff1",
		".quad 2, 0, one, n0-tab, cu-tab, 0, 0, funcs-tab\\n" NAMES
		"cu:\\nfuncs: .long two-one, f1-funcs, 0, f2-funcs, after-one\\n"
		"f1: .long two-one, n1-n0\\nf2: .long 0, n2-n0\\n"),
	  "-no-pie" },
};

static void
test_unbelieved(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(unbelieved) / sizeof(unbelieved[0]); i++) {
		const char *path = lab_keep(lab_build(unbelieved[i].name, unbelieved[i].source, 0,
						      unbelieved[i].flags));
		struct symtab *t;

		lab_run("strip -s %s", unbelieved[i].name);
		t = functions_of(path);
		if (symtab_count(t) != 0)
			fail_msg("%s: %zu names", unbelieved[i].name, symtab_count(t));
		symtab_free(t);
	}
}

/* A program that is not stripped says it itself, also where moduledata does not. */
static void
test_runtime_text(void **state)
{
	const char *path = lab_keep(lab_build(
		"runtime_text", GO_1_26_WITH(".text\\n.set runtime.text, one\\n"), 0, "-no-pie"));
	struct symtab *t = functions_of(path);
	const uint64_t one = address_of(path, "one");

	(void)state;
	has(t, one, one, "main.one");
	has(t, one + 33, one + 32, "main.(*t).two");
	symtab_free(t);
}

/* Linked by Go: the text is all of .text, and the program begins at one of its functions. */
static void
test_section_of_text(void **state)
{
	const char *path = lab_keep(lab_build("linked_by_go", GO_1_26(NAMES_OF(GO_BEGINNING), ""),
					      0, "-no-pie -nostdlib -Wl,-e,two"));
	const uint64_t one = address_of(path, "one");
	struct symtab *t;

	(void)state;
	lab_run("strip -s linked_by_go");
	t = functions_of(path);
	has(t, one + 31, one, "main.one");
	has(t, one + 32, one + 32, GO_BEGINNING);
	symtab_free(t);
}

/* Each byte of each table, changed: names may be wrong then, and nothing else. */
static void
test_damage(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		size_t size, at = 0;
		uint8_t *bytes = lab_read(lab_path(forms[i].name), &size);

		while (memcmp(bytes + at, "main.one", 8) != 0)
			at++;
		for (size_t k = at - 120; k < at + 100; k++) {
			const uint8_t was = bytes[k];

			for (int change = 0; change < 3; change++) {
				bytes[k] = (uint8_t[]){ 0xff, 0x80, was ^ 1 }[change];
				elf_lab_write(lab_path("damaged"), bytes, size);
				symtab_free(functions_of(lab_path("damaged")));
			}
			bytes[k] = was;
		}
		free(bytes);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),	     cmocka_unit_test(test_unbelieved),
		cmocka_unit_test(test_runtime_text), cmocka_unit_test(test_section_of_text),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

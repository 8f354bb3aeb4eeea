/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * MiniDebugInfo as Fedora's find-debuginfo makes it, against nm of the twin that was not stripped;
 * and sections that nobody's tool made: cut, changed, and small ones that unpack to much.
 */
#include "symbolizer/object/elf_minidebug.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "tests/lab/elf_lab.h"

/* lab_dir()/mini from lab_dir()/whole; what is packed stays as mini.xz. */
static void
make_mini(void)
{
	lab_build("whole", lab_program, 0, "-g");
	lab_run("nm -D whole --format=posix --defined-only | awk '{ print $1 }' | sort >dynsyms; "
		"nm whole --format=posix --defined-only | "
		"awk '$2 == \"T\" || $2 == \"t\" || $2 == \"D\" { print $1 }' | sort >funcsyms; "
		"comm -13 dynsyms funcsyms >keep; "
		"objcopy --only-keep-debug whole debug; "
		"objcopy -S --remove-section .gdb_index --remove-section .comment "
		"--keep-symbols=keep debug mini_debug; "
		"strip -s -o stripped whole; xz -k -f mini_debug; mv mini_debug.xz mini.xz");
}

/* lab_dir()/NAME: the stripped program with the file as its section. */
static const char *
with_section(const char *name, const char *file)
{
	lab_run("objcopy --add-section .gnu_debugdata=%s stripped %s", file, name);
	return lab_path(name);
}

static struct symtab *
minidebug_of(const char *path)
{
	struct elf_object *o = elf_lab_open(path);
	struct symtab_builder *b = symtab_builder_new();
	struct symtab *t = NULL;

	assert_int_equal(elf_minidebug_symbols(o, b), 0);
	assert_int_equal(symtab_build(b, &t), 0);
	elf_object_close(o);
	return t;
}

static void
has_nothing(const char *path)
{
	struct symtab *t = minidebug_of(path);
	struct symbol s;

	for (uint64_t at = 0x1000; at < 0x3000; at++)
		assert_false(symtab_find(t, at, &s));
	symtab_free(t);
}

static void
test_names(void **state)
{
	struct lab_symbol *list;
	size_t n = lab_nm(lab_path("whole"), "-S", &list), found = 0;
	struct symtab *t = minidebug_of(with_section("mini", "mini.xz"));
	struct symbol s;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		if (list[i].size == 0 || !strchr("tT", list[i].type))
			continue;
		if (!symtab_find(t, list[i].address + list[i].size - 1, &s))
			fail_msg("nothing at %s", list[i].name);
		assert_int_equal(s.start, list[i].address);
		found += strcmp(s.name, list[i].name) == 0;
	}
	/* hidden_one, impl, choose, plain, dies, caller, main, asm_func...: aliases share a place. */
	assert_in_range(found, 8, n);
	symtab_free(t);
	free(list);
	t = lab_symtab(lab_path("mini"), NULL);
	n = lab_nm(lab_path("whole"), "-S", &list);
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i].name, "hidden_one") == 0)
			assert_false(symtab_find(t, list[i].address, &s));
	symtab_free(t);
	free(list);
}

static void
test_none(void **state)
{
	(void)state;
	has_nothing(lab_path("stripped"));
	has_nothing(lab_path("whole"));
}

/* At no place does a cut or changed byte do more than take the names. */
static void
test_damage(void **state)
{
	size_t size;
	uint8_t *bytes = lab_read(lab_path("mini.xz"), &size);

	(void)state;
	for (size_t at = 0; at < size; at += 1 + size / 40) {
		elf_lab_write(lab_path("cut.xz"), bytes, at ? at : 1);
		has_nothing(with_section("cut", "cut.xz"));
		bytes[at] ^= 0x10;
		elf_lab_write(lab_path("cut.xz"), bytes, size);
		bytes[at] ^= 0x10;
		symtab_free(minidebug_of(with_section("cut", "cut.xz")));
	}
	free(bytes);
	lab_run("head -c 4000 /dev/zero | xz >zeros.xz");
	has_nothing(with_section("zeros", "zeros.xz"));
}

/* 40 KB that claim to be 256 MiB, in one stream or in many. */
static void
test_bombs(void **state)
{
	(void)state;
	lab_run("head -c 268435456 /dev/zero | xz -1 >bomb.xz; "
		"head -c 16777216 /dev/zero | xz -1 >part.xz; "
		"for i in $(seq 16); do cat part.xz; done >parts.xz");
	has_nothing(with_section("bomb", "bomb.xz"));
	has_nothing(with_section("parts", "parts.xz"));
	/* Sanitizers take memory of their own. */
#ifndef __SANITIZE_ADDRESS__
	struct rusage u;

	assert_int_equal(getrusage(RUSAGE_SELF, &u), 0);
	assert_in_range(u.ru_maxrss, 0, 192 << 10);
#endif
}

/* What is unpacked is of the share of the file that it is in. */
static void
test_share(void **state)
{
	struct elf_object *o = elf_lab_open(lab_path("mini"));
	struct symtab_builder *b = symtab_builder_new();
	struct elf_share share = { .left = 100 };
	struct symtab *t = NULL;

	(void)state;
	elf_object_limit(o, &share);
	assert_int_equal(elf_minidebug_symbols(o, b), 0);
	assert_int_equal(symtab_build(b, &t), 0);
	assert_int_equal(symtab_count(t), 0);
	assert_true(share.refused);
	symtab_free(t);
	elf_object_close(o);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),  cmocka_unit_test(test_none),
		cmocka_unit_test(test_damage), cmocka_unit_test(test_bombs),
		cmocka_unit_test(test_share),
	};

	make_mini();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

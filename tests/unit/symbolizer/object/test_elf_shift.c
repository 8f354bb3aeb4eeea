/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A library that was linked again with another section in front of its code, as prelink(8) moves it: sections tell how
 * far, and segments do not. What nm says of both is compared.
 */
#include "symbolizer/object/elf_shift.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lab/elf_lab.h"

static const char source[] =
	"int global = 5; const int constants[3] = { 1, 2, 3 };\n"
	"__attribute__((noinline)) long second(long n) { return n * 7 + constants[n & 1]; }\n"
	"long entry(long n) { return second(n) + global; }\n";

/* Of nm's symbols, the one of this name. */
static uint64_t
address_of(const char *path, const char *name)
{
	FILE *f = lab_output("nm %s | awk '$3 == \"%s\" { print $1 }'", path, name);
	char line[64];

	assert_non_null(fgets(line, sizeof(line), f));
	pclose(f);
	return strtoull(line, NULL, 16);
}

static void
links(const char *name, const char *flags)
{
	char all[512];

	snprintf(all, sizeof(all), "-O1 -g -fPIC -shared -nostdlib -Wl,-z,noseparate-code %s",
		 flags);
	lab_build(name, source, 0, all);
}

static enum elf_shift
shift_of(bool data, const char *from, const char *to, uint64_t *ret)
{
	struct elf_object *a = elf_lab_open(lab_path(from)), *b = elf_lab_open(lab_path(to));
	enum elf_shift shift = (data ? elf_shift_data : elf_shift_code)(a, b, ret);

	elf_object_close(a);
	elf_object_close(b);
	return shift;
}

static void
test_sections(void **state)
{
	uint64_t shift = 1, code, data;

	links("before.so", "-Wl,--hash-style=gnu");
	links("after.so", "-Wl,--hash-style=both");
	code = address_of("after.so", "second") - address_of("before.so", "second");
	data = address_of("after.so", "constants") - address_of("before.so", "constants");
	assert_true(code != 0);
	lab_run("objcopy --only-keep-debug before.so before.debug && strip -s -o stripped.so after.so");
	assert_int_equal(shift_of(false, "before.debug", "stripped.so", &shift), ELF_SHIFT_KNOWN);
	assert_int_equal(shift, code);
	assert_int_equal(shift_of(false, "stripped.so", "before.debug", &shift), ELF_SHIFT_KNOWN);
	assert_int_equal(shift, -code);
	assert_int_equal(shift_of(false, "after.so", "stripped.so", &shift), ELF_SHIFT_KNOWN);
	assert_int_equal(shift, 0);
	/* Variables in .data and constants are told as one only where they were moved as far. */
	if (address_of("after.so", "global") - address_of("before.so", "global") == data) {
		assert_int_equal(shift_of(true, "before.debug", "stripped.so", &shift),
				 ELF_SHIFT_KNOWN);
		assert_int_equal(shift, data);
	} else {
		shift = 5;
		assert_int_equal(shift_of(true, "before.debug", "stripped.so", &shift),
				 ELF_SHIFT_UNEQUAL);
		assert_int_equal(shift, 5);
	}
}

/* prelink -r: the same sections, all of them elsewhere, and no names to compare: segments tell. */
static void
test_segments(void **state)
{
	uint64_t shift = 1, moved;

	links("low.so", "");
	links("high.so", "-Wl,-Ttext-segment=0x400000");
	moved = address_of("high.so", "second") - address_of("low.so", "second");
	assert_int_equal(shift_of(false, "low.so", "high.so", &shift), ELF_SHIFT_KNOWN);
	assert_int_equal(shift, moved);
	lab_run("objcopy --rename-section .text=.other low.so renamed.so");
	assert_int_equal(shift_of(false, "renamed.so", "high.so", &shift), ELF_SHIFT_KNOWN);
	assert_int_equal(shift, moved);
}

static void
test_misfits(void **state)
{
	uint64_t shift = 5;

	/* Two sections of code, of which only one was moved. */
	lab_build("near.so",
		  "__attribute__((section(\"far\"))) int distant(void) { return 1; }\n"
		  "int near(void) { return 2; }\n",
		  0, "-shared -nostdlib -fPIC -Wl,--section-start=far=0x800000");
	lab_build("nearer.so",
		  "__attribute__((section(\"far\"))) int distant(void) { return 1; }\n"
		  "int near(void) { return 2; }\n",
		  0, "-shared -nostdlib -fPIC -Wl,--section-start=far=0x801000");
	assert_int_equal(shift_of(false, "near.so", "nearer.so", &shift), ELF_SHIFT_UNEQUAL);
	/* Another size. */
	lab_build("larger.so",
		  "__attribute__((section(\"far\"))) int distant(void) { return 1; }\n"
		  "int near(int x) { return x % 7 + x / 13; }\n",
		  0, "-shared -nostdlib -fPIC -Wl,--section-start=far=0x800000");
	assert_int_equal(shift_of(false, "near.so", "larger.so", &shift), ELF_SHIFT_UNEQUAL);
	assert_int_equal(shift, 5);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_misfits),
	};

	return cmocka_run_group_tests_name("elf_shift", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Static probes of files that an assembler makes as <sys/sdt.h> would: where they are in the file, also after prelink,
 * of 32 and 64 bits; notes that are damaged, or tell of places that the file does not have.
 */
#include "symbolizer/object/usdt_place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbolizer/object/elf_usdt.h"
#include "tests/lab/elf_lab.h"

/* lab:two has one instruction twice; the others behind are of places that the file does not have, or no probes. */
static const char source[] = ".section .stapsdt.base,\"a\"\n"
			     "base: .space 1\n"
			     ".section .probes,\"aw\"\n"
			     "sem: .2byte 0\n"
			     ".text\n"
			     ".globl _start\n"
			     "_start: nop\n"
			     "one: nop\n"
			     "two: nop\n"
			     "three: nop\n"
			     ".macro note at, sem, name, type=3\n"
			     ".balign 4\n"
			     ".4byte 8, 2f-1f, \\type\n"
			     ".asciz \"stapsdt\"\n"
			     "1: ADDRESS \\at, base, \\sem\n"
			     ".asciz \"lab\"\n"
			     ".asciz \"\\name\"\n"
			     ".asciz \"\"\n"
			     "2: .balign 4\n"
			     ".endm\n"
			     ".section .note.stapsdt,\"\",%note\n"
			     "note one, 0, one\n"
			     "note two, sem, two\n"
			     "note two, sem, two\n"
			     "note three, sem, two\n"
			     "note one, 0x70000000, high\n"
			     "note 0x70000000, 0, far\n"
			     "note one, 0, other, 4\n";

/* flags: of the compiler; address: a word of the file. */
static const char *
build(const char *name, const char *flags, const char *address)
{
	char text[sizeof(source) + 16], file[64];
	const char *word = strstr(source, "ADDRESS");

	(void)snprintf(text, sizeof(text), "%.*s%s%s", (int)(word - source), source, address,
		       word + strlen("ADDRESS"));
	(void)snprintf(file, sizeof(file), "%s.s", name);
	elf_lab_write(lab_path(file), text, strlen(text));
	lab_run("${CC:-cc} %s -nostdlib -Wl,--build-id=none -o %s %s", flags, name, file);
	return lab_keep(lab_path(name));
}

/* Of a section in the file, as readelf has it. */
static uint64_t
section(const char *path, const char *name)
{
	FILE *f = lab_output("readelf -SW %s | sed 's/^ *[[][ 0-9]*[]]//' | awk '$1 == \"%s\" { "
			     "print $4 }'",
			     path, name);
	unsigned long offset = 0;

	assert_int_equal(fscanf(f, "%lx", &offset), 1);
	pclose(f);
	return offset;
}

static void
check(const char *path)
{
	const uint64_t code = section(path, ".text"), semaphore = section(path, ".probes");
	struct usdt_places p = { 0 };

	assert_int_equal(usdt_place_find(path, "lab", "one", &p), USDT_PLACE_FOUND);
	assert_int_equal(p.nr, 1);
	assert_true(p.p[0].offset > code && p.p[0].offset <= code + 4);
	assert_int_equal(p.p[0].semaphore, 0);
	usdt_places_done(&p);
	assert_int_equal(usdt_place_find(path, "lab", "two", &p), USDT_PLACE_FOUND);
	assert_int_equal(p.nr, 2);
	assert_int_equal(p.p[0].offset - code, 2 * (p.p[1].offset - p.p[0].offset));
	assert_int_equal(p.p[0].semaphore, semaphore);
	assert_int_equal(p.p[1].semaphore, semaphore);
	usdt_places_done(&p);
	assert_int_equal(usdt_place_find(path, "lab", "high", &p), USDT_PLACE_NO_SEMAPHORE);
	assert_int_equal(usdt_place_find(path, "lab", "far", &p), USDT_PLACE_NO_CODE);
	assert_int_equal(usdt_place_find(path, "lab", "other", &p), USDT_PLACE_UNKNOWN);
	assert_int_equal(usdt_place_find(path, "la", "one", &p), USDT_PLACE_UNKNOWN);
	assert_null(p.p);
}

static void
test_places(void **state)
{
	struct usdt_places p = { 0 };

	(void)state;
	check(build("moved", "-shared", ".8byte"));
	check(build("fixed", "-static -no-pie", ".8byte"));
	check(build("dense", "-static -no-pie -Wl,-z,noseparate-code", ".8byte"));
	lab_run("strip -o bare fixed");
	check(lab_path("bare"));
#if defined(__x86_64__)
	check(build("narrow", "-m32 -static -no-pie", ".4byte"));
#endif
	assert_int_equal(usdt_place_find("/proc/self/exe", "lab", "one", &p), USDT_PLACE_NONE);
	assert_int_equal(usdt_place_find(lab_path("fixed.s"), "lab", "one", &p), USDT_PLACE_NO_ELF);
	assert_int_equal(usdt_place_find(lab_path("none"), "lab", "one", &p), USDT_PLACE_NO_FILE);
}

/* Notes keep what they said before their file was moved, which that of the base tells. */
static void
test_prelink(void **state)
{
	const char *path = build("before", "-static -no-pie", ".8byte");
	const uint64_t notes = section(path, ".note.stapsdt");
	size_t size;
	uint8_t *p = lab_read(path, &size);

	(void)state;
	/* The header and the name are 20 bytes; of the first four notes. */
	for (uint64_t at = notes, i = 0; i < 4; i++) {
		uint8_t *words = p + at + 20;

		le64enc(words, le64dec(words) - 0x1000);
		le64enc(words + 8, le64dec(words + 8) - 0x1000);
		if (le64dec(words + 16))
			le64enc(words + 16, le64dec(words + 16) - 0x1000);
		at += 20 + ((le32dec(p + at + 4) + 3) & ~3u);
	}
	elf_lab_write(lab_path("after"), p, size);
	free(p);
	check(lab_path("after"));
}

static bool
count(void *arg, const struct elf_usdt *probe)
{
	assert_true(strlen(probe->provider) + strlen(probe->name) < 4096);
	++*(size_t *)arg;
	return true;
}

/* Each word of the first note as something else: its strings end in what it has, and it ends in its section. */
static void
test_damaged(void **state)
{
	static const uint32_t values[] = { 0,  1,    7,		 12,	     23,	24,
					   25, 4096, 0x7fffffff, 0xfffffff0, 0xffffffff };
	const char *path = build("whole", "-static -no-pie", ".8byte");
	const uint64_t notes = section(path, ".note.stapsdt");
	size_t size, seen = 0;
	uint8_t *p = lab_read(path, &size);
	struct elf_object *o = elf_lab_open(path);

	(void)state;
	elf_usdt_each(o, count, &seen);
	elf_object_close(o);
	assert_int_equal(seen, 6);
	for (size_t word = 0; word < 16; word++) {
		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
			uint8_t *at = p + notes + 4 * word;
			const uint32_t was = le32dec(at);

			le32enc(at, values[i]);
			seen = 0;
			assert_int_equal(elf_object_open_memory(p, size, &o), 0);
			elf_usdt_each(o, count, &seen);
			elf_object_close(o);
			assert_true(seen <= 6);
			le32enc(at, was);
		}
	}
	free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_prelink),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

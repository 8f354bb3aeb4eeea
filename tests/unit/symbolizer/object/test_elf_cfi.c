/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of files without symbols, against the FDEs that readelf has of them and the symbols that they had; and
 * files whose call frame information is damaged.
 */
#include "symbolizer/object/elf_cfi.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <elf.h>

#include "format/bytes/fmt_error.h"
#include "tests/lab/elf_lab.h"

static struct symtab *
functions_of(struct elf_object *o)
{
	struct symtab_builder *b = symtab_builder_new();
	struct symtab *t = NULL;

	assert_int_equal(elf_cfi_functions(o, b), 0);
	assert_int_equal(symtab_build(b, &t), 0);
	elf_object_close(o);
	return t;
}

struct stub_section {
	uint64_t start, size;
};

/* Its sections of stubs, as readelf has them. */
static size_t
stubs_of(const char *path, struct stub_section stubs[8])
{
	FILE *f = lab_output("readelf -SW %s | sed 's/^ *\\[ *[0-9]*\\]//' | awk '$1 ~ "
			     "/^\\.i?plt/ { print $3, $5 }'",
			     path);
	size_t n = 0;

	while (n < 8 && fscanf(f, "%" SCNx64 " %" SCNx64, &stubs[n].start, &stubs[n].size) == 2)
		n++;
	pclose(f);
	return n;
}

/* Every FDE of readelf but those of stubs, and no other. CIEs of signal frames there are none in these files. */
static void
as_readelf(const char *path)
{
	struct stub_section stubs[8];
	const size_t nr_stubs = stubs_of(path, stubs);
	struct symtab *t = functions_of(elf_lab_open(path));
	uint64_t start, end;
	struct symbol s;
	size_t nr = 0;
	FILE *f = lab_output(
		"readelf -W --debug-dump=frames %s 2>/dev/null | "
		"sed -n 's/.* FDE .*pc=\\([0-9a-f]*\\)\\.\\.\\([0-9a-f]*\\)$/\\1 \\2/p' | "
		"sort -u",
		path);

	while (fscanf(f, "%" SCNx64 " %" SCNx64, &start, &end) == 2) {
		bool stub = false;

		for (size_t i = 0; i < nr_stubs; i++)
			stub |= start - stubs[i].start < stubs[i].size;
		if (stub) {
			assert_false(symtab_find(t, start, &s));
			continue;
		}
		if (!symtab_find(t, start, &s) || s.start != start || s.end != end)
			fail_msg("%s: %" PRIx64 "..%" PRIx64, path, start, end);
		assert_true(symtab_find(t, end - 1, &s));
		assert_int_equal(s.start, start);
		nr++;
	}
	pclose(f);
	assert_true(nr > 5);
	assert_int_equal(symtab_count(t), nr);
	symtab_free(t);
}

static void
test_files(void **state)
{
	static const char *const files[] = { "/usr/bin/sort", "/bin/bash", "/usr/bin/find",
					     "/usr/bin/objcopy" };

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		as_readelf(files[i]);
	lab_build("fixed", lab_program, 0, "-O1 -no-pie");
	lab_run("strip fixed");
	as_readelf(lab_path("fixed"));
}

static bool
made_of(const char *path, uint64_t address)
{
	struct symtab *t = functions_of(elf_lab_open(path));
	struct symbol s;
	const bool is = symtab_find(t, address, &s) && s.start == address && *s.name == '\0';

	symtab_free(t);
	return is;
}

/* Without section headers, and with the tables of sections moved, the same. */
static void
test_names_twin(void **state)
{
	static const char source[] =
		"__attribute__((noinline)) static int one(int x) { __asm__(\"\"); return x * 3; }\n"
		"__attribute__((noinline)) int two(int x) { __asm__(\"\"); return one(x) + 1; }\n"
		"__asm__(\".text\\n.type bare, @function\\nbare: nop\\nnop\\nret\\n\");\n"
		"int main(int c, char **v) { (void)v; return two(c); }\n";
	struct lab_symbol *list;
	const char *path = lab_keep(lab_build("twin", source, 0, "-O1"));
	size_t n = lab_nm(path, "", &list), seen = 0;

	(void)state;
	lab_run("strip -o short twin && objcopy --strip-section-headers short shorter 2>/dev/null || "
		"python3 -c \"b = bytearray(open('short', 'rb').read()); b[40:48] = bytes(8); "
		"b[60:64] = bytes(4); open('shorter', 'wb').write(b)\"");
	for (size_t i = 0; i < n; i++) {
		const bool bare = strcmp(list[i].name, "bare") == 0;

		if (!bare && strcmp(list[i].name, "one") != 0 && strcmp(list[i].name, "two") != 0 &&
		    strcmp(list[i].name, "main") != 0)
			continue;
		assert_int_equal(made_of(lab_path("short"), list[i].address), !bare);
		assert_int_equal(made_of(lab_path("shorter"), list[i].address), !bare);
		seen++;
	}
	assert_int_equal(seen, 4);
	free(list);
}

/* Whatever its bytes are: what is found is in a segment of code. */
static void
test_damaged(void **state)
{
	size_t size, at;
	uint8_t *bytes;
	FILE *f;

	(void)state;
	lab_build("bad", lab_program, 0, "-O1");
	lab_run("strip bad");
	f = lab_output(
		"readelf -SW bad | sed -n 's/.* \\.eh_frame  *PROGBITS  *[0-9a-f]*  *\\([0-9a-f]*\\) "
		".*/\\1/p'");
	assert_int_equal(fscanf(f, "%zx", &at), 1);
	pclose(f);
	bytes = lab_read(lab_path("bad"), &size);
	for (size_t i = 0; i < 600; i++) {
		struct elf_object *o;
		struct symtab *t;

		bytes[at + i % 200] ^= (uint8_t)(1u << i % 8 | i % 5);
		assert_int_equal(elf_object_open_memory(bytes, size, &o), 0);
		t = functions_of(o);
		assert_true(symtab_count(t) < size / 12);
		symtab_free(t);
	}
	free(bytes);
}

/* It is counted as symbols are, of which there are half as many in as many bytes. */
static void
test_share(void **state)
{
	struct elf_bytes bytes;
	struct cfi_section section;
	struct elf_share share = { 0 };
	struct elf_object *o = elf_lab_open("/bin/bash");
	struct symtab *t;

	(void)state;
	assert_int_equal(elf_cfi_read(o, NULL, true, &bytes, &section), 0);
	free(bytes.p);
	share.left = 2 * bytes.len - 1;
	elf_object_limit(o, &share);
	t = functions_of(o);
	assert_int_equal(symtab_count(t), 0);
	assert_true(share.refused);
	assert_int_equal(share.left, 2 * bytes.len - 1);
	symtab_free(t);
	o = elf_lab_open("/bin/bash");
	share = (struct elf_share){ .left = 2 * bytes.len };
	elf_object_limit(o, &share);
	t = functions_of(o);
	assert_true(symtab_count(t) > 1000);
	assert_false(share.refused);
	assert_int_equal(share.left, 0);
	symtab_free(t);
}

/* Of a section that the share has no room for nothing is read, and nothing is unpacked. */
static void
test_share_first(void **state)
{
	struct elf_share share = { .left = 200 };
	struct symtab_builder *b = symtab_builder_new();
	struct elf_object *o;

	(void)state;
	lab_build("packed", lab_program, 0,
		  "-g -O1 -gz=zlib -fno-asynchronous-unwind-tables -fno-exceptions");
	for (int i = 0; i < 2; i++) {
		o = elf_lab_open(i ? lab_path("packed") : "/bin/bash");
		elf_object_limit(o, &share);
		assert_int_equal(elf_cfi_functions(o, b), 0);
		assert_true(elf_bytes_made(o) <= 200);
		assert_true(share.refused);
		elf_object_close(o);
	}
	symtab_builder_free(b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),	    cmocka_unit_test(test_names_twin),
		cmocka_unit_test(test_damaged),	    cmocka_unit_test(test_share),
		cmocka_unit_test(test_share_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

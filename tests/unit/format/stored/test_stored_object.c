/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names and marks of copies, and files whose headers lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/sys/endian.h>

#include "format/bytes/fmt_error.h"
#include "format/stored/stored_object.h"
#include "format/stored/stored_reduce.h"

#define FILE_BYTES 8192
#define SECTIONS_AT 4096

static void
test_names(void **state)
{
	struct buildid id = buildid_of(BUILDID_GNU, "\x01\xab\xcd", 3);
	char dir[3], name[STORED_NAME_BYTES];

	(void)state;
	assert_true(stored_object_name(&id, dir, name));
	assert_string_equal(dir, "01");
	assert_string_equal(name, "abcd.debug");
	id = buildid_of(BUILDID_SURROGATE, "01234567890123456789", 20);
	assert_true(stored_object_name(&id, dir, name));
	assert_int_equal(strlen(name), 38 + 6);
	id = buildid_of(BUILDID_GNU, "\x01", 1);
	assert_false(stored_object_name(&id, dir, name));
	id = (struct buildid){ 0 };
	assert_false(stored_object_name(&id, dir, name));
}

static int
read_mark(const uint8_t *p, size_t n, struct stored_mark *ret)
{
	struct io_source *file = io_source_memory(p, n);
	int error = stored_mark_read(file, ret);

	file->close(file);
	return error;
}

/* Each bit of it counts; so does where it is. */
static void
test_mark(void **state)
{
	uint8_t bytes[100 + STORED_MARK_BYTES] = { 0 };
	struct stored_mark m = { .id = buildid_of(BUILDID_SURROGATE, "01234567890123456789", 20),
				 .whole = true,
				 .uid = 1000,
				 .elf_size = 100,
				 .rules = STORED_RULES },
			   got = { 0 };

	(void)state;
	stored_mark_put(&m, bytes + 100);
	assert_int_equal(read_mark(bytes, sizeof(bytes), &got), 0);
	assert_int_equal(buildid_cmp(&got.id, &m.id), 0);
	assert_true(got.whole);
	assert_int_equal(got.uid, 1000);
	assert_int_equal(got.elf_size, 100);
	assert_int_equal(got.rules, STORED_RULES);
	for (size_t bit = 0; bit < (size_t)STORED_MARK_BYTES * 8; bit++) {
		bytes[100 + bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(read_mark(bytes, sizeof(bytes), &got), -FMT_E_CORRUPT);
		bytes[100 + bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	assert_int_equal(read_mark(bytes, sizeof(bytes) - 1, &got), -FMT_E_CORRUPT);
	assert_int_equal(read_mark(bytes + 1, sizeof(bytes) - 1, &got), -FMT_E_CORRUPT);
	assert_int_equal(read_mark(bytes, 10, &got), -FMT_E_CORRUPT);
}

/* --- files that lie --- */

struct target {
	uint64_t bytes, end;
	int refuse_after; /* calls; 0: never */
};

static int
put(void *arg, uint64_t offset, const void *p, size_t n)
{
	struct target *t = arg;

	(void)p;
	t->bytes += n;
	if (offset + n > t->end)
		t->end = offset + n;
	return t->refuse_after && --t->refuse_after == 0 ? -1234 : 0;
}

/* One segment of the first page, and sections of symbols that overlap as the test likes. */
static Elf64_Shdr *
make_file(uint8_t *file, size_t sections)
{
	Elf64_Ehdr *h = (Elf64_Ehdr *)(void *)file;
	Elf64_Phdr *p = (Elf64_Phdr *)(void *)(file + sizeof(*h));
	Elf64_Shdr *s = (Elf64_Shdr *)(void *)(file + SECTIONS_AT);

	memset(file, 0, FILE_BYTES);
	memcpy(h->e_ident, ELFMAG "\2\1\1", 7);
	h->e_type = ET_DYN;
	h->e_phoff = sizeof(*h);
	h->e_phentsize = sizeof(*p);
	h->e_phnum = 1;
	h->e_shoff = SECTIONS_AT;
	h->e_shentsize = sizeof(*s);
	h->e_shnum = (uint16_t)sections;
	*p = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_X, .p_filesz = 4096 };
	for (size_t i = 1; i < sections; i++)
		s[i] = (Elf64_Shdr){ .sh_type = SHT_SYMTAB, .sh_offset = 4096, .sh_size = 4096 };
	return s;
}

static int
reduce(const uint8_t *file, size_t n, uint64_t max, struct target *t, uint64_t *ret_size)
{
	struct io_source *source = io_source_memory(file, n);
	int error = stored_reduce(source, max, put, t, ret_size);

	source->close(source);
	return error;
}

static void
test_overlap(void **state)
{
	uint8_t *file = malloc(FILE_BYTES);
	struct target t = { 0 };
	uint64_t size = 0;

	(void)state;
	/* 60 sections that say that they are the same 4096 bytes. */
	make_file(file, 61);
	assert_int_equal(reduce(file, FILE_BYTES, 60 * 4096 + 8192, &t, &size), 0);
	assert_int_equal(t.end, size);
	t = (struct target){ 0 };
	/* As symbols they are too much, and left out. */
	assert_int_equal(reduce(file, FILE_BYTES, 60 * 4096, &t, &size), 0);
	assert_true(t.bytes < 2 * 4096);
	free(file);
}

static void
test_lies(void **state)
{
	uint8_t *file = malloc(FILE_BYTES);
	Elf64_Ehdr *h = (Elf64_Ehdr *)(void *)file;
	Elf64_Phdr *p = (Elf64_Phdr *)(void *)(file + sizeof(*h));
	struct target t = { 0 };
	Elf64_Shdr *s;
	uint64_t size = 0;

	(void)state;
	s = make_file(file, 4);
	s[1].sh_offset = UINT64_MAX - 4095;
	s[2].sh_size = UINT64_MAX;
	s[3].sh_offset = FILE_BYTES + 1;
	s[3].sh_size = 0;
	assert_int_equal(reduce(file, FILE_BYTES, 65536, &t, &size), 0);
	assert_true(size < FILE_BYTES);
	make_file(file, 4);
	p->p_filesz = UINT64_MAX;
	assert_int_equal(reduce(file, FILE_BYTES, 65536, &t, &size), 0);
	p->p_offset = UINT64_MAX;
	assert_int_equal(reduce(file, FILE_BYTES, 65536, &t, &size), 0);
	h->e_shoff = UINT64_MAX - 8;
	assert_int_equal(reduce(file, FILE_BYTES, 65536, &t, &size), -FMT_E_TRUNCATED);
	make_file(file, 64);
	h->e_shnum = 65;
	assert_int_equal(reduce(file, FILE_BYTES, 65536, &t, &size), -FMT_E_TRUNCATED);
	h->e_shnum = 0;
	((Elf64_Shdr *)(void *)(file + SECTIONS_AT))->sh_size = UINT32_MAX;
	assert_int_equal(reduce(file, FILE_BYTES, 65536, &t, &size), -FMT_E_TOO_BIG);
	make_file(file, 4);
	h->e_phnum = PN_XNUM;
	assert_int_equal(reduce(file, FILE_BYTES, 65536, &t, &size), -FMT_E_TOO_BIG);
	h->e_phnum = 0;
	assert_int_equal(reduce(file, FILE_BYTES, 65536, &t, &size), -FMT_E_CORRUPT);
	h->e_type = ET_REL;
	assert_int_equal(reduce(file, FILE_BYTES, 65536, &t, &size), -FMT_E_UNSUPPORTED);
	assert_int_equal(reduce(file, 63, 65536, &t, &size), -FMT_E_UNSUPPORTED);
	free(file);
}

/* One table of symbols, with its strings. */
static void
make_symbols(uint8_t *file)
{
	Elf64_Shdr *s = make_file(file, 3);

	s[1].sh_entsize = s[1].sh_size = sizeof(Elf64_Sym);
	s[1].sh_link = 2;
	s[2] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = 6000, .sh_size = 8 };
}

/* What the taker says ends it, whichever call that was. */
static void
test_refused(void **state)
{
	uint8_t *file = malloc(FILE_BYTES);
	uint64_t size = 77;

	(void)state;
	make_symbols(file);
	for (int i = 1; i < 6; i++) {
		struct target t = { .refuse_after = i };

		assert_int_equal(reduce(file, FILE_BYTES, 65536, &t, &size), -1234);
		assert_int_equal(size, 77);
	}
	free(file);
}

static void
test_whole(void **state)
{
	uint8_t file[100] = { 0 };
	struct io_source *source = io_source_memory(file, sizeof(file));
	struct target t = { 0 };
	uint64_t size = 0;

	(void)state;
	assert_int_equal(stored_copy(source, 99, put, &t, &size), -FMT_E_TOO_BIG);
	assert_int_equal(stored_copy(source, 100, put, &t, &size), 0);
	assert_int_equal(size, 100);
	assert_int_equal(t.bytes, 100);
	source->close(source);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),	cmocka_unit_test(test_mark),
		cmocka_unit_test(test_overlap), cmocka_unit_test(test_lies),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

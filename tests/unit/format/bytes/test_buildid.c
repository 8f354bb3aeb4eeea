/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Build-ids of real files against readelf, and of files that nobody should believe. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/bytes/buildid.h"
#include "format/bytes/fmt_error.h"

static int
read_file(struct io_source *file, struct buildid *ret)
{
	int r;

	assert_non_null(file);
	r = buildid_read(file, ret);
	file->close(file);
	return r;
}

static int
read_fd(int fd, struct buildid *ret)
{
	return read_file(io_source_fd(fd), ret);
}

static int
read_image(const void *image, size_t len, struct buildid *ret)
{
	return read_file(io_source_memory(image, len), ret);
}

static void
to_hex(const struct buildid *id, char *hex)
{
	for (int i = 0; i < id->size; i++)
		snprintf(hex + i * 2, 3, "%02x", id->bytes[i]);
	hex[id->size * 2] = '\0';
}

/* What readelf says; "" when there is none. */
static void
readelf_id(const char *path, char hex[64])
{
	char command[4200];
	FILE *p;

	snprintf(command, sizeof(command),
		 "readelf -nW '%s' 2>/dev/null | sed -n 's/.*Build ID: //p' | head -1", path);
	p = popen(command, "r");
	assert_non_null(p);
	if (!fgets(hex, 64, p))
		hex[0] = '\0';
	hex[strcspn(hex, "\n")] = '\0';
	pclose(p);
}

static void
test_real_files(void **state)
{
	static const char *const files[] = { "/proc/self/exe",	 "/bin/sh",
					     "/bin/ls",		 "/lib/x86_64-linux-gnu/libc.so.6",
					     "/usr/bin/readelf", "/usr/bin/gcc" };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char want[64], got[64] = "", path[4096];
		struct buildid id;
		int fd = open(files[i], O_RDONLY);

		if (fd < 0)
			continue;
		assert_non_null(realpath(files[i], path));
		readelf_id(path, want);
		if (read_fd(fd, &id) == 0 && id.kind == BUILDID_GNU)
			to_hex(&id, got);
		assert_string_equal(got, want);
	}
}

static void
test_not_elf(void **state)
{
	struct buildid id;

	assert_int_equal(read_fd(open("/etc/passwd", O_RDONLY), &id), -FMT_E_UNSUPPORTED);
	assert_int_equal(read_image("", 0, &id), -FMT_E_UNSUPPORTED);
}

/* --- hand-made files ------------------------------------- */

#define ID "0123456789abcdefghij"

static size_t
note_put(uint8_t *to, const char *name, uint32_t type, const char *desc, uint32_t desc_len,
	 size_t align)
{
	uint32_t head[3] = { (uint32_t)strlen(name) + 1, desc_len, type };
	size_t n = 12;

	memcpy(to, head, 12);
	memcpy(to + n, name, head[0]);
	n = (n + head[0] + align - 1) & ~(align - 1);
	memcpy(to + n, desc, desc_len);
	return (n + desc_len + align - 1) & ~(align - 1);
}

/* An ELF file whose note is named by a program header, or by a section. */
static size_t
elf64_make(uint8_t *to, bool segment, size_t align)
{
	Elf64_Ehdr h = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 } };
	size_t note = 512, len;

	memset(to, 0, 1024);
	len = note_put(to + note, "stapsdt", 3, "xyz", 3, align);
	len += note_put(to + note + len, "GNU", 1, "abi!", 4, align);
	len += note_put(to + note + len, "GNU", NT_GNU_BUILD_ID, ID, 20, align);
	if (segment) {
		Elf64_Phdr p[2] = {
			{ .p_type = PT_LOAD, .p_filesz = 1024 },
			{ .p_type = PT_NOTE, .p_offset = note, .p_filesz = len, .p_align = align }
		};

		h.e_phoff = 64;
		h.e_phentsize = sizeof(p[0]);
		h.e_phnum = 2;
		memcpy(to + 64, p, sizeof(p));
	} else {
		Elf64_Shdr s[2] = { { .sh_type = SHT_NULL },
				    { .sh_type = SHT_NOTE,
				      .sh_offset = note,
				      .sh_size = len,
				      .sh_addralign = align } };

		h.e_shoff = 64;
		h.e_shentsize = sizeof(s[0]);
		h.e_shnum = 2;
		memcpy(to + 64, s, sizeof(s));
	}
	memcpy(to, &h, sizeof(h));
	return note + len;
}

static size_t
elf32_make(uint8_t *to)
{
	Elf32_Ehdr h = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, 1 },
			 .e_phoff = 52,
			 .e_phentsize = sizeof(Elf32_Phdr),
			 .e_phnum = 1 };
	Elf32_Phdr p = { .p_type = PT_NOTE, .p_offset = 100, .p_align = 4 };

	memset(to, 0, 1024);
	p.p_filesz =
		(uint32_t)note_put(to + 100, "GNU", NT_GNU_BUILD_ID, "\1\2\3\4\5\6\7\10", 8, 4);
	memcpy(to, &h, sizeof(h));
	memcpy(to + 52, &p, sizeof(p));
	return 100 + p.p_filesz;
}

static void
test_made_files(void **state)
{
	uint8_t elf[1024];
	struct buildid id;

	for (int i = 0; i < 4; i++) {
		size_t len = elf64_make(elf, i & 1, i & 2 ? 8 : 4);

		assert_int_equal(read_image(elf, len, &id), 0);
		assert_int_equal(id.size, 20);
		assert_memory_equal(id.bytes, ID, 20);
	}
	assert_int_equal(read_image(elf, elf32_make(elf), &id), 0);
	assert_int_equal(id.size, 8);
	elf[EI_DATA] = ELFDATA2MSB;
	assert_int_equal(read_image(elf, 1024, &id), -FMT_E_UNSUPPORTED);
}

/* Cut at each byte, from memory that ends there: no id, or the right one, and no read past. */
static void
test_cut(void **state)
{
	uint8_t elf[1024];

	for (int i = 0; i < 3; i++) {
		size_t whole = i < 2 ? elf64_make(elf, i, 4) : elf32_make(elf);

		for (size_t len = 0; len <= whole; len++) {
			uint8_t *copy = malloc(len + 1), *end = copy + 1;
			struct buildid id = { 0 };
			int rc;

			/* at the end of its allocation, where a sanitizer watches */
			memcpy(end, elf, len);
			rc = read_image(end, len, &id);
			assert_int_equal(rc == 0, len == whole);
			if (rc) {
				assert_int_equal(id.size, 0);
				assert_true(rc == -FMT_E_CORRUPT || rc == -FMT_E_UNSUPPORTED);
			}
			free(copy);
		}
	}
}

static void
test_hostile(void **state)
{
	uint8_t elf[1024], copy[1024];
	struct buildid id;

	for (int i = 0; i < 3; i++) {
		size_t len = i < 2 ? elf64_make(elf, i, 4) : elf32_make(elf);

		/* Each byte, and each run of eight, at its largest; lengths and offsets among them. */
		for (size_t at = 0; at < len; at++) {
			memcpy(copy, elf, sizeof(copy));
			copy[at] = 0xff;
			(void)read_image(copy, len, &id);
			memset(copy + at, 0xff, at + 8 < len ? 8 : len - at);
			(void)read_image(copy, len, &id);
			memset(copy + at, 0x80, at + 4 < len ? 4 : len - at);
			(void)read_image(copy, len, &id);
		}
	}
	assert_int_equal(id.size <= BUILDID_MAX, 1);
}

static uint8_t
noted(const uint8_t *notes, size_t len)
{
	return buildid_of_notes(notes, len, 4).size;
}

static void
test_notes(void **state)
{
	uint8_t notes[256], big[64] = { 0 };
	size_t n;

	n = note_put(notes, "GNU", NT_GNU_BUILD_ID, (char *)big, 21, 4);
	assert_int_equal(noted(notes, n), 0); /* too long */
	n = note_put(notes, "GNU", NT_GNU_BUILD_ID, "", 0, 4);
	assert_int_equal(noted(notes, n), 0); /* empty */
	n = note_put(notes, "GNV", NT_GNU_BUILD_ID, ID, 20, 4);
	assert_int_equal(noted(notes, n), 0);
	n += note_put(notes + n, "GNU", NT_GNU_BUILD_ID, ID, 16, 4);
	assert_int_equal(buildid_of_notes(notes, n, 0).size, 16);
	assert_int_equal(noted(notes, 0), 0);
}

/* --- surrogates ------------------------------------------ */

#define TEXT_AT 4096

/* A file without notes: headers, then so many bytes of text. */
static size_t
plain_make(uint8_t *to, size_t text)
{
	Elf64_Ehdr h = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
			 .e_phoff = 64,
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 2 };
	Elf64_Phdr p[2] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = 176 },
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = TEXT_AT, .p_filesz = text }
	};

	memset(to, 0, TEXT_AT);
	memcpy(to, &h, sizeof(h));
	memcpy(to + 64, p, sizeof(p));
	for (size_t i = 0; i < text; i++)
		to[TEXT_AT + i] = (uint8_t)(i * 7 + i / 4096);
	return TEXT_AT + text;
}

static struct buildid
surrogate(const uint8_t *elf, size_t len)
{
	struct buildid id = { 0 };

	assert_int_equal(read_image(elf, len, &id), 0);
	assert_int_equal(id.kind, BUILDID_SURROGATE);
	assert_int_equal(id.size, 20);
	return id;
}

/* The same for the same file; another for any change of a small one, and most of a large one. */
static void
test_surrogate(void **state)
{
	const size_t sizes[] = { 1, 100, 5000, 255 * 4096, 255 * 4096 + 1, 2000 * 4096 + 17 };
	uint8_t *elf = calloc(1, TEXT_AT + 2001 * 4096);
	struct buildid id, other;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t len = plain_make(elf, sizes[i]), seen = 0, pages = 0;

		id = surrogate(elf, len);
		other = surrogate(elf, len);
		assert_int_equal(buildid_cmp(&id, &other), 0);
		other = surrogate(elf, len + 1);
		assert_int_not_equal(buildid_cmp(&id, &other), 0);
		for (size_t at = 16; at < 64 + 2 * sizeof(Elf64_Phdr); at += 8) {
			uint8_t was = elf[at];
			struct buildid third = { 0 };

			elf[at] ^= 1;
			/* Where it is an ELF file yet. */
			if (read_image(elf, len, &third) == 0)
				assert_int_not_equal(buildid_cmp(&id, &third), 0);
			elf[at] = was;
		}
		for (size_t at = 0; at < sizes[i]; at += 4096, pages++) {
			elf[TEXT_AT + at] ^= 1;
			other = surrogate(elf, len);
			seen += buildid_cmp(&id, &other) != 0;
			/* The first page of text always counts. */
			assert_true(at > 0 || seen == 1);
			elf[TEXT_AT + at] ^= 1;
		}
		assert_true(len <= 1 << 20 ? seen == pages : seen >= 31 && seen <= 33);
	}
	free(elf);
}

/* SHA-1 of "abc" is known to everybody. */
static void
test_go(void **state)
{
	static const uint8_t sha[20] = {
		0xa9, 0x99, 0x3e, 0x36, 0x47, 0x06, 0x81, 0x6a, 0xba, 0x3e,
		0x25, 0x71, 0x78, 0x50, 0xc2, 0x6c, 0x9c, 0xd0, 0xd8, 0x9d
	};
	uint8_t elf[1024] = { 0 };
	Elf64_Ehdr h = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
			 .e_phoff = 64,
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 1 };
	Elf64_Phdr p = { .p_type = PT_NOTE, .p_offset = 512, .p_align = 4 };
	struct buildid id;

	/* Go writes its name with two NULs. */
	memcpy(elf + 512, "\4\0\0\0\3\0\0\0\4\0\0\0Go\0\0abc", 20);
	p.p_filesz = 20;
	memcpy(elf, &h, sizeof(h));
	memcpy(elf + 64, &p, sizeof(p));
	id = surrogate(elf, 600);
	assert_memory_equal(id.bytes, sha, 20);
	/* Linked by another linker it has both: everybody else knows the GNU id. */
	p.p_filesz += note_put(elf + 532, "GNU", NT_GNU_BUILD_ID, ID, 20, 4);
	memcpy(elf + 64, &p, sizeof(p));
	assert_int_equal(read_image(elf, 600, &id), 0);
	assert_int_equal(id.kind, BUILDID_GNU);
}

/* Lengths as linkers make them: SHA-1, MD5, UUID, xxHash; and one that somebody chose. */
static void
test_padded(void **state)
{
	static const struct {
		size_t real, told;
	} of[] = { { 20, 20 }, { 16, 16 }, { 8, 8 }, { 10, 16 }, { 17, 20 }, { 3, 8 } };
	struct buildid none = buildid_of_padded((uint8_t[BUILDID_MAX]){ 0 }), id, file, other;
	uint8_t bytes[BUILDID_MAX];

	assert_int_equal(none.size, 0);
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		memset(bytes, 0, sizeof(bytes));
		memset(bytes, 0x5a, of[i].real);
		file = buildid_of(BUILDID_GNU, bytes, of[i].real);
		id = buildid_of_padded(bytes);
		assert_int_equal(id.size, of[i].told);
		assert_true(buildid_same(&id, &file) && buildid_same(&file, &id));
		id = buildid_of(BUILDID_GNU, bytes, BUILDID_MAX);
		assert_true(buildid_same(&id, &file) && buildid_same(&file, &id));
		assert_false(buildid_same(&id, &none) || buildid_same(&none, &id));
		other = buildid_of(BUILDID_GNU, bytes, of[i].real - 1);
		assert_false(buildid_same(&other, &file));
		other = buildid_of(BUILDID_SURROGATE, bytes, BUILDID_MAX);
		assert_false(buildid_same(&other, &file));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_real_files), cmocka_unit_test(test_not_elf),
		cmocka_unit_test(test_made_files), cmocka_unit_test(test_cut),
		cmocka_unit_test(test_hostile),	   cmocka_unit_test(test_notes),
		cmocka_unit_test(test_surrogate),  cmocka_unit_test(test_go),
		cmocka_unit_test(test_padded),
	};

	return cmocka_run_group_tests_name("buildid", tests, NULL, NULL);
}

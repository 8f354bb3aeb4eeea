/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Build-ids of real files against readelf, and of files that nobody should believe. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "recorder/buildid.h"

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
		 "readelf -nW %s 2>/dev/null | sed -n 's/.*Build ID: //p' | head -1", path);
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
		if (buildid_read_fd(fd, &id) == 0)
			to_hex(&id, got);
		assert_string_equal(got, want);
		close(fd);
	}
}

static void
test_not_elf(void **state)
{
	struct buildid id;
	int fd = open("/etc/passwd", O_RDONLY);

	assert_int_equal(buildid_read_fd(fd, &id), -ENOEXEC);
	close(fd);
	fd = open("/dev/null", O_RDONLY);
	assert_int_equal(buildid_read_fd(fd, &id), -ENOEXEC);
	close(fd);
	assert_int_equal(buildid_read_fd(-1, &id), -EBADF);
}

static void
test_kernel_and_vdso(void **state)
{
	struct buildid id;

	if (access("/sys/kernel/notes", R_OK) == 0) {
		assert_int_equal(buildid_kernel(&id), 0);
		assert_true(id.size >= 8);
	}
	assert_int_equal(buildid_vdso(&id), 0);
	assert_true(id.size >= 8);
	assert_int_equal(buildid_module("../../kernel", &id), -EINVAL);
	assert_int_equal(buildid_module("no_such_module", &id), -ENOENT);
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

		assert_int_equal(buildid_read_image(elf, len, &id), 0);
		assert_int_equal(id.size, 20);
		assert_memory_equal(id.bytes, ID, 20);
	}
	assert_int_equal(buildid_read_image(elf, elf32_make(elf), &id), 0);
	assert_int_equal(id.size, 8);
	elf[EI_DATA] = ELFDATA2MSB;
	assert_int_equal(buildid_read_image(elf, 1024, &id), -ENOEXEC);
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
			rc = buildid_read_image(end, len, &id);
			assert_int_equal(rc == 0, len == whole);
			if (rc) {
				assert_int_equal(id.size, 0);
				assert_true(rc == -ENODATA || rc == -ENOEXEC);
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
			(void)buildid_read_image(copy, len, &id);
			memset(copy + at, 0xff, at + 8 < len ? 8 : len - at);
			(void)buildid_read_image(copy, len, &id);
			memset(copy + at, 0x80, at + 4 < len ? 4 : len - at);
			(void)buildid_read_image(copy, len, &id);
		}
	}
	assert_int_equal(id.size <= BUILDID_MAX, 1);
}

static void
test_notes(void **state)
{
	uint8_t notes[256], big[64] = { 0 };
	struct buildid id = { 0 };
	size_t n;

	n = note_put(notes, "GNU", NT_GNU_BUILD_ID, (char *)big, 21, 4);
	assert_int_equal(buildid_parse_notes(notes, n, 4, &id), -ENODATA); /* too long */
	n = note_put(notes, "GNU", NT_GNU_BUILD_ID, "", 0, 4);
	assert_int_equal(buildid_parse_notes(notes, n, 4, &id), -ENODATA); /* empty */
	n = note_put(notes, "GNV", NT_GNU_BUILD_ID, ID, 20, 4);
	assert_int_equal(buildid_parse_notes(notes, n, 4, &id), -ENODATA);
	n += note_put(notes + n, "GNU", NT_GNU_BUILD_ID, ID, 16, 4);
	assert_int_equal(buildid_parse_notes(notes, n, 0, &id), 0);
	assert_int_equal(id.size, 16);
	assert_int_equal(buildid_parse_notes(notes, 0, 4, &id), -ENODATA);
}

/* --- the cache ------------------------------------------- */

static struct buildid_map
map_of(const char *path, void **ret_at, size_t *ret_len)
{
	struct buildid_map m = { .pid = getpid(), .path = path };
	int fd = open(path, O_RDONLY);
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	*ret_len = 4096;
	*ret_at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(*ret_at, MAP_FAILED);
	close(fd);
	m.start = (uintptr_t)*ret_at;
	m.end = m.start + 4096;
	m.ino = st.st_ino;
	m.maj = major(st.st_dev);
	m.min = minor(st.st_dev);
	return m;
}

static void
file_write(const char *path, const uint8_t *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
}

static void
test_cache(void **state)
{
	char path[] = "/tmp/spoor-buildid.XXXXXX", gone[64];
	struct buildid_cache *c = buildid_cache_new();
	struct buildid_map m;
	struct buildid id;
	uint8_t elf[1024];
	size_t len, map_len;
	void *at;

	close(mkstemp(path));
	len = elf64_make(elf, true, 4);
	file_write(path, elf, len);
	m = map_of(path, &at, &map_len);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(buildid_cache_get(c, &m, &id), 0);
		assert_memory_equal(id.bytes, ID, 20);
	}
	/* Overwritten in place: the same inode, another build. */
	usleep(20000);
	elf[len - 20] = 'X';
	file_write(path, elf, len);
	assert_int_equal(buildid_cache_get(c, &m, &id), 0);
	assert_int_equal(id.bytes[0], 'X');
	/* No such map: by path, if that is the same inode. */
	munmap(at, map_len);
	assert_int_equal(buildid_cache_get(c, &m, &id), 0);
	m.pid = 0x7ffffff0; /* nor such a process */
	assert_int_equal(buildid_cache_get(c, &m, &id), 0);
	m.ino++;
	assert_int_equal(buildid_cache_get(c, &m, &id), -ESTALE);
	m.ino--;
	m.min++;
	assert_int_equal(buildid_cache_get(c, &m, &id), -ESTALE);
	m.min--;
	unlink(path);
	assert_int_equal(buildid_cache_get(c, &m, &id), -ESTALE);
	/* Deleted, and still mapped. */
	file_write(path, elf, len);
	m = map_of(path, &at, &map_len);
	unlink(path);
	snprintf(gone, sizeof(gone), "%s (deleted)", path);
	m.path = gone;
	if (access("/proc/self/map_files", X_OK) == 0 && getuid() == 0) {
		assert_int_equal(buildid_cache_get(c, &m, &id), 0);
		assert_int_equal(id.bytes[0], 'X');
	}
	munmap(at, map_len);
	buildid_cache_free(c);
}

/* A FIFO must not hold us up, nor a directory or a device. */
static void
test_not_regular(void **state)
{
	char path[] = "/tmp/spoor-buildid.XXXXXX";
	struct buildid_cache *c = buildid_cache_new();
	struct buildid_map m = { .pid = getpid(), .path = path };
	struct buildid id;
	struct stat st;

	close(mkstemp(path));
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(stat(path, &st), 0);
	m.ino = st.st_ino;
	m.maj = major(st.st_dev);
	m.min = minor(st.st_dev);
	assert_int_equal(buildid_cache_get(c, &m, &id), -ENODATA);
	unlink(path);
	buildid_cache_free(c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_real_files),
		cmocka_unit_test(test_not_elf),
		cmocka_unit_test(test_kernel_and_vdso),
		cmocka_unit_test(test_made_files),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_cache),
		cmocka_unit_test(test_not_regular),
	};

	return cmocka_run_group_tests_name("buildid", tests, NULL, NULL);
}

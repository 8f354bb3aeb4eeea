/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * @full
 *
 * Reduced files beside the files that they were made of: the same symbols, stubs, Go functions and call
 * frame information, the same build, and readelf and gdb have nothing to say about them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/bytes/buildid.h"
#include "format/bytes/fmt_error.h"
#include "format/stored/stored_reduce.h"
#include "symbolizer/object/elf_gopclntab.h"
#include "symbolizer/object/elf_minidebug.h"
#include "symbolizer/unwind/cfi.h"
#include "tests/lab/elf_lab.h"

#define MANY (UINT64_C(256) << 20)

struct target {
	int fd;
	uint64_t bytes;
};

static int
put(void *arg, uint64_t offset, const void *p, size_t n)
{
	struct target *t = arg;

	assert_true(n <= STORED_CHUNK);
	t->bytes += n;
	return pwrite(t->fd, p, n, (off_t)offset) == (ssize_t)n ? 0 : -FMT_E_IO;
}

/* Returns how many bytes it has that are no hole. */
static uint64_t
reduce_to(const char *path, const char *to, uint64_t max)
{
	struct io_source *file = io_source_fd(open(path, O_RDONLY | O_CLOEXEC));
	struct target t = { .fd = open(to, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600) };
	uint64_t size = 0;
	struct stat st;

	assert_non_null(file);
	assert_true(t.fd >= 0);
	assert_int_equal(stored_reduce(file, max, put, &t, &size), 0);
	assert_int_equal(fstat(t.fd, &st), 0);
	/* It may end in a hole. */
	assert_true(st.st_size <= (off_t)size);
	assert_int_equal(ftruncate(t.fd, (off_t)size), 0);
	assert_true(t.bytes <= max + 64); /* the header comes twice */
	file->close(file);
	close(t.fd);
	return t.bytes;
}

static void
same_id(const char *path, const char *reduced)
{
	struct elf_object *a = elf_lab_open(path), *b = elf_lab_open(reduced);
	const uint8_t *x, *y;
	size_t n = elf_object_build_id(a, &x);

	assert_int_equal(n, elf_object_build_id(b, &y));
	assert_memory_equal(x, y, n);
	assert_int_equal(elf_object_entry(a), elf_object_entry(b));
	elf_object_close(a);
	elf_object_close(b);
}

static struct symtab *
all_symbols(struct elf_object *o)
{
	struct symtab_builder *b = symtab_builder_new();
	struct symtab *t = NULL;

	assert_int_equal(elf_object_symbols(o, 0, b), 0);
	assert_int_equal(elf_minidebug_symbols(o, b), 0);
	assert_int_equal(elf_gopclntab_symbols(o, b), 0);
	assert_int_equal(symtab_build(b, &t), 0);
	return t;
}

/* At each address of its code, 7 bytes apart. Returns how many have a name. */
static size_t
same_names(struct elf_object *o, const struct symtab *a, const struct symtab *b)
{
	const struct elf_segment *s;
	size_t nr = elf_object_segments(o, &s), named = 0;

	for (size_t i = 0; i < nr; i++) {
		for (uint64_t at = s[i].vaddr; s[i].exec && at < s[i].vaddr + s[i].memsz; at += 7) {
			struct symbol x, y;
			bool there = symtab_find(a, at, &x);

			assert_int_equal(there, symtab_find(b, at, &y));
			if (!there)
				continue;
			named++;
			assert_string_equal(x.name, y.name);
			assert_int_equal(x.start, y.start);
		}
	}
	return named;
}

static size_t
same_symbols(const char *path, const char *reduced)
{
	struct elf_object *a = elf_lab_open(path), *b = elf_lab_open(reduced);
	struct symtab *x = all_symbols(a), *y = all_symbols(b);
	struct symtab *x_stubs, *y_stubs;
	size_t named = same_names(a, x, y);

	symtab_free(x);
	symtab_free(y);
	symtab_free(lab_symtab_of(a, &x_stubs));
	symtab_free(lab_symtab_of(b, &y_stubs));
	named += same_names(a, x_stubs, y_stubs);
	symtab_free(x_stubs);
	symtab_free(y_stubs);
	assert_int_equal(elf_object_has_symtab(a), elf_object_has_symtab(b));
	assert_false(elf_object_has_dwarf(b));
	elf_object_close(a);
	elf_object_close(b);
	return named;
}

static size_t
same_frames(const char *path, const char *reduced)
{
	struct elf_object *a = elf_lab_open(path), *b = elf_lab_open(reduced);
	struct cfi_function f, g;
	struct cfi *x, *y;
	size_t i = 0;

	assert_int_equal(cfi_new(a, NULL, &x), 0);
	assert_int_equal(cfi_new(b, NULL, &y), 0);
	for (; cfi_function(x, i, &f); i++) {
		uint32_t rule, other;

		assert_true(cfi_function(y, i, &g));
		assert_int_equal(f.start, g.start);
		assert_int_equal(f.end, g.end);
		assert_int_equal(cfi_find(x, f.start, &rule), cfi_find(y, f.start, &other));
		assert_int_equal(rule, other);
	}
	assert_false(cfi_function(y, i, &g));
	cfi_free(x);
	cfi_free(y);
	elf_object_close(a);
	elf_object_close(b);
	return i;
}

/* Neither readelf nor gdb has anything to complain of. */
static void
says_nothing(const char *path)
{
	FILE *p = lab_output("readelf -aW %s 2>&1 >/dev/null; gdb -nx -batch %s -ex 'info line *0' "
			     "2>&1 | grep -i 'warn\\|error\\|bad'",
			     path, path);
	char line[512] = "";

	if (fgets(line, sizeof(line), p))
		print_error("%s: %s", path, line);
	assert_string_equal(line, "");
	pclose(p);
}

/* Returns the share of the file that is left, in percent. */
static uint64_t
compare_at(const char *path, const char *reduced, size_t names_min, size_t frames_min)
{
	uint64_t bytes = reduce_to(path, reduced, MANY);
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	same_id(path, reduced);
	assert_true(same_symbols(path, reduced) >= names_min);
	assert_true(same_frames(path, reduced) >= frames_min);
	says_nothing(reduced);
	return bytes * 100 / (uint64_t)st.st_size;
}

static uint64_t
compare(const char *path, size_t names_min, size_t frames_min)
{
	return compare_at(path, lab_path("reduced"), names_min, frames_min);
}

static void
test_libraries(void **state)
{
	static const char *const paths[] = { "/lib/x86_64-linux-gnu/libc.so.6",
					     "/lib64/ld-linux-x86-64.so.2",
					     "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
					     "/usr/bin/gdb",
					     "/usr/bin/perl",
					     "/bin/sh" };

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (access(paths[i], R_OK) == 0)
			assert_true(compare(paths[i], 10, 10) < 60);
}

static void
test_builds(void **state)
{
	static const char *const flags[] = {
		"-g",
		"-O2 -g -gz",
		"-O2 -no-pie -g3",
		"-O2 -static",
		"-O2 -Wl,-z,now -fcf-protection=full",
		"-O2 -Wl,--build-id=none -s",
		"-O2 -s -Wl,-z,noseparate-code",
		"-g -ffunction-sections -Wl,--gc-sections,--emit-relocs",
		"-O2 -fno-asynchronous-unwind-tables -g -gdwarf-5",
		"-g -Wl,--compress-debug-sections=zlib-gnu",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		(void)compare(lab_keep(lab_build("program", lab_program, 0, flags[i])), 1, 1);
	if (access("/usr/bin/ld.lld", X_OK) == 0)
		(void)compare(lab_keep(lab_build("program", lab_program, 0, "-g -fuse-ld=lld")), 1,
			      1);
	lab_build("strange",
		  "#include <iostream>\n#include <map>\n#include <string>\n"
		  "int main() { std::map<std::string, int> m; m[\"a\"] = 1; "
		  "try { throw m.size(); } catch (std::size_t n) { std::cout << n; } }\n",
		  1, "-O1 -s");
	(void)compare(lab_keep(lab_path("strange")), 1, 1);
}

/* sstrip and packers leave no section headers: segments say where the frames are. */
static void
test_without_sections(void **state)
{
	const char *path = lab_keep(lab_build("bare", lab_program, 0, "-O2 -g"));
	uint8_t none[8] = { 0 };
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(pwrite(fd, none, 8, 40), 8); /* e_shoff */
	assert_int_equal(pwrite(fd, none, 4, 60), 4); /* e_shnum, e_shstrndx */
	close(fd);
	(void)reduce_to(path, lab_path("reduced"), MANY);
	same_id(path, lab_path("reduced"));
	assert_true(same_frames(path, lab_path("reduced")) > 3);
}

static void
test_go(void **state)
{
	const char *path = lab_path("gopher");

	(void)state;
	if (system("command -v go >/dev/null 2>&1") != 0)
		skip();
	elf_lab_write(lab_path("gopher.go"),
		      "package main\nimport \"fmt\"\nfunc main() { fmt.Println(1) }\n", 57);
	lab_run("GOCACHE=$PWD/cache HOME=$PWD go build -ldflags='-s -w' -o gopher gopher.go");
	path = lab_keep(lab_path("gopher"));
	assert_true(compare(path, 1000, 0) < 70);
	lab_run("GOCACHE=$PWD/cache HOME=$PWD go build -o gopher gopher.go");
	assert_true(compare(path, 1000, 100) < 70);
}

/* Where there is room for the rest only, .symtab is left out; where there is not, all is refused. */
static void
test_too_big(void **state)
{
	const char *path = lab_keep(lab_build("program", lab_program, 0, "-O1 -static -g"));
	const char *reduced = lab_keep(lab_path("reduced"));
	struct io_source *file;
	struct target t = { .fd = -1 };
	struct elf_object *o;
	uint64_t all = reduce_to(path, reduced, MANY), size;

	(void)state;
	(void)reduce_to(path, reduced, all - 1000);
	o = elf_lab_open(reduced);
	assert_false(elf_object_has_symtab(o));
	elf_object_close(o);
	assert_true(same_frames(path, reduced) > 10);
	says_nothing(reduced);
	file = io_source_fd(open(path, O_RDONLY | O_CLOEXEC));
	assert_int_equal(stored_reduce(file, 1000, put, &t, &size), -FMT_E_TOO_BIG);
	assert_int_equal(t.bytes, 0);
	file->close(file);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_libraries),	 cmocka_unit_test(test_builds),
		cmocka_unit_test(test_without_sections), cmocka_unit_test(test_go),
		cmocka_unit_test(test_too_big),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ELF files of every layout that linkers make, against nm, addr2line and objdump; and files
 * that no linker made: cut at every byte, with every byte changed.
 */
#include "symbolizer/object/elf_object.h"

#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/bytes/fmt_error.h"
#include "tests/lab/elf_lab.h"

static const struct {
	const char *name, *flags;
	int segments_min, build_id_size;
} layouts[] = {
	{ "pie", "-pie -fPIE", 4, 20 },
	{ "no_pie", "-no-pie -fno-pie", 4, 20 },
	{ "one_segment", "-Wl,-z,noseparate-code", 2, 20 },
	{ "one_segment_no_pie", "-no-pie -Wl,-z,noseparate-code", 2, 20 },
	{ "static", "-static", 4, 20 },
	{ "sections", "-ffunction-sections -Wl,--gc-sections", 4, 20 },
	{ "no_id", "-Wl,--build-id=none", 4, 0 },
	{ "md5_id", "-Wl,--build-id=md5", 4, 16 },
	{ "short_id", "-Wl,--build-id=0x0123456789abcdef", 4, 8 },
	{ "lazy", "-Wl,-z,lazy", 4, 20 },
	{ "now", "-Wl,-z,now", 4, 20 },
	{ "ibt", "-fcf-protection=full -Wl,-z,ibtplt,-z,lazy", 4, 20 },
	{ "no_plt", "-fno-plt", 4, 20 },
	{ "sysv_hash", "-Wl,--hash-style=sysv -Wl,-z,norelro", 3, 20 },
	{ "big_pages", "-Wl,-z,max-page-size=65536", 4, 20 },
	{ "moved", "-no-pie -Wl,-Ttext-segment=0x10000000", 4, 20 },
};
#define LAYOUTS (sizeof(layouts) / sizeof(layouts[0]))

/* Is name one of nm's at this address? */
static bool
one_of(const struct lab_symbol *list, size_t n, uint64_t address, const char *name)
{
	size_t len = symbol_name_length(name);

	for (size_t i = 0; i < n; i++)
		if (list[i].address == address && strlen(list[i].name) == len &&
		    memcmp(list[i].name, name, len) == 0)
			return true;
	return false;
}

static bool
covered(const struct lab_symbol *list, size_t n, uint64_t address)
{
	for (size_t i = 0; i < n; i++)
		if (address >= list[i].address && address < list[i].address + list[i].size)
			return true;
	return false;
}

/* First and last byte of each sized symbol of nm has a name that nm has there. */
static size_t
check_against_nm(const char *path, const char *nm_flags)
{
	struct symtab *t = lab_symtab(path, NULL);
	struct lab_symbol *list;
	size_t n = lab_nm(path, nm_flags, &list), checked = 0;

	for (size_t i = 0; i < n; i++) {
		struct symbol s;

		if (list[i].size == 0)
			continue;
		if (!symtab_find(t, list[i].address, &s))
			fail_msg("%s: nothing at %s", path, list[i].name);
		if (s.start != list[i].address || !one_of(list, n, s.start, s.name))
			fail_msg("%s: %s at the start of %s", path, s.name, list[i].name);
		if (!symtab_find(t, list[i].address + list[i].size - 1, &s))
			fail_msg("%s: nothing at the end of %s", path, list[i].name);
		checked++;
	}
	free(list);
	symtab_free(t);
	return checked;
}

static void
symbols_as_nm_has_them(void **state)
{
	for (size_t i = 0; i < LAYOUTS; i++) {
		const char *path = lab_build(layouts[i].name, lab_program, 0, layouts[i].flags);

		assert_true(check_against_nm(path, "-S") >= 6);
	}
}

/* By name: what nm has under that name; of several the number, if their ranks are equal. */
static void
functions_as_nm_has_them(void **state)
{
	for (size_t i = 0; i < LAYOUTS; i++) {
		const char *path = lab_build(layouts[i].name, lab_program, 0, layouts[i].flags);
		struct elf_object *o;
		struct lab_symbol *list;
		struct elf_function f;
		size_t n = lab_nm(path, "-S", &list);

		assert_true(n >= 6);
		for (size_t k = 0; k < n; k += 1 + n / 100) {
			if (list[k].size == 0)
				continue;
			/* What may be read of one is bounded. */
			o = elf_lab_open(path);
			elf_object_function(o, list[k].name, &f);
			elf_object_close(o);
			if (!f.nr || !one_of(list, n, f.vaddr, list[k].name))
				fail_msg("%s: %s at %#llx", path, list[k].name,
					 (unsigned long long)f.vaddr);
		}
		o = elf_lab_open(path);
		elf_object_function(o, "no such function", &f);
		assert_int_equal(f.nr, 0);
		elf_object_function(o, "mai", &f);
		assert_int_equal(f.nr, 0);
		free(list);
		elf_object_close(o);
	}
}

/* The global one of several; of local ones, that there are several. */
static void
functions_of_one_name(void **state)
{
	struct elf_object *o;
	struct elf_function f;

	lab_run("printf '%%s\\n' '__attribute__((noinline, used)) static int same(void) { return 1; }' "
		"'__attribute__((noinline, used)) static int local(void) { return 3; }' "
		"'int main(void) { return same() + local(); }' >one.c");
	lab_run("printf '%%s\\n' 'int same(void) { return 2; }' "
		"'__attribute__((noinline, used)) static int local(void) { return 4; }' >two.c");
	lab_run("${CC:-cc} -o several one.c two.c");
	o = elf_lab_open(lab_path("several"));
	elf_object_function(o, "same", &f);
	assert_int_equal(f.nr, 1);
	assert_int_equal(f.rank, 2);
	elf_object_function(o, "local", &f);
	assert_int_equal(f.nr, 2);
	assert_false(f.ifunc);
	elf_object_close(o);
}

static void
symbols_of_system_libraries(void **state)
{
	static const char *const names[] = { "libc.so.6", "libstdc++.so.6", "libm.so.6" };

	for (size_t i = 0; i < 3; i++) {
		FILE *f = lab_output("${CXX:-g++} -print-file-name=%s", names[i]);
		char path[1024];

		assert_non_null(fgets(path, sizeof(path), f));
		pclose(f);
		path[strcspn(path, "\n")] = '\0';
		assert_true(check_against_nm(path, "-S -D") > 300);
	}
}

static void
known_functions(void **state)
{
	for (size_t i = 0; i < LAYOUTS; i++) {
		const char *path = lab_path(layouts[i].name);
		struct symtab *t = lab_symtab(path, NULL);
		struct lab_symbol *list;
		size_t n = lab_nm(path, "-S", &list);
		/* Nobody refers to the section with the assembly, so that it goes with the others. */
		bool collected = strcmp(layouts[i].name, "sections") == 0;
		bool ifunc = false, label = collected;

		for (size_t k = 0; k < n; k++) {
			struct symbol s;

			if (strcmp(list[k].name, "chosen") == 0) {
				assert_true(symtab_find(t, list[k].address, &s));
				assert_int_equal(s.start, list[k].address);
				ifunc = true;
			}
			/* A global strong name beats its weak alias. */
			if (strcmp(list[k].name, "weak_one") == 0) {
				assert_true(symtab_find(t, list[k].address, &s));
				assert_string_equal(s.name, "plain");
			}
			/* A label in assembly, without type or size. */
			if (strcmp(list[k].name, "asm_label") == 0) {
				assert_true(symtab_find(t, list[k].address + 2, &s));
				assert_string_equal(s.name, "asm_label");
				assert_true(symtab_find(t, list[k].address + 4, &s));
				assert_string_equal(s.name, "asm_func");
				label = true;
			}
			if (collected)
				assert_string_not_equal(list[k].name, "unused_one");
		}
		assert_true(ifunc && label);
		free(list);
		symtab_free(t);
	}
}

/* Random addresses of the text: the name that addr2line gives, or none where nm has none. */
static void
addresses_as_addr2line_has_them(void **state)
{
	for (size_t i = 0; i < LAYOUTS; i++) {
		const char *path = lab_path(layouts[i].name);
		struct symtab *t = lab_symtab(path, NULL);
		struct lab_symbol *list;
		size_t n = lab_nm(path, "-S", &list), compared = 0;
		FILE *ask = fopen(lab_path("addresses"), "we"), *answer;
		uint64_t addresses[400];
		char *name = NULL, where[1024];
		size_t room = 0;

		srandom(3);
		for (size_t k = 0; k < 400; k++) {
			const struct lab_symbol *s = &list[(size_t)random() % n];

			addresses[k] = s->address + (uint64_t)random() % (s->size + 16);
			fprintf(ask, "%" PRIx64 "\n", addresses[k]);
		}
		fclose(ask);
		answer = lab_output("addr2line -f -e %s <addresses", layouts[i].name);
		for (size_t k = 0; k < 400; k++) {
			struct symbol s;
			bool found = symtab_find(t, addresses[k], &s);

			assert_true(getline(&name, &room, answer) > 0);
			assert_non_null(fgets(where, sizeof(where), answer));
			if (!covered(list, n, addresses[k]))
				continue;
			assert_true(found);
			name[strcspn(name, "@\n")] = '\0';
			if (!one_of(list, n, s.start, name))
				fail_msg("%s %" PRIx64 ": %s, addr2line: %s", path, addresses[k],
					 s.name, name);
			compared++;
		}
		assert_true(compared > 100);
		pclose(answer);
		free(name);
		free(list);
		symtab_free(t);
	}
}

/* objdump makes up names for PLT entries in its own way. */
static void
stubs_as_objdump_has_them(void **state)
{
	for (size_t i = 0; i < LAYOUTS; i++) {
		struct symtab *stubs;
		struct symtab *t = lab_symtab(lab_path(layouts[i].name), &stubs);
		FILE *f = lab_output("objdump -d -j .plt -j .plt.sec -j .plt.got %s 2>&1 || :",
				     layouts[i].name);
		char line[4096], name[512];
		uint64_t address;

		while (fgets(line, sizeof(line), f) != NULL) {
			struct symbol s;

			if (sscanf(line, "%" SCNx64 " <%511[^>]>:", &address, name) != 2 ||
			    strcmp(strchrnul(name, '@'), "@plt") != 0 || name[0] == '*')
				continue;
			name[strcspn(name, "@")] = '\0';
			if (!symtab_find(stubs, address, &s))
				fail_msg("%s: no stub for %s", layouts[i].name, name);
			assert_int_equal(s.start, address);
			assert_int_equal(strncmp(s.name, name, strlen(name)), 0);
			assert_string_equal(s.name + strlen(name), "@plt");
		}
		pclose(f);
		symtab_free(stubs);
		symtab_free(t);
	}
}

static size_t
stubs_in(const struct symtab *stubs)
{
	struct symbol s = { 0 };
	uint64_t last = 0;
	size_t n = 0;

	for (uint64_t at = 0; at < 0x500000; at += 8)
		if (symtab_find(stubs, at, &s) && s.start != last) {
			last = s.start;
			n++;
		}
	return n;
}

static void
stubs_are_there(void **state)
{
	static const char *const names[] = { "pie", "lazy", "now", "ibt", "no_pie" };

	for (size_t i = 0; i < 5; i++) {
		struct symtab *stubs;

		symtab_free(lab_symtab(lab_path(names[i]), &stubs));
		assert_true(stubs_in(stubs) >= 4);
		symtab_free(stubs);
	}
}

static void
headers_as_readelf_has_them(void **state)
{
	for (size_t i = 0; i < LAYOUTS; i++) {
		struct elf_object *o = elf_lab_open(lab_path(layouts[i].name));
		const struct elf_segment *segments;
		const uint8_t *id;
		size_t size = elf_object_build_id(o, &id), nr = elf_object_segments(o, &segments);
		FILE *f = lab_output("readelf -n %s | sed -n 's/.*Build ID: //p'", layouts[i].name);
		char theirs[256] = "", mine[256] = "";

		if (fgets(theirs, sizeof(theirs), f) != NULL)
			theirs[strcspn(theirs, "\n")] = '\0';
		pclose(f);
		for (size_t k = 0; k < size; k++)
			snprintf(mine + 2 * k, 3, "%02x", id[k]);
		assert_string_equal(mine, theirs);
		assert_int_equal(size, layouts[i].build_id_size);
		assert_true((int)nr >= layouts[i].segments_min);
		f = lab_output("readelf -lW %s | awk '$1 == \"LOAD\" { print $2, $3, $5, / E / }'",
			       layouts[i].name);
		for (size_t k = 0; k < nr; k++) {
			uint64_t offset, vaddr, filesz;
			int exec;

			assert_int_equal(fscanf(f, "%" SCNx64 " %" SCNx64 " %" SCNx64 " %d",
						&offset, &vaddr, &filesz, &exec),
					 4);
			assert_int_equal(segments[k].offset, offset);
			assert_int_equal(segments[k].vaddr, vaddr);
			assert_int_equal(segments[k].filesz, filesz);
		}
		pclose(f);
		elf_object_close(o);
	}
}

static void
offsets_to_addresses(void **state)
{
	/* As lld and -z noseparate-code make them: addresses that are no offsets, shared pages. */
	static const struct elf_segment s[] = {
		{ 0, 0x200000, 0x5f0, 0x5f0, false },
		{ 0x5f0, 0x2015f0, 0x900, 0x900, true },
		{ 0xef0, 0x202ef0, 0x200, 0x200, false },
		{ 0x5f0, 0x9005f0, 0x10, 0x10, true },
	};
	uint64_t v;

	assert_true(elf_segments_vaddr(s, 4, 0x5ef, true, &v));
	assert_int_equal(v, 0x2005ef);
	assert_true(elf_segments_vaddr(s, 4, 0x5f0, true, &v));
	assert_int_equal(v, 0x2015f0);
	assert_true(elf_segments_vaddr(s, 4, 0xeef, true, &v));
	assert_int_equal(v, 0x201eef);
	assert_true(elf_segments_vaddr(s, 4, 0xef0, false, &v));
	assert_int_equal(v, 0x202ef0);
	assert_false(elf_segments_vaddr(s, 4, 0x10f0, true, &v));
	assert_false(elf_segments_vaddr(NULL, 0, 0, true, &v));
}

static void
debug_link(void **state)
{
	struct elf_object *o;
	char name[256];
	uint32_t crc;

	lab_build("linked", lab_program, 0, "-g");
	lab_run("objcopy --only-keep-debug linked linked.debug && strip linked &&"
		"objcopy --add-gnu-debuglink=linked.debug linked");
	o = elf_lab_open(lab_path("linked"));
	assert_true(elf_object_debuglink(o, name, sizeof(name), &crc));
	assert_string_equal(name, "linked.debug");
	assert_false(elf_object_has_symtab(o));
	assert_false(elf_object_debuglink(o, name, 5, &crc));
	elf_object_close(o);
	o = elf_lab_open(lab_path("linked.debug"));
	assert_true(elf_object_has_symtab(o));
	assert_false(elf_object_debuglink(o, name, sizeof(name), &crc));
	elf_object_close(o);
}

static void
not_for_us(void **state)
{
	struct elf_object *o = NULL;

	lab_run("printf 'int x(void) { return 1; }' >rel.c && ${CC:-gcc} -c rel.c -o rel.o");
	assert_int_equal(elf_object_open(open(lab_path("rel.o"), O_RDONLY), &o),
			 -FMT_E_UNSUPPORTED);
	assert_int_equal(elf_object_open(open("/dev/null", O_RDONLY), &o), -FMT_E_UNSUPPORTED);
	assert_int_equal(elf_object_open(open("/", O_RDONLY), &o), -FMT_E_UNSUPPORTED);
	assert_int_equal(elf_object_open_memory("", 0, &o), -FMT_E_EMPTY);
	assert_int_equal(elf_object_open_memory("\177ELF", 4, &o), -FMT_E_TRUNCATED);
	assert_int_equal(elf_object_open(open(lab_path("rel.c"), O_RDONLY), &o), -FMT_E_TRUNCATED);
	assert_null(o);
}

/* Everything that can be asked of an object, asked. */
static void
use(const uint8_t *bytes, size_t size)
{
	struct elf_object *o;
	struct symtab *t, *stubs;
	struct symbol s;
	char name[256];
	uint32_t crc;

	if (elf_object_open_memory(bytes, size, &o) != 0)
		return;
	elf_object_debuglink(o, name, sizeof(name), &crc);
	elf_object_has_symtab(o);
	t = lab_symtab_of(o, &stubs);
	elf_object_close(o);
	for (uint64_t v = 0; v < 0x4000; v += 37)
		if (symtab_find(t, v, &s))
			assert_true(symbol_name_length(s.name) < size);
	symtab_free(t);
	symtab_free(stubs);
}

static uint8_t *
tiny(size_t *ret_size)
{
	static const char source[] = "extern int far_one(int); extern int far_two(int);\n"
				     "int (*keep)(int) = far_two;\n"
				     "int near_one(int x) { return far_one(x) + 1; }\n"
				     "int near_two(int x) { return far_two(x) + near_one(x); }\n";
	const char *path = lab_build("tiny.so", source, 0,
				     "-shared -fPIC -nostdlib -Wl,-z,noseparate-code -Wl,-z,lazy "
				     "-Wl,-z,max-page-size=512 -fno-asynchronous-unwind-tables");

	lab_run("cp tiny.so tiny.debug && objcopy --add-gnu-debuglink=tiny.debug tiny.so");
	return lab_read(path, ret_size);
}

static void
cut_at_every_byte(void **state)
{
	size_t size;
	uint8_t *bytes = tiny(&size);

	assert_true(size < 32768);
	use(bytes, size);
	for (size_t n = 0; n < size; n++) {
		uint8_t *exact = malloc(n ? n : 1);

		memcpy(exact, bytes, n);
		use(exact, n);
		free(exact);
	}
	free(bytes);
}

static void
every_byte_changed(void **state)
{
	static const uint8_t masks[] = { 0x01, 0x80, 0xff };
	size_t size;
	uint8_t *bytes = tiny(&size);

	for (size_t at = 0; at < size; at++) {
		for (size_t m = 0; m < sizeof(masks); m++) {
			bytes[at] ^= masks[m];
			use(bytes, size);
			bytes[at] ^= masks[m];
		}
	}
	free(bytes);
}

/* A file that shrinks after it was opened: an error or less, never a signal. */
static void
truncated_under_us(void **state)
{
	size_t size;
	uint8_t *bytes = tiny(&size);

	for (size_t n = 0; n < size; n += 97) {
		struct symtab_builder *b = symtab_builder_new();
		struct elf_object *o;
		struct symtab *t;

		elf_lab_write(lab_path("shrinks.so"), bytes, size);
		o = elf_lab_open(lab_path("shrinks.so"));
		assert_int_equal(truncate(lab_path("shrinks.so"), (off_t)n), 0);
		assert_int_equal(elf_object_symbols(o, 0, b), 0);
		assert_int_equal(symtab_build(b, &t), 0);
		symtab_free(t);
		elf_object_close(o);
	}
	free(bytes);
}

/* Claims of more sections than any linker makes must not be paid for in memory. */
static void
too_many_sections(void **state)
{
	size_t size;
	uint8_t *bytes = tiny(&size);
	struct elf_object *o;
	uint64_t shoff;

	memcpy(&shoff, bytes + 0x28, 8);
	memset(bytes + 0x3c, 0, 2);			     /* e_shnum: see section 0 */
	memcpy(bytes + shoff + 0x20, "\0\0\0\xff\0\0\0", 8); /* its sh_size: 4 billion */
	assert_int_equal(elf_object_open_memory(bytes, size, &o), -FMT_E_TOO_BIG);
	memcpy(bytes + shoff + 0x20, "\0\0\1\0\0\0\0", 8);
	assert_int_equal(elf_object_open_memory(bytes, size, &o), -FMT_E_TRUNCATED);
	free(bytes);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(symbols_as_nm_has_them),
		cmocka_unit_test(functions_as_nm_has_them),
		cmocka_unit_test(functions_of_one_name),
		cmocka_unit_test(symbols_of_system_libraries),
		cmocka_unit_test(known_functions),
		cmocka_unit_test(addresses_as_addr2line_has_them),
		cmocka_unit_test(stubs_as_objdump_has_them),
		cmocka_unit_test(stubs_are_there),
		cmocka_unit_test(headers_as_readelf_has_them),
		cmocka_unit_test(offsets_to_addresses),
		cmocka_unit_test(debug_link),
		cmocka_unit_test(not_for_us),
		cmocka_unit_test(cut_at_every_byte),
		cmocka_unit_test(every_byte_changed),
		cmocka_unit_test(truncated_under_us),
		cmocka_unit_test(too_many_sections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

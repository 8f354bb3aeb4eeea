/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small ELF files that ask for much: what they cost grows with their size, and no faster.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <elf.h>
#include <zlib.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/object/elf_bytes.h"
#include "symbolizer/object/elf_object.h"
#include "symbolizer/object/symtab.h"
#include "tests/lab/elf_lab.h"

#define TEXT UINT64_C(0x400000)
#define RSS_KIB_MAX (256L << 10)
#define HOLE (UINT64_C(512) << 20)

struct image {
	uint8_t *bytes;
	size_t size, cap;
	Elf64_Shdr *sections;
	uint32_t nr;
	struct {
		char bytes[256];
		uint32_t len;
	} names;
};

static size_t
put(struct image *m, const void *bytes, size_t len)
{
	size_t at = m->size;

	if (m->cap < m->size + len) {
		m->cap = (m->size + len) * 2;
		m->bytes = realloc(m->bytes, m->cap);
		assert_non_null(m->bytes);
	}
	if (bytes)
		memcpy(m->bytes + at, bytes, len);
	else
		memset(m->bytes + at, 0, len);
	m->size += len;
	return at;
}

static Elf64_Shdr *
section(struct image *m, const char *name, uint32_t type, size_t at, size_t size)
{
	Elf64_Shdr *s;

	/* A power of two: twice as many. */
	if ((m->nr & (m->nr - 1)) == 0) {
		m->sections = realloc(m->sections, (2 * m->nr + 1) * sizeof(*m->sections));
		assert_non_null(m->sections);
	}
	s = &m->sections[m->nr++];
	*s = (Elf64_Shdr){ .sh_name = m->names.len,
			   .sh_type = type,
			   .sh_flags = SHF_ALLOC,
			   .sh_offset = at,
			   .sh_size = size,
			   .sh_addralign = 1 };
	memcpy(m->names.bytes + m->names.len, name, strlen(name) + 1);
	m->names.len += strlen(name) + 1;
	return s;
}

static void
begin(struct image *m)
{
	*m = (struct image){ .bytes = NULL };
	put(m, NULL, sizeof(Elf64_Ehdr));
	section(m, "", SHT_NULL, 0, 0)->sh_flags = 0;
}

/* Writes the headers; all is there then. */
static void
end(struct image *m)
{
	Elf64_Ehdr *h;
	size_t at = put(m, m->names.bytes, sizeof(m->names.bytes)), sections;

	m->names.len = 0;
	section(m, "", SHT_STRTAB, at, sizeof(m->names.bytes));
	put(m, NULL, -m->size % 8);
	sections = put(m, m->sections, m->nr * sizeof(*m->sections));
	h = (Elf64_Ehdr *)m->bytes;
	*h = (Elf64_Ehdr){ .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			   .e_type = ET_DYN,
			   .e_machine = EM_X86_64,
			   .e_version = EV_CURRENT,
			   .e_shoff = sections,
			   .e_ehsize = sizeof(*h),
			   .e_shentsize = sizeof(Elf64_Shdr),
			   .e_shnum = (Elf64_Half)m->nr,
			   .e_shstrndx = (Elf64_Half)(m->nr - 1) };
	free(m->sections);
}

static void
symbols(struct image *m, uint32_t type, const Elf64_Sym *syms, size_t nr, const char *strings,
	size_t strings_len)
{
	size_t strings_at = put(m, strings, strings_len);
	size_t at;
	Elf64_Shdr *s;

	put(m, NULL, -m->size % 8);
	at = put(m, syms, nr * sizeof(*syms));
	section(m, "", SHT_STRTAB, strings_at, strings_len);
	s = section(m, "", type, at, nr * sizeof(*syms));
	s->sh_link = m->nr - 2;
	s->sh_entsize = sizeof(*syms);
}

/* CPU seconds that a reader of it takes. Frees it. */
static double
cost_ended(struct image *m)
{
	struct symtab *t, *stubs;
	struct elf_object *o;
	clock_t before;

	before = clock();
	assert_int_equal(elf_object_open_memory(m->bytes, m->size, &o), 0);
	t = lab_symtab_of(o, &stubs);
	elf_object_close(o);
	symtab_free(t);
	symtab_free(stubs);
	free(m->bytes);
	return (double)(clock() - before) / CLOCKS_PER_SEC;
}

static double
cost(struct image *m)
{
	end(m);
	return cost_ended(m);
}

/* Of four times as much: four times the work and a constant, not sixteen times. */
static void
grows_with_size(double (*bomb)(size_t), size_t n)
{
	double small = bomb(n), large = bomb(4 * n);

	print_message("# %.3f s, four times as much: %.3f s\n", small, large);
	assert_true(large < 8 * small + 0.5);
}

static void
memory_is_bounded(void)
{
#if !defined(__SANITIZE_ADDRESS__)
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	print_message("# %ld KiB at most\n", usage.ru_maxrss);
	assert_true(usage.ru_maxrss < RSS_KIB_MAX);
#endif
}

/* n sections of stubs over each other, each stub of the one symbol with a long name. */
static void
test_stubs(void **state)
{
	char name[1000];
	Elf64_Sym syms[2] = { { 0 },
			      { .st_name = 1, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC) } };
	Elf64_Rela rela = { .r_offset = TEXT, .r_info = ELF64_R_INFO(1, R_X86_64_JUMP_SLOT) };
	static const uint8_t lazy[16] = { 0x68 }; /* push 0 */
	struct image m;
	Elf64_Shdr *s;
	size_t at;

	begin(&m);
	memset(name, 'a', sizeof(name));
	name[0] = name[sizeof(name) - 1] = '\0';
	symbols(&m, SHT_DYNSYM, syms, 2, name, sizeof(name));
	put(&m, NULL, -m.size % 8);
	at = put(&m, &rela, sizeof(rela));
	s = section(&m, ".rela.plt", SHT_RELA, at, sizeof(rela));
	s->sh_entsize = sizeof(rela);
	at = m.size;
	for (int i = 0; i < 4096; i++)
		put(&m, lazy, sizeof(lazy));
	for (int i = 0; i < 1000; i++) {
		section(&m, ".plt", SHT_PROGBITS, at, 4096 * sizeof(lazy))->sh_addr =
			TEXT + (uint64_t)i * 65536;
		if (i > 0) {
			m.sections[m.nr - 1].sh_name = m.sections[m.nr - 2].sh_name;
			m.names.len -= sizeof(".plt");
		}
	}
	(void)state;
	cost(&m);
	memory_is_bounded();
}

/* n symbols at one address, whose names have n underscores between them. */
static double
underscores(size_t n)
{
	Elf64_Sym *syms = calloc(n, sizeof(*syms));
	char *strings = malloc(n);
	struct image m;
	double seconds;

	memset(strings, '_', n);
	strings[n - 1] = '\0';
	for (size_t i = 1; i < n; i++)
		syms[i] = (Elf64_Sym){ .st_name = (uint32_t)i - 1,
				       .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				       .st_shndx = 1,
				       .st_value = TEXT,
				       .st_size = 16 };
	begin(&m);
	section(&m, ".text", SHT_NOBITS, 0, 4096)->sh_addr = TEXT;
	symbols(&m, SHT_SYMTAB, syms, n, strings, n);
	free(syms);
	free(strings);
	seconds = cost(&m);
	return seconds;
}

static void
test_underscores(void **state)
{
	(void)state;
	grows_with_size(underscores, 50000);
}

/* n symbols whose section stands in a table of its own, and n/20 sections. */
static double
extended_sections(size_t n)
{
	Elf64_Sym *syms = calloc(n, sizeof(*syms));
	struct image m;
	double seconds;

	for (size_t i = 1; i < n; i++)
		syms[i] = (Elf64_Sym){ .st_name = 1,
				       .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				       .st_shndx = SHN_XINDEX,
				       .st_value = TEXT + i,
				       .st_size = 1 };
	begin(&m);
	for (size_t i = 0; i < n / 20; i++) {
		Elf64_Shdr *s = section(&m, "", SHT_NOBITS, 0, 1);

		s->sh_flags |= SHF_EXECINSTR;
		s->sh_addr = 16 + i;
		m.names.len = 1;
	}
	symbols(&m, SHT_SYMTAB, syms, n, "\0name", 6);
	free(syms);
	seconds = cost(&m);
	return seconds;
}

static void
test_extended_sections(void **state)
{
	(void)state;
	grows_with_size(extended_sections, 250000);
}

/* n tables of relocations over each other. */
static double
relocations(size_t n)
{
	size_t bytes = n * 240 / sizeof(Elf64_Rela) * sizeof(Elf64_Rela);
	struct image m;
	double seconds;
	size_t at;

	begin(&m);
	put(&m, NULL, -m.size % 8);
	at = put(&m, NULL, bytes);
	for (size_t i = 0; i < n; i++) {
		section(&m, "", SHT_RELA, at, bytes)->sh_entsize = sizeof(Elf64_Rela);
		m.names.len = 1;
	}
	seconds = cost(&m);
	return seconds;
}

static void
test_relocations(void **state)
{
	(void)state;
	grows_with_size(relocations, 4000);
	memory_is_bounded();
}

/* n relocations of i386, each of which adds to what its slot has, and n sections that might have lost it. */
static double
slot_values(size_t n)
{
	const Elf64_Rel rel = { .r_offset = 16, .r_info = ELF64_R_INFO(0, R_386_IRELATIVE) };
	struct image m;
	size_t at;

	begin(&m);
	put(&m, NULL, -m.size % 8);
	at = m.size;
	for (size_t i = 0; i < n; i++)
		put(&m, &rel, sizeof(rel));
	section(&m, "", SHT_REL, at, n * sizeof(rel))->sh_entsize = sizeof(rel);
	for (size_t i = 0; i < n; i++) {
		section(&m, "", SHT_PROGBITS, 0, 0);
		m.names.len = 1;
	}
	end(&m);
	((Elf64_Ehdr *)m.bytes)->e_machine = EM_386;
	return cost_ended(&m);
}

static void
test_slot_values(void **state)
{
	(void)state;
	grows_with_size(slot_values, 12000);
}

/* n pieces of code that are asked for one by one, and n sections that might have lost them: only one has. */
static void
test_emptied(void **state)
{
	const size_t n = 65000;
	const Elf64_Phdr load = { .p_type = PT_LOAD,
				  .p_flags = PF_R | PF_X,
				  .p_vaddr = TEXT,
				  .p_filesz = 64,
				  .p_memsz = 64 };
	struct elf_object *o;
	struct image m;
	clock_t before;
	Elf64_Shdr *s;
	Elf64_Ehdr *h;
	size_t at;

	(void)state;
	begin(&m);
	put(&m, NULL, 64);
	at = put(&m, &load, sizeof(load));
	for (size_t i = 0; i < n; i++) {
		s = section(&m, "", SHT_NOBITS, 0, i == n / 2 ? 8 : 1 + i % 3);
		s->sh_flags |= SHF_EXECINSTR;
		s->sh_addr = i == n / 2 ? TEXT + 32 : i % 2 ? i : UINT64_MAX - i;
		m.names.len = 1;
	}
	end(&m);
	h = (Elf64_Ehdr *)m.bytes;
	h->e_phoff = at;
	h->e_phnum = 1;
	h->e_phentsize = sizeof(load);
	assert_int_equal(elf_object_open_memory(m.bytes, m.size, &o), 0);
	before = clock();
	for (size_t i = 0; i < 4 * n; i++) {
		struct elf_bytes b = { .p = NULL };
		const bool lost = i % 64 >= 32 && i % 64 < 40;

		assert_int_equal(elf_bytes_at(o, TEXT + i % 64, 1, &b), lost ? -FMT_E_EMPTY : 0);
		free(b.p);
	}
	print_message("# %.3f s\n", (double)(clock() - before) / CLOCKS_PER_SEC);
	assert_true(clock() - before < 20 * CLOCKS_PER_SEC);
	elf_object_close(o);
	free(m.bytes);
}

/* Bytes that the process has read so far. */
static uint64_t
bytes_read(void)
{
	FILE *f = fopen("/proc/thread-self/io", "re");
	uint64_t n = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "rchar: %" SCNu64, &n), 1);
	fclose(f);
	return n;
}

/* Sections of notes over each other; what is behind a build-id is not looked for. */
static void
test_notes(void **state)
{
	static const uint8_t id[] = { 4,   0,	0,   0, 8, 0, 0, 0, 3, 0, 0, 0,
				      'G', 'N', 'U', 0, 1, 2, 3, 4, 5, 6, 7, 8 };
	const uint8_t *found;

	(void)state;
	for (size_t before = 1; before <= 4000; before += 3999) {
		struct elf_object *o;
		struct image m;
		uint64_t bytes;
		size_t at;

		begin(&m);
		at = put(&m, NULL, 64 << 10);
		for (size_t i = 0; i < before; i++) {
			section(&m, "", SHT_NOTE, at, 64 << 10);
			m.names.len = 1;
		}
		section(&m, "", SHT_NOTE, put(&m, id, sizeof(id)), sizeof(id));
		end(&m);
		bytes = bytes_read();
		assert_int_equal(elf_object_open_memory(m.bytes, m.size, &o), 0);
		bytes = bytes_read() - bytes;
		print_message("# %zu sections: %" PRIu64 " KiB read\n", before, bytes >> 10);
		assert_true(bytes < m.size + (2 << 20));
		assert_int_equal(elf_object_build_id(o, &found), before == 1 ? 8 : 0);
		elf_object_close(o);
		free(m.bytes);
	}
}

/* Opens it with a hole of so many bytes behind it. Frees the image. */
static int
open_sparse(struct image *m, uint64_t hole, struct elf_object **ret)
{
	int fd = memfd_create("sparse", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, m->bytes, m->size), m->size);
	assert_int_equal(ftruncate(fd, (off_t)(m->size + hole)), 0);
	free(m->bytes);
	return elf_object_open(fd, ret);
}

static Elf64_Shdr *
last_section(const struct image *m)
{
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)m->bytes;

	return (Elf64_Shdr *)(m->bytes + h->e_shoff) + h->e_shnum - 1;
}

static bool
has_link(struct image *m)
{
	struct elf_object *o;
	char name[16];
	uint32_t crc;
	bool has;

	assert_int_equal(open_sparse(m, HOLE, &o), 0);
	has = elf_object_debuglink(o, name, sizeof(name), &crc);
	elf_object_close(o);
	memory_is_bounded();
	return has;
}

static void
with_link(struct image *m)
{
	static const char link[8 + 4] = "debug";

	begin(m);
	section(m, ".gnu_debuglink", SHT_PROGBITS, put(m, link, sizeof(link)), sizeof(link));
}

/* The names of sections are the rest of the file, which is a hole. */
static void
test_names(void **state)
{
	struct image m;

	(void)state;
	with_link(&m);
	end(&m);
	assert_true(has_link(&m));
	with_link(&m);
	end(&m);
	last_section(&m)->sh_size = HOLE;
	assert_false(has_link(&m));
}

/* n sections, whose names are n bytes without an end. */
static double
endless_names(size_t n)
{
	struct image m;
	size_t at;

	begin(&m);
	for (size_t i = 0; i < n / 256; i++) {
		section(&m, "", SHT_PROGBITS, 0, 0);
		m.names.len = 1;
	}
	at = put(&m, NULL, n);
	memset(m.bytes + at + 1, 'a', n - 1);
	end(&m);
	last_section(&m)->sh_offset = at;
	last_section(&m)->sh_size = n;
	return cost_ended(&m);
}

static void
test_endless_names(void **state)
{
	(void)state;
	grows_with_size(endless_names, 1 << 20);
}

/* They are few bytes, of which many come. */
static void
test_packed_names(void **state)
{
	Elf64_Chdr head = { .ch_type = ELFCOMPRESS_ZLIB, .ch_size = HOLE, .ch_addralign = 1 };
	uint8_t *packed = malloc(HOLE / 512), *zeros = calloc(1, HOLE / 512);
	z_stream z = { .next_out = packed, .avail_out = HOLE / 512 };
	struct image m;
	size_t at;

	(void)state;
	assert_int_equal(deflateInit(&z, 9), Z_OK);
	for (size_t i = 0; i < 512; i++) {
		z.next_in = zeros;
		z.avail_in = HOLE / 512;
		assert_int_equal(deflate(&z, i < 511 ? Z_NO_FLUSH : Z_FINISH),
				 i < 511 ? Z_OK : Z_STREAM_END);
	}
	with_link(&m);
	at = put(&m, &head, sizeof(head));
	put(&m, packed, z.total_out);
	end(&m);
	last_section(&m)->sh_flags = SHF_COMPRESSED;
	last_section(&m)->sh_offset = at;
	last_section(&m)->sh_size = sizeof(head) + z.total_out;
	deflateEnd(&z);
	free(packed);
	free(zeros);
	assert_false(has_link(&m));
}

/* As many program headers as go into the file, by the number that is kept in the first section. */
static void
test_program_headers(void **state)
{
	struct elf_object *o;
	struct image m;
	Elf64_Ehdr *h;

	(void)state;
	begin(&m);
	m.sections[0].sh_info = HOLE / sizeof(Elf64_Phdr);
	end(&m);
	h = (Elf64_Ehdr *)m.bytes;
	h->e_phoff = m.size;
	h->e_phentsize = sizeof(Elf64_Phdr);
	h->e_phnum = PN_XNUM;
	assert_int_equal(open_sparse(&m, HOLE, &o), -FMT_E_TOO_BIG);
	memory_is_bounded();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stubs),
		cmocka_unit_test(test_underscores),
		cmocka_unit_test(test_extended_sections),
		cmocka_unit_test(test_relocations),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_slot_values),
		cmocka_unit_test(test_emptied),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_endless_names),
		cmocka_unit_test(test_packed_names),
		cmocka_unit_test(test_program_headers),
	};

	return cmocka_run_group_tests_name("elf_bombs", tests, NULL, NULL);
}

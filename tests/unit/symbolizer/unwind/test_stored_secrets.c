/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * objects_no_sections: a reduced copy has neither the code nor the data of its file, whatever the file's headers say of
 * them, or leave out. What is secret stands in .text, .rodata and .data of a program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/bytes/fmt_error.h"
#include "format/stored/stored_frames.h"
#include "format/stored/stored_reduce.h"
#include "symbolizer/unwind/cfi.h"
#include "tests/lab/elf_lab.h"

#define MANY (UINT64_C(64) << 20)
#define SECRET "the password is 7"

static const char program[] = "const char in_rodata[64] = \"" SECRET
			      " r\"; char in_data[64] = \"" SECRET " d\";\n"
			      "__asm__(\".text\\n.ascii \\\"" SECRET " t\\\"\\n.balign 16\\n\");\n"
			      "int leaf(int x) { return x * in_data[x & 7] + in_rodata[x & 3]; }\n"
			      "int main(int n, char **v) { return leaf(n) + v[0][0]; }\n";

/* A file in memory, and where its headers are. */
struct image {
	uint8_t *p;
	size_t size;
	Elf64_Ehdr *header;
	Elf64_Phdr *segments;
	Elf64_Shdr *sections;
	const char *names;
};

static Elf64_Shdr *
section_of(const struct image *f, const char *name)
{
	for (size_t i = 1; i < f->header->e_shnum; i++)
		if (strcmp(f->names + f->sections[i].sh_name, name) == 0)
			return &f->sections[i];
	fail_msg("no section %s", name);
	return NULL;
}

/* --- the copy ---------------------------------------------------------------------------- */

struct copy {
	uint8_t *p;
	uint64_t end;
};

static int
put(void *arg, uint64_t offset, const void *p, size_t n)
{
	struct copy *c = arg;

	assert_true(offset <= MANY && n <= MANY - offset);
	memcpy(c->p + offset, p, n);
	if (offset + n > c->end)
		c->end = offset + n;
	return 0;
}

static int
reduce(const struct image *f, struct copy *ret)
{
	struct io_source *file = io_source_memory(f->p, f->size);
	uint64_t size = 0;
	int error;

	ret->p = calloc(1, MANY);
	ret->end = 0;
	assert_non_null(ret->p);
	assert_non_null(file);
	error = stored_reduce(file, MANY, put, ret, &size);
	file->close(file);
	if (!error && size > ret->end)
		ret->end = size;
	return error;
}

/* Is it, or what is left of it, in the copy? */
static bool
is_told(const struct copy *c)
{
	return memmem(c->p, c->end, SECRET, strlen(SECRET)) != NULL ||
		memmem(c->p, c->end, SECRET + 4, 8) != NULL;
}

static void
tells_nothing(const struct image *f, const char *what)
{
	struct copy c;

	(void)reduce(f, &c);
	if (is_told(&c))
		fail_msg("%s: what is secret was copied", what);
	free(c.p);
}

/* The sections and segments of what there is to know. */
static const char *const holders[] = { ".rodata", ".data", ".text" };
#define NR_HOLDERS (sizeof(holders) / sizeof(holders[0]))

static const char *const flags[] = { "-O1", "-O1 -Wl,-z,noseparate-code",
				     "-O1 -no-pie -static -Wl,--eh-frame-hdr",
				     "-O1 -s -Wl,-z,noseparate-code" };
#define NR_FLAGS (sizeof(flags) / sizeof(flags[0]))

static void
find_headers(struct image *f)
{
	f->header = (Elf64_Ehdr *)(void *)f->p;
	f->segments = (Elf64_Phdr *)(void *)(f->p + f->header->e_phoff);
	f->sections = (Elf64_Shdr *)(void *)(f->p + f->header->e_shoff);
	f->names = (const char *)f->p + f->sections[f->header->e_shstrndx].sh_offset;
}

/* A copy of it, which is built once. */
static struct image
build(size_t i)
{
	static struct image built[NR_FLAGS];
	struct image f = { .p = NULL };

	if (!built[i].p)
		built[i].p = lab_read(lab_build("secret", program, 0, flags[i]), &built[i].size);
	f.size = built[i].size;
	f.p = malloc(f.size);
	assert_non_null(f.p);
	memcpy(f.p, built[i].p, f.size);
	find_headers(&f);
	assert_non_null(memmem(f.p, f.size, SECRET " r", strlen(SECRET) + 2));
	assert_non_null(memmem(f.p, f.size, SECRET " d", strlen(SECRET) + 2));
	assert_non_null(memmem(f.p, f.size, SECRET " t", strlen(SECRET) + 2));
	return f;
}

/* --- no sections ------------------------------------------------------------------------- */

static void
forget_sections(struct image *f)
{
	f->header->e_shoff = 0;
	f->header->e_shnum = 0;
	f->header->e_shstrndx = 0;
}

static size_t
same_frames(const struct image *f, const struct copy *c)
{
	struct elf_object *a, *b;
	struct cfi_function x, y;
	struct cfi *of_file, *of_copy;
	size_t i = 0;

	elf_lab_write(lab_path("file"), f->p, f->size);
	elf_lab_write(lab_path("copy"), c->p, c->end);
	a = elf_lab_open(lab_path("file"));
	b = elf_lab_open(lab_path("copy"));
	assert_int_equal(cfi_new(a, NULL, &of_file), 0);
	assert_int_equal(cfi_new(b, NULL, &of_copy), 0);
	for (; cfi_function(of_file, i, &x); i++) {
		uint32_t rule, other;

		assert_true(cfi_function(of_copy, i, &y));
		assert_int_equal(x.start, y.start);
		assert_int_equal(x.end, y.end);
		assert_int_equal(cfi_find(of_file, x.start, &rule),
				 cfi_find(of_copy, x.start, &other));
		assert_int_equal(rule, other);
	}
	assert_false(cfi_function(of_copy, i, &y));
	cfi_free(of_file);
	cfi_free(of_copy);
	elf_object_close(a);
	elf_object_close(b);
	return i;
}

static void
test_no_sections(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_FLAGS; i++) {
		struct image f = build(i);
		struct copy c;

		for (int bare = 0; bare < 2; bare++) {
			if (bare)
				forget_sections(&f);
			assert_int_equal(reduce(&f, &c), 0);
			assert_false(is_told(&c));
			assert_true(same_frames(&f, &c) >= 3);
			free(c.p);
		}
		free(f.p);
	}
}

/* --- sections that lie ------------------------------------------------------------------- */

/* What a section is called, and of which type, and so would be kept. */
struct label {
	const char *name; /* NULL: as it was */
	uint32_t type;
	uint64_t flags, entry;
};

static const struct label labels[] = {
	{ NULL, SHT_NOTE, SHF_ALLOC, 0 },
	{ NULL, SHT_NOTE, 0, 0 },
	{ NULL, SHT_SYMTAB, 0, sizeof(Elf64_Sym) },
	{ NULL, SHT_SYMTAB_SHNDX, 0, 4 },
	{ NULL, SHT_DYNSYM, SHF_ALLOC, sizeof(Elf64_Sym) },
	{ NULL, SHT_STRTAB, SHF_ALLOC, 0 },
	{ NULL, SHT_STRTAB, 0, 0 },
	{ NULL, SHT_DYNAMIC, SHF_ALLOC, sizeof(Elf64_Dyn) },
	{ NULL, SHT_HASH, SHF_ALLOC, 4 },
	{ NULL, SHT_GNU_HASH, SHF_ALLOC, 0 },
	{ NULL, SHT_GNU_versym, SHF_ALLOC, 2 },
	{ NULL, SHT_GNU_verdef, SHF_ALLOC, 0 },
	{ NULL, SHT_GNU_verneed, SHF_ALLOC, 0 },
	{ NULL, SHT_RELA, SHF_ALLOC, sizeof(Elf64_Rela) },
	{ NULL, SHT_REL, SHF_ALLOC, sizeof(Elf64_Rel) },
	{ ".interp", SHT_PROGBITS, SHF_ALLOC, 0 },
	{ ".plt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 16 },
	{ ".plt.sec", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 16 },
	{ ".iplt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 16 },
	{ ".eh_frame", SHT_PROGBITS, SHF_ALLOC, 0 },
	{ ".eh_frame_hdr", SHT_PROGBITS, SHF_ALLOC, 0 },
	{ ".debug_frame", SHT_PROGBITS, 0, 0 },
	{ ".zdebug_frame", SHT_PROGBITS, 0, 0 },
	{ ".debug_frame", SHT_PROGBITS, SHF_COMPRESSED, 0 },
	{ ".gnu_debugdata", SHT_PROGBITS, 0, 0 },
	{ ".gnu_debuglink", SHT_PROGBITS, 0, 0 },
	{ ".gnu_debugaltlink", SHT_PROGBITS, 0, 0 },
	{ ".gopclntab", SHT_PROGBITS, SHF_ALLOC, 0 },
	{ ".data.rel.ro.gopclntab", SHT_PROGBITS, SHF_ALLOC, 0 },
	{ ".go.module", SHT_PROGBITS, SHF_ALLOC, 0 },
};
#define NR_LABELS (sizeof(labels) / sizeof(labels[0]))

/* The file with other names of sections behind it; the names that it had come first. */
static void
add_names(struct image *f)
{
	Elf64_Shdr *s = &f->sections[f->header->e_shstrndx];
	const size_t had = (size_t)s->sh_size, at = (f->size + 15) & ~(size_t)15;
	uint8_t *p = calloc(1, at + had + NR_LABELS * 32);
	size_t end = at + had;

	assert_non_null(p);
	memcpy(p, f->p, f->size);
	memcpy(p + at, f->names, had);
	for (size_t i = 0; i < NR_LABELS; i++)
		if (labels[i].name) {
			memcpy(p + end, labels[i].name, strlen(labels[i].name) + 1);
			end += strlen(labels[i].name) + 1;
		}
	s = (Elf64_Shdr *)(void *)(p + f->header->e_shoff) + f->header->e_shstrndx;
	s->sh_offset = at;
	s->sh_size = end - at;
	free(f->p);
	f->p = p;
	f->size = end;
	find_headers(f);
}

static void
label(const struct image *f, Elf64_Shdr *s, const struct label *l)
{
	const Elf64_Shdr *names = &f->sections[f->header->e_shstrndx];
	const char *found = l->name
		? memmem(f->names, (size_t)names->sh_size, l->name, strlen(l->name) + 1)
		: NULL;

	assert_true(!l->name || found);
	s->sh_type = l->type;
	s->sh_flags = l->flags;
	s->sh_entsize = l->entry;
	s->sh_link = (Elf64_Word)(section_of(f, ".shstrtab") - f->sections);
	if (found)
		s->sh_name = (Elf64_Word)(found - f->names);
}

/* Where the secret stands, up to the end of its section: any byte of it may be the first. */
static void
begin_at_secret(const struct image *f, Elf64_Shdr *s, size_t before)
{
	const uint8_t *p = memmem(f->p + s->sh_offset, (size_t)s->sh_size, SECRET, strlen(SECRET));
	uint64_t skip;

	assert_non_null(p);
	skip = (uint64_t)(p - (f->p + s->sh_offset)) - before;
	s->sh_offset += skip;
	s->sh_addr += skip;
	s->sh_size -= skip;
}

static void
test_labels(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_FLAGS; i++)
		for (size_t k = 0; k < NR_HOLDERS; k++)
			for (size_t n = 0; n < 2 * NR_LABELS; n++) {
				const struct label *l = &labels[n / 2];
				struct image f = build(i);
				Elf64_Shdr *s;

				add_names(&f);
				s = section_of(&f, holders[k]);
				if (n % 2)
					begin_at_secret(&f, s, 0);
				label(&f, s, l);
				tells_nothing(&f, l->name ? l->name : "a type");
				free(f.p);
			}
}

/* Symbols whose strings are data, and names of sections that are. */
static void
test_strings(void **state)
{
	(void)state;
	for (size_t k = 0; k < 2 * NR_HOLDERS; k++) {
		struct image f = build(0);
		Elf64_Shdr *s;

		s = section_of(&f, holders[k / 2]);
		s->sh_type = SHT_STRTAB;
		section_of(&f, ".symtab")->sh_link = (Elf64_Word)(s - f.sections);
		section_of(&f, ".dynsym")->sh_link = (Elf64_Word)(s - f.sections);
		if (k % 2) {
			/* A string, with a NUL before and behind it. */
			begin_at_secret(&f, s, k / 2 < 2 ? 1 : 0);
			s->sh_size = strlen(SECRET) + 4;
		}
		tells_nothing(&f, "strings of symbols");
		f.header->e_shstrndx = (Elf64_Half)(s - f.sections);
		tells_nothing(&f, "names of sections");
		free(f.p);
	}
}

/* Each section goes on to the end of the segment that it is in. */
static void
test_stretched(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_FLAGS; i++) {
		size_t nr = 1;

		for (size_t n = 1; n < nr + 1; n++) {
			struct image f = build(i);

			nr = (size_t)f.header->e_shnum - 1;
			for (int bare = 0; bare < 2; bare++) {
				Elf64_Shdr *s = &f.sections[n];

				s->sh_size = f.size - s->sh_offset;
				/* The others might tell that it overlaps them. */
				for (size_t m = 1; bare && m <= nr; m++)
					if (m != n && m != f.header->e_shstrndx)
						f.sections[m].sh_type = SHT_NULL;
				tells_nothing(&f, f.names + s->sh_name);
			}
			free(f.p);
		}
	}
}

/* The table of sections is itself what is secret. */
static void
test_table(void **state)
{
	(void)state;
	for (size_t k = 0; k < NR_HOLDERS; k++) {
		struct image f = build(0);
		const Elf64_Shdr *s = section_of(&f, holders[k]);
		const uint8_t *p =
			memmem(f.p + s->sh_offset, (size_t)s->sh_size, SECRET, strlen(SECRET));

		assert_non_null(p);
		f.header->e_shoff = (uint64_t)(p - f.p);
		f.header->e_shstrndx = 0;
		for (Elf64_Half n = 1; n < 3; n++) {
			f.header->e_shnum = n;
			tells_nothing(&f, "the table of sections");
		}
		free(f.p);
	}
}

/* Each segment that is kept says that it is where the data is; with sections, and without. */
static void
test_segments(void **state)
{
	static const uint32_t types[] = { PT_NOTE, PT_DYNAMIC, PT_INTERP, PT_GNU_EH_FRAME };

	(void)state;
	for (size_t n = 0; n < NR_HOLDERS * 4 * 2; n++) {
		struct image f = build(1);
		Elf64_Shdr s = *section_of(&f, holders[n % NR_HOLDERS]);

		for (int at_secret = 0; at_secret < 2; at_secret++) {
			if (at_secret)
				begin_at_secret(&f, &s, 0);
			for (size_t i = 0; i < f.header->e_phnum; i++)
				if (f.segments[i].p_type == types[n / NR_HOLDERS % 4]) {
					f.segments[i].p_offset = s.sh_offset;
					f.segments[i].p_vaddr = s.sh_addr;
					f.segments[i].p_filesz = s.sh_size;
				}
			if (n >= NR_HOLDERS * 4)
				forget_sections(&f);
			tells_nothing(&f, "a segment");
		}
		free(f.p);
	}
}

/* --- what is looked through ---------------------------------------------------------------- */

/* An image, and zeros behind it; how often it was read. */
struct counted {
	struct io_source source;
	const struct image *of;
	uint64_t size;
	size_t reads;
};

static ssize_t
counted_read(struct io_source *self, uint64_t offset, void *p, size_t n)
{
	struct counted *c = (struct counted *)self;
	const uint64_t left = c->size - offset;
	size_t there = 0;

	c->reads++;
	n = n < left ? n : (size_t)left;
	memset(p, 0, n);
	if (offset < c->of->size)
		there = c->of->size - offset < n ? c->of->size - (size_t)offset : n;
	memcpy(p, c->of->p + (there ? offset : 0), there);
	return (ssize_t)n;
}

static int64_t
counted_size(struct io_source *self)
{
	return (int64_t)((struct counted *)self)->size;
}

static int
put_nowhere(void *arg, uint64_t offset, const void *p, size_t n)
{
	(void)arg;
	(void)offset;
	(void)p;
	(void)n;
	return 0;
}

/* 500 times the segment with call frame information, and as often the one that is loaded with it. */
static void
test_many_segments(void **state)
{
	struct image f = build(1);
	const Elf64_Shdr *frames = section_of(&f, ".eh_frame");
	struct counted c = { { .read = counted_read, .size = counted_size }, &f, 0, 0 };
	const Elf64_Phdr *loaded = NULL, *header = NULL;
	Elf64_Phdr *all = calloc(1000, sizeof(*all));
	uint64_t size;

	(void)state;
	for (size_t i = 0; i < f.header->e_phnum; i++) {
		const Elf64_Phdr *p = &f.segments[i];

		if (p->p_type == PT_GNU_EH_FRAME)
			header = p;
		if (p->p_type == PT_LOAD && frames->sh_offset - p->p_offset < p->p_filesz)
			loaded = p;
	}
	assert_true(all && header && loaded);
	for (size_t i = 0; i < 1000; i++)
		all[i] = i % 2 ? *header : *loaded;
	f.p = realloc(f.p, f.size + 1000 * sizeof(*all));
	assert_non_null(f.p);
	memcpy(f.p + f.size, all, 1000 * sizeof(*all));
	find_headers(&f);
	forget_sections(&f);
	f.header->e_phoff = f.size;
	f.header->e_phnum = 1000;
	f.size += 1000 * sizeof(*all);
	c.size = f.size;
	assert_int_equal(stored_reduce(&c.source, MANY, put_nowhere, NULL, &size), 0);
	assert_in_range(c.reads, 1000, 20000);
	free(all);
	free(f.p);
}

/* A table of strings that is a hole of a TiB: no memory is taken for it, and the copy has no symbols of it. */
static void
test_many_strings(void **state)
{
	struct image f = build(0);
	struct counted c = { { .read = counted_read, .size = counted_size }, &f, 0, 0 };
	const uint64_t hole = UINT64_C(1) << 40;
	uint64_t size = 0;

	(void)state;
	section_of(&f, ".strtab")->sh_offset = f.size;
	section_of(&f, ".strtab")->sh_size = hole;
	c.size = f.size + hole;
	assert_int_equal(stored_reduce(&c.source, MANY, put_nowhere, NULL, &size), 0);
	assert_in_range(size, 1000, f.size);
	free(f.p);
}

/* Each CIE is remembered: of a file that has nothing else no more than a linker leaves. */
static void
test_many_cies(void **state)
{
	static const uint8_t cie[] = { 6, 0, 0, 0, 0, 0, 0, 0, 1, 0 };
	const size_t max = 1 << 20, each = sizeof(cie);
	uint8_t *p = malloc((max + 1) * each);
	struct io_source *file;
	uint64_t end;

	(void)state;
	assert_non_null(p);
	for (size_t i = 0; i <= max; i++)
		memcpy(p + i * each, cie, each);
	file = io_source_memory(p, (max + 1) * each);
	assert_non_null(file);
	assert_int_equal(stored_frames_walk(file, 0, max * each, STORED_EH_FRAME, &end), 0);
	assert_int_equal(end, max * each);
	assert_int_equal(stored_frames_walk(file, 0, (max + 1) * each, STORED_EH_FRAME, &end), 0);
	assert_int_equal(end, 0);
	file->close(file);
	free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_sections),   cmocka_unit_test(test_labels),
		cmocka_unit_test(test_strings),	      cmocka_unit_test(test_stretched),
		cmocka_unit_test(test_table),	      cmocka_unit_test(test_segments),
		cmocka_unit_test(test_many_segments), cmocka_unit_test(test_many_strings),
		cmocka_unit_test(test_many_cies),
	};

	return cmocka_run_group_tests_name("objects_no_sections", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/elf_gopclntab.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/object/elf_bytes.h"
#include "symbolizer/object/elf_internal.h"

#define MAGIC_1_2 UINT32_C(0xfffffffb)
#define MAGIC_1_16 UINT32_C(0xfffffffa)
#define MAGIC_1_18 UINT32_C(0xfffffff0)
#define MAGIC_1_20 UINT32_C(0xfffffff1)
#define HEAD_BYTES 8
#define FUNCTIONS_MAX (1u << 21) /* each becomes 32 bytes; an entry of the table is but 8 bytes */

struct gopclntab {
	struct span all;
	uint64_t address; /* of the table */
	size_t word;	  /* bytes of a pointer */
	/* By offset in the table: */
	uint64_t names, names_end;
	uint64_t functions;	/* the index, from which the functions' own offsets count too */
	uint64_t functions_nr;	/* in the index; one more address follows, the end of the last */
	uint64_t function_base; /* what those offsets count from */
	size_t entry_size;	/* of an address and an offset in the index, each */
	uint64_t text;		/* what addresses in the index count from */
};

/* Little-endian, of 4 or 8 bytes; false: it is not in the table. */
static bool
table_word(const struct gopclntab *t, uint64_t at, size_t size, uint64_t *ret)
{
	if (at > t->all.len || size > t->all.len - at)
		return false;
	*ret = size == 8 ? le64dec(t->all.p + at) : le32dec(t->all.p + at);
	return true;
}

/* The i-th word behind the head. */
static bool
head_word(const struct gopclntab *t, size_t i, uint64_t *ret)
{
	return table_word(t, HEAD_BYTES + i * t->word, t->word, ret);
}

/*
 * Where a position-independent program's text begins is filled in by the loader: the relocation
 * has it.
 */
static uint64_t
relocated_word(struct elf_object *o, uint64_t address)
{
	for (size_t i = 1; i < o->nr_sections; i++) {
		GElf_Shdr shdr;
		GElf_Rela rela;
		Elf_Data *d;
		Elf_Scn *scn;

		if (!elf_section(o, i, &scn, &shdr) || shdr.sh_type != SHT_RELA ||
		    !(shdr.sh_flags & SHF_ALLOC))
			continue;
		d = elf_section_data(o, scn, &shdr, true);
		for (int k = 0; d != NULL && gelf_getrela(d, k, &rela) != NULL; k++)
			if (rela.r_offset == address)
				return (uint64_t)rela.r_addend;
	}
	return 0;
}

static bool
layout_1_2(struct gopclntab *t)
{
	t->names = 0;
	t->names_end = t->all.len;
	t->functions = HEAD_BYTES + t->word;
	t->function_base = 0;
	t->entry_size = t->word;
	return head_word(t, 0, &t->functions_nr);
}

static bool
layout_1_16(struct gopclntab *t)
{
	t->entry_size = t->word;
	if (!head_word(t, 0, &t->functions_nr) || !head_word(t, 2, &t->names) ||
	    !head_word(t, 3, &t->names_end) || !head_word(t, 6, &t->functions))
		return false;
	t->function_base = t->functions;
	return true;
}

static bool
layout_1_18(struct gopclntab *t, struct elf_object *o)
{
	t->entry_size = 4;
	if (!head_word(t, 0, &t->functions_nr) || !head_word(t, 2, &t->text) ||
	    !head_word(t, 3, &t->names) || !head_word(t, 4, &t->names_end) ||
	    !head_word(t, 7, &t->functions))
		return false;
	if (t->text == 0)
		t->text = relocated_word(o, t->address + HEAD_BYTES + 2 * t->word);
	t->function_base = t->functions;
	return true;
}

static bool
read_layout(struct gopclntab *t, struct elf_object *o)
{
	bool good;

	if (t->all.len < HEAD_BYTES || t->all.p[4] != 0 || t->all.p[5] != 0)
		return false;
	t->word = t->all.p[7];
	if (t->word != 4 && t->word != 8)
		return false;
	switch (le32dec(t->all.p)) {
	case MAGIC_1_2:
		good = layout_1_2(t);
		break;
	case MAGIC_1_16:
		good = layout_1_16(t);
		break;
	case MAGIC_1_18:
	case MAGIC_1_20:
		good = layout_1_18(t, o);
		break;
	default:
		return false;
	}
	return good && t->functions_nr <= FUNCTIONS_MAX && t->names < t->names_end &&
		t->names_end <= t->all.len && t->functions <= t->all.len &&
		t->functions_nr <= (t->all.len - t->functions) / (2 * t->entry_size);
}

/* Code is where the file says, and nowhere else. */
static bool
in_code(const struct elf_object *o, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < o->nr_segments; i++) {
		const struct elf_segment *s = &o->segments[i];

		if (s->exec && start >= s->vaddr && start - s->vaddr < s->memsz && end > start &&
		    end - s->vaddr <= s->memsz)
			return true;
	}
	return false;
}

static int
add_function(const struct gopclntab *t, const struct elf_object *o, uint64_t i, uint32_t base,
	     struct symtab_builder *b)
{
	const uint64_t at = t->functions + i * 2 * t->entry_size;
	/* A function begins with its address, as in the index; then comes its name. */
	const size_t size = t->entry_size;
	uint64_t start, offset, end, name;

	if (!table_word(t, at, size, &start) || !table_word(t, at + size, size, &offset) ||
	    !table_word(t, at + 2 * size, size, &end) || offset > t->all.len ||
	    !table_word(t, t->function_base + offset + size, 4, &name))
		return 0;
	if (name >= t->names_end - t->names || t->all.p[t->names + name] == '\0' ||
	    !in_code(o, t->text + start, t->text + end))
		return 0;
	return symtab_builder_add(b, t->text + start, end - start, 0, base + (uint32_t)name, 0);
}

static int
add_functions(struct gopclntab *t, struct elf_object *o, struct symtab_builder *b)
{
	uint32_t base;
	int error;

	if (!read_layout(t, o))
		return 0;
	error = symtab_builder_strings(b, t->all.p + t->names, t->names_end - t->names, &base);
	for (uint64_t i = 0; i < t->functions_nr && !error; i++)
		error = add_function(t, o, i, base, b);
	return error;
}

int
elf_gopclntab_symbols(struct elf_object *o, struct symtab_builder *b)
{
	/* Of an executable, and of a position-independent one. */
	static const char *const names[] = { ".gopclntab", ".data.rel.ro.gopclntab" };
	int error = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && error != -FMT_E_NOMEM; i++) {
		struct elf_bytes bytes = { .p = NULL };
		struct gopclntab t = { .word = 0 };

		error = elf_bytes_of_section(o, names[i], &bytes);
		t.all = span_of(bytes.p, bytes.len);
		t.address = bytes.vaddr;
		if (!error)
			error = add_functions(&t, o, b);
		free(bytes.p);
	}
	return error == -FMT_E_NOMEM ? error : 0;
}

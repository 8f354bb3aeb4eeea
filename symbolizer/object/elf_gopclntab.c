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
	bool from_text;		/* addresses in the index count from where the text begins: */
	uint64_t text;
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

struct go_function {
	uint64_t start, end; /* of its code, as in the index */
	uint64_t name;	     /* less than all names */
};

static bool
function_at(const struct gopclntab *t, uint64_t i, struct go_function *f)
{
	const uint64_t at = t->functions + i * 2 * t->entry_size;
	/* A function begins with its address, as in the index; then comes its name. */
	const size_t size = t->entry_size;
	uint64_t offset;

	return table_word(t, at, size, &f->start) && table_word(t, at + size, size, &offset) &&
		table_word(t, at + 2 * size, size, &f->end) && offset <= t->all.len &&
		table_word(t, t->function_base + offset + size, 4, &f->name) &&
		f->name < t->names_end - t->names;
}

/* --- where the text begins, which Go 1.26 and later do not say in the table ----------------- */

/* Words of the runtime's struct moduledata since Go 1.16: src/runtime/symtab.go of Go. */
enum { MODULE_TABLE = 0, MODULE_NAMES = 1, MODULE_FIRST = 20, MODULE_TEXT = 22 };
#define MODULES_MAX 8 /* candidates, of which each costs a walk through the relocations */

struct go_module {
	uint64_t table, names, first, text;
};

/* Is it the one of this table? first: where the first function begins, from the text on. */
static bool
module_fits(const struct go_module *m, const struct gopclntab *t, uint64_t first)
{
	return m->table == t->address && m->names == t->address + t->names && m->text != 0 &&
		m->first == m->text + first;
}

/* The next table of what the loader fills in, from section *i on; NULL: none is left. */
static Elf_Data *
next_relocations(struct elf_object *o, size_t *i)
{
	for (; *i < o->nr_sections; (*i)++) {
		Elf_Data *d = NULL;
		GElf_Shdr shdr;
		Elf_Scn *scn;

		if (elf_section(o, *i, &scn, &shdr) && shdr.sh_type == SHT_RELA &&
		    (shdr.sh_flags & SHF_ALLOC))
			d = elf_section_data(o, scn, &shdr, true);
		if (d != NULL)
			return d;
	}
	return NULL;
}

/* The word at an address of a position-independent program; 0: the loader leaves it alone. */
static uint64_t
relocated_word(Elf_Data *relocations, uint64_t address)
{
	GElf_Rela rela;

	for (int k = 0; gelf_getrela(relocations, k, &rela) != NULL; k++)
		if (rela.r_offset == address)
			return (uint64_t)rela.r_addend;
	return 0;
}

/* As the loader would fill the head in; 0: it does not. */
static uint64_t
text_by_head(const struct gopclntab *t, struct elf_object *o)
{
	uint64_t text = 0;
	Elf_Data *d;

	for (size_t i = 1; text == 0 && (d = next_relocations(o, &i)) != NULL; i++)
		text = relocated_word(d, t->address + HEAD_BYTES + 2 * t->word);
	return text;
}

/* By the moduledata in a section of variables; 0: there is none. */
static uint64_t
text_in_section(const struct gopclntab *t, const Elf_Data *d, uint64_t first)
{
	const struct gopclntab data = { .all = span_of(d->d_buf, d->d_size), .word = t->word };
	const size_t w = t->word;
	struct go_module m;

	for (uint64_t at = 0; table_word(&data, at, w, &m.table); at += w)
		if (m.table == t->address &&
		    table_word(&data, at + MODULE_NAMES * w, w, &m.names) &&
		    table_word(&data, at + MODULE_FIRST * w, w, &m.first) &&
		    table_word(&data, at + MODULE_TEXT * w, w, &m.text) &&
		    module_fits(&m, t, first))
			return m.text;
	return 0;
}

/* By the moduledata of a position-independent program, whose words are relocations. */
static uint64_t
text_in_relocations(const struct gopclntab *t, Elf_Data *d, uint64_t first)
{
	const size_t w = t->word;
	GElf_Rela rela;

	for (int k = 0, nr = 0; nr < MODULES_MAX && gelf_getrela(d, k, &rela) != NULL; k++) {
		const uint64_t at = rela.r_offset;
		struct go_module m = { .table = (uint64_t)rela.r_addend };

		if (m.table != t->address)
			continue;
		nr++;
		m.names = relocated_word(d, at + MODULE_NAMES * w);
		m.first = relocated_word(d, at + MODULE_FIRST * w);
		m.text = relocated_word(d, at + MODULE_TEXT * w);
		if (module_fits(&m, t, first))
			return m.text;
	}
	return 0;
}

static uint64_t
text_by_module(const struct gopclntab *t, struct elf_object *o, uint64_t first)
{
	const uint64_t loaded = SHF_ALLOC | SHF_WRITE;
	uint64_t text = 0;
	Elf_Data *d;

	for (size_t i = 1; text == 0 && i < o->nr_sections; i++) {
		GElf_Shdr shdr;
		Elf_Scn *scn;

		if (elf_section(o, i, &scn, &shdr) && shdr.sh_type == SHT_PROGBITS &&
		    (shdr.sh_flags & loaded) == loaded &&
		    (d = elf_section_data(o, scn, &shdr, false)) != NULL)
			text = text_in_section(t, d, first);
	}
	for (size_t i = 1; text == 0 && (d = next_relocations(o, &i)) != NULL; i++)
		text = text_in_relocations(t, d, first);
	return text;
}

/* Does the program begin at a function of the table that is made to begin programs? */
static bool
is_entered(const struct gopclntab *t, uint64_t text, uint64_t entry)
{
	static const char beginning[] = "_rt0_";
	const size_t len = sizeof(beginning) - 1;

	for (uint64_t i = 0; i < t->functions_nr; i++) {
		struct go_function f;

		if (function_at(t, i, &f) && text + f.start == entry)
			return t->names_end - t->names - f.name > len &&
				memcmp(t->all.p + t->names + f.name, beginning, len) == 0;
	}
	return false;
}

/*
 * .text begins with it when Go's own linker linked the program: another one puts what begins C programs before
 * it, and enters the program there.
 */
static uint64_t
text_by_section(const struct gopclntab *t, const struct elf_object *o)
{
	for (size_t i = 1; i < o->nr_sections; i++) {
		GElf_Shdr shdr;
		Elf_Scn *scn;

		if (elf_section(o, i, &scn, &shdr) &&
		    strcmp(elf_section_name(o, &shdr), ".text") == 0)
			return is_entered(t, shdr.sh_addr, o->entry) ? shdr.sh_addr : 0;
	}
	return 0;
}

/* 0: not known. */
static uint64_t
find_text(const struct gopclntab *t, struct elf_object *o)
{
	uint64_t first, text = text_by_head(t, o);

	if (text == 0)
		text = elf_object_address(o, "runtime.text");
	if (text == 0 && table_word(t, t->functions, t->entry_size, &first))
		text = text_by_module(t, o, first);
	return text ? text : text_by_section(t, o);
}

/* --- its layouts ----------------------------------------------------------------------------- */

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
layout_1_18(struct gopclntab *t)
{
	t->entry_size = 4;
	t->from_text = true;
	if (!head_word(t, 0, &t->functions_nr) || !head_word(t, 2, &t->text) ||
	    !head_word(t, 3, &t->names) || !head_word(t, 4, &t->names_end) ||
	    !head_word(t, 7, &t->functions))
		return false;
	t->function_base = t->functions;
	return true;
}

static bool
read_layout(struct gopclntab *t)
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
		good = layout_1_18(t);
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

/* Are all of its functions in code? A table that is not of this code, or whose base is another, names nothing. */
static bool
meets_code(const struct gopclntab *t, const struct elf_object *o)
{
	const size_t size = t->entry_size;
	uint64_t start, before, end;

	if (t->functions_nr == 0 || !table_word(t, t->functions, size, &start))
		return false;
	before = start;
	for (uint64_t i = 1; i <= t->functions_nr; i++, before = end)
		if (!table_word(t, t->functions + i * 2 * size, size, &end) || end < before)
			return false;
	return in_code(o, t->text + start, t->text + before);
}

static int
add_function(const struct gopclntab *t, uint64_t i, uint32_t base, struct symtab_builder *b)
{
	struct go_function f;

	if (!function_at(t, i, &f) || t->all.p[t->names + f.name] == '\0' || f.end == f.start)
		return 0;
	return symtab_builder_add(b, t->text + f.start, f.end - f.start, 0, base + (uint32_t)f.name,
				  0);
}

static int
add_functions(struct gopclntab *t, struct elf_object *o, struct symtab_builder *b)
{
	uint32_t base;
	int error;

	if (!read_layout(t))
		return 0;
	if (t->from_text && t->text == 0)
		t->text = find_text(t, o);
	if ((t->from_text && t->text == 0) || !meets_code(t, o))
		return 0;
	error = symtab_builder_strings(b, t->all.p + t->names, t->names_end - t->names, &base);
	for (uint64_t i = 0; i < t->functions_nr && !error; i++)
		error = add_function(t, i, base, b);
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
		if (!error && elf_share_take(o, bytes.len))
			error = add_functions(&t, o, b);
		free(bytes.p);
	}
	return error == -FMT_E_NOMEM ? error : 0;
}

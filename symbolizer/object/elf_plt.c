/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_plt: names for the linkage stubs, which have no symbols.
 *
 * A stub of any PLT section jumps through a slot of the GOT, and a relocation says whose
 * slot it is. Reading the jump serves .plt, .plt.sec and .plt.got alike, whatever order and
 * entry size the linker chose; x86-64 only, until there is another machine to test on.
 */
#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "symbolizer/object/elf_internal.h"

#define STUB_BYTES 16
#define STUB_BYTES_SHORT 8 /* .plt.got without IBT */
#define STUB_NAME_MAX 1024
#define RELOCATIONS_MAX (1u << 20)
#define NAMES_MAX (16u << 20) /* bytes of all names made; a browser has one */

struct slot {
	uint64_t address; /* of the GOT slot */
	uint64_t target;  /* resolver, when there is no symbol */
	size_t symbol;	  /* in .dynsym; 0: none */
};

struct plt {
	struct elf_object *o;
	const struct symtab *names;
	struct symtab_builder *b;
	Elf_Data *dynsym, *dynstr;
	struct slot *slots; /* sorted by address */
	size_t nr_slots, cap_slots;
	struct slot *jumps; /* those of .rela.plt, in its order: lazy stubs push an index */
	size_t nr_jumps;
	size_t made; /* bytes of names */
};

static int
compare_slots(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static int
add_slot(struct plt *p, const GElf_Rela *rela)
{
	uint64_t type = GELF_R_TYPE(rela->r_info);
	struct slot *s;

	if (array_reserve(p->slots, p->nr_slots, p->cap_slots, 1) < 0)
		return -FMT_E_NOMEM;
	s = &p->slots[p->nr_slots++];
	s->address = rela->r_offset;
	s->target = type == R_X86_64_IRELATIVE ? (uint64_t)rela->r_addend : 0;
	s->symbol = type == R_X86_64_IRELATIVE ? 0 : GELF_R_SYM(rela->r_info);
	return 0;
}

static int
read_relocations(struct plt *p, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *d = elf_section_data(p->o, scn, shdr, true);
	size_t nr = d ? d->d_size / gelf_fsize(p->o->elf, ELF_T_RELA, 1, EV_CURRENT) : 0;
	bool of_plt = strcmp(elf_section_name(p->o, shdr), ".rela.plt") == 0;
	size_t first = p->nr_slots;
	int error = 0;

	for (size_t i = 0; i < nr && p->nr_slots < RELOCATIONS_MAX && !error; i++) {
		GElf_Rela rela;
		uint64_t type;

		if (gelf_getrela(d, (int)i, &rela) == NULL)
			break;
		type = GELF_R_TYPE(rela.r_info);
		if (of_plt || type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT ||
		    type == R_X86_64_IRELATIVE)
			error = add_slot(p, &rela);
	}
	if (error || !of_plt || p->jumps != NULL || p->nr_slots == first)
		return error;
	p->nr_jumps = p->nr_slots - first;
	p->jumps = calloc(p->nr_jumps, sizeof(*p->jumps));
	if (p->jumps == NULL)
		return -FMT_E_NOMEM;
	memcpy(p->jumps, p->slots + first, p->nr_jumps * sizeof(*p->jumps));
	return 0;
}

/* The name of a slot's function into out; false: none. */
static bool
slot_name(const struct plt *p, const struct slot *s, char *out, size_t cap)
{
	const char *name = NULL;
	struct symbol symbol;
	GElf_Sym sym;
	size_t len;

	if (s->symbol != 0 && p->dynsym != NULL && s->symbol <= INT32_MAX &&
	    gelf_getsym(p->dynsym, (int)s->symbol, &sym) != NULL &&
	    sym.st_name < p->dynstr->d_size &&
	    memchr((const char *)p->dynstr->d_buf + sym.st_name, 0,
		   p->dynstr->d_size - sym.st_name) != NULL)
		name = (const char *)p->dynstr->d_buf + sym.st_name;
	else if (s->target != 0 && p->names != NULL && symtab_find(p->names, s->target, &symbol) &&
		 symbol.start == s->target)
		name = symbol.name;
	len = name ? symbol_name_length(name) : 0;
	if (len == 0 || len + sizeof("@plt") > cap)
		return false;
	memcpy(out, name, len);
	memcpy(out + len, "@plt", sizeof("@plt"));
	return true;
}

/*
 * The slot that a stub goes through: "jmp *disp(%rip)", or in a lazy stub of an IBT
 * program, which jumps to the start of the section, "push index".
 */
static const struct slot *
stub_slot(const struct plt *p, const uint8_t *code, size_t len, uint64_t address)
{
	size_t at = 0;

	if (len >= 4 && memcmp(code, "\xf3\x0f\x1e\xfa", 4) == 0) /* endbr64 */
		at = 4;
	if (at < len && code[at] == 0xf2) /* bnd */
		at++;
	if (len - at >= 6 && code[at] == 0xff && code[at + 1] == 0x25) {
		struct slot key = { .address = address + at + 6 +
					    (uint64_t)(int64_t)(int32_t)le32dec(code + at + 2) };

		return p->nr_slots
			? bsearch(&key, p->slots, p->nr_slots, sizeof(key), compare_slots)
			: NULL;
	}
	if (len - at >= 5 && code[at] == 0x68 && le32dec(code + at + 1) < p->nr_jumps)
		return &p->jumps[le32dec(code + at + 1)];
	return NULL;
}

static int
read_stubs(struct plt *p, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *d = elf_section_data(p->o, scn, shdr, false);
	/* A hint and no more: anything else than these two is a lie or another machine. */
	size_t each = shdr->sh_entsize == STUB_BYTES_SHORT ? STUB_BYTES_SHORT : STUB_BYTES;
	char name[STUB_NAME_MAX];

	for (size_t at = 0; d != NULL && at + each <= d->d_size; at += each) {
		const struct slot *s =
			stub_slot(p, (const uint8_t *)d->d_buf + at, each, shdr->sh_addr + at);
		uint32_t base;
		int error;

		if (s == NULL || !slot_name(p, s, name, sizeof(name)))
			continue;
		p->made += strlen(name);
		if (p->made > NAMES_MAX)
			return 0;
		error = symtab_builder_strings(p->b, name, strlen(name), &base);
		if (!error)
			error = symtab_builder_add(p->b, shdr->sh_addr + at, each, 0, base,
						   SYMBOL_GLOBAL);
		if (error)
			return error;
	}
	return 0;
}

static bool
plt_section(const char *name)
{
	return strcmp(name, ".plt") == 0 || strcmp(name, ".plt.sec") == 0 ||
		strcmp(name, ".plt.got") == 0;
}

/* Visits every section with f until one fails. */
static int
each_section(struct plt *p, int (*f)(struct plt *, Elf_Scn *, const GElf_Shdr *))
{
	Elf_Scn *scn;
	GElf_Shdr shdr;
	int error = 0;

	for (size_t i = 1; i < p->o->nr_sections && !error; i++)
		if (elf_section(p->o, i, &scn, &shdr))
			error = f(p, scn, &shdr);
	return error;
}

static int
visit_tables(struct plt *p, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Scn *strings;
	GElf_Shdr strings_shdr;

	if (shdr->sh_type == SHT_RELA && (shdr->sh_flags & SHF_ALLOC))
		return read_relocations(p, scn, shdr);
	if (shdr->sh_type != SHT_DYNSYM || p->dynsym != NULL)
		return 0;
	if (!elf_section(p->o, shdr->sh_link, &strings, &strings_shdr) ||
	    strings_shdr.sh_type != SHT_STRTAB)
		return 0;
	p->dynstr = elf_section_data(p->o, strings, &strings_shdr, false);
	if (p->dynstr != NULL)
		p->dynsym = elf_section_data(p->o, scn, shdr, true);
	return 0;
}

static int
visit_stubs(struct plt *p, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	if (shdr->sh_type == SHT_PROGBITS && plt_section(elf_section_name(p->o, shdr)))
		return read_stubs(p, scn, shdr);
	return 0;
}

int
elf_object_plt(struct elf_object *o, const struct symtab *names, struct symtab_builder *b)
{
	struct plt p = { .o = o, .names = names, .b = b };
	int error;

	if (o->machine != EM_X86_64)
		return 0;
	error = each_section(&p, visit_tables);
	if (!error && p.nr_slots != 0) {
		qsort(p.slots, p.nr_slots, sizeof(*p.slots), compare_slots);
		error = each_section(&p, visit_stubs);
	}
	free(p.slots);
	free(p.jumps);
	return error == -FMT_E_NOMEM ? error : 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_plt: names for the linkage stubs, which have no symbols.
 *
 * A stub of any PLT section goes through a slot of the GOT, and a relocation says whose slot it is. A linker's
 * stub may have any instructions: one of them has the slot's address, and that alone is looked for. Lazy stubs
 * without it push the number of the relocation.
 */
#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "symbolizer/object/elf_bytes.h"
#include "symbolizer/object/elf_internal.h"

#define STUB_BYTES 16
#define STUB_BYTES_SHORT 8 /* .plt.got without IBT */
#define STUB_BYTES_MAX 32  /* with retpolines */
#define STUB_NAME_MAX 1024
#define RELOCATIONS_MAX (1u << 20)
#define NAMES_MAX (16u << 20) /* bytes of all names made; a browser has one */
#define VALUES_MAX 256	      /* slots whose bytes are read; glibc has less than a hundred */

struct slot {
	uint64_t address; /* of the GOT slot */
	uint64_t target;  /* resolver, when there is no symbol */
	size_t symbol;	  /* in .dynsym; 0: none */
};

struct plt {
	struct elf_object *o;
	const struct plt_machine *machine;
	const struct symtab *names;
	struct symtab_builder *b;
	Elf_Data *dynsym, *dynstr;
	struct slot *slots; /* sorted by address */
	size_t nr_slots, cap_slots;
	struct slot *jumps; /* those of .rela.plt, in its order */
	size_t nr_jumps;
	uint64_t got;	  /* what code of i386 has addresses relative to; 0: not known */
	bool got_is_told; /* by the dynamic section */
	uint64_t section; /* .got, which mold's are relative to */
	size_t values;	  /* slots whose bytes were read */
	size_t seen;	  /* places with a slot */
	size_t made;	  /* bytes of names */
};

/* A section with stubs. */
struct stubs {
	const uint8_t *code;
	size_t size;
	uint64_t address;
};

struct plt_machine {
	uint16_t machine;			 /* EM_* */
	uint32_t glob_dat, jump_slot, irelative; /* R_* */
	size_t instruction;			 /* its alignment */
	size_t pushed; /* how much a stub pushes for each relocation; 0: none does */
	/* The slot whose address is in what is at an offset, where 4 bytes are left. NULL: none. */
	const struct slot *(*slot)(const struct plt *p, const struct stubs *s, size_t at);
};

static int
compare_slots(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static const struct slot *
slot_at(const struct plt *p, uint64_t address)
{
	const struct slot key = { .address = address };

	return bsearch(&key, p->slots, p->nr_slots, sizeof(key), compare_slots);
}

/* --- machines ---------------------------------------------------------------------------- */

/* Relative to the end of the instruction, as "jmp *disp(%rip)" and "mov disp(%rip),%r11". */
static const struct slot *
x86_64_slot(const struct plt *p, const struct stubs *s, size_t at)
{
	const int32_t distance = (int32_t)le32dec(s->code + at);

	return slot_at(p, s->address + at + 4 + (uint64_t)(int64_t)distance);
}

/* "jmp *address", or in code that may lie anywhere "jmp *distance(%ebx)". */
static const struct slot *
i386_slot(const struct plt *p, const struct stubs *s, size_t at)
{
	const uint32_t value = le32dec(s->code + at);
	const bool by_ebx = at > 0 && (s->code[at - 1] & 0xc7) == 0x83;

	return by_ebx && p->got ? slot_at(p, (uint32_t)(p->got + value)) : slot_at(p, value);
}

/* "adrp x16, page" and, the next or the one after, "ldr x17, [x16, #offset]". */
static const struct slot *
aarch64_slot(const struct plt *p, const struct stubs *s, size_t at)
{
	const uint32_t adrp = le32dec(s->code + at);
	const uint64_t pages = (uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
	uint64_t page = (s->address + at) & ~UINT64_C(0xfff);

	if ((adrp & 0x9f000000) != 0x90000000)
		return NULL;
	page += (pages ^ 0x100000) * 4096 - UINT64_C(0x100000) * 4096; /* 21 bits with a sign */
	for (size_t i = at + 4; i <= at + 8 && i + 4 <= s->size; i += 4) {
		const uint32_t ldr = le32dec(s->code + i);
		const bool wide = (ldr & 0xffc00000) == 0xf9400000;

		if ((wide || (ldr & 0xffc00000) == 0xb9400000) && (ldr >> 5 & 31) == (adrp & 31))
			return slot_at(p, page + (uint64_t)(ldr >> 10 & 0xfff) * (wide ? 8 : 4));
	}
	return NULL;
}

static const struct plt_machine machines[] = {
	{ EM_X86_64, R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT, R_X86_64_IRELATIVE, 1, 1, x86_64_slot },
	{ EM_386, R_386_GLOB_DAT, R_386_JMP_SLOT, R_386_IRELATIVE, 1, sizeof(Elf32_Rel),
	  i386_slot },
	{ EM_AARCH64, R_AARCH64_GLOB_DAT, R_AARCH64_JUMP_SLOT, R_AARCH64_IRELATIVE, 4, 0,
	  aarch64_slot },
};

/* --- relocations ------------------------------------------------------------------------- */

/* What a relocation without an addend adds to: the slot's bytes. 0: none. */
static int
slot_value(const struct plt *p, uint64_t address, uint64_t *ret)
{
	struct elf_bytes b = { .p = NULL };
	int error = elf_bytes_at(p->o, address, sizeof(uint32_t), &b);

	*ret = !error && b.len == sizeof(uint32_t) ? le32dec(b.p) : 0;
	free(b.p);
	return error == -FMT_E_NOMEM ? error : 0;
}

/* *ret has the addend that it has itself. */
static bool
relocation(Elf_Data *d, bool is_rela, int i, GElf_Rela *ret)
{
	GElf_Rel rel;

	if (is_rela)
		return gelf_getrela(d, i, ret) != NULL;
	if (gelf_getrel(d, i, &rel) == NULL)
		return false;
	*ret = (GElf_Rela){ .r_offset = rel.r_offset, .r_info = rel.r_info };
	return true;
}

static int
add_slot(struct plt *p, const GElf_Rela *rela, bool is_rela)
{
	const bool resolved = GELF_R_TYPE(rela->r_info) == p->machine->irelative;
	struct slot *s;

	if (array_reserve(p->slots, p->nr_slots, p->cap_slots, 1) < 0)
		return -FMT_E_NOMEM;
	s = &p->slots[p->nr_slots++];
	s->address = rela->r_offset;
	s->target = resolved ? (uint64_t)rela->r_addend : 0;
	s->symbol = resolved ? 0 : GELF_R_SYM(rela->r_info);
	/* Each looks through all sections. */
	return resolved && !is_rela && p->values++ < VALUES_MAX
		? slot_value(p, s->address, &s->target)
		: 0;
}

static int
keep_jumps(struct plt *p, size_t first)
{
	p->nr_jumps = p->nr_slots - first;
	p->jumps = calloc(p->nr_jumps, sizeof(*p->jumps));
	if (p->jumps == NULL)
		return -FMT_E_NOMEM;
	memcpy(p->jumps, p->slots + first, p->nr_jumps * sizeof(*p->jumps));
	return 0;
}

static int
read_relocations(struct plt *p, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	const struct plt_machine *m = p->machine;
	const bool is_rela = shdr->sh_type == SHT_RELA;
	const char *name = elf_section_name(p->o, shdr);
	const bool of_plt = strcmp(name, is_rela ? ".rela.plt" : ".rel.plt") == 0;
	Elf_Data *d = elf_section_data(p->o, scn, shdr, true);
	size_t nr = d
		? d->d_size / gelf_fsize(p->o->elf, is_rela ? ELF_T_RELA : ELF_T_REL, 1, EV_CURRENT)
		: 0;
	size_t first = p->nr_slots;
	int error = 0;

	for (size_t i = 0; i < nr && p->nr_slots < RELOCATIONS_MAX && !error; i++) {
		GElf_Rela rela;
		uint64_t type;

		if (!relocation(d, is_rela, (int)i, &rela))
			break;
		type = GELF_R_TYPE(rela.r_info);
		if (of_plt || type == m->glob_dat || type == m->jump_slot || type == m->irelative)
			error = add_slot(p, &rela, is_rela);
	}
	if (error || !of_plt || p->jumps != NULL || p->nr_slots == first)
		return error;
	return keep_jumps(p, first);
}

/* The dynamic section tells; without one it is a section by its name. */
static void
find_got(struct plt *p, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	const char *name = elf_section_name(p->o, shdr);
	Elf_Data *d;
	GElf_Dyn dyn;

	if (shdr->sh_type == SHT_DYNAMIC) {
		d = elf_section_data(p->o, scn, shdr, true);
		for (int i = 0; d && !p->got_is_told && gelf_getdyn(d, i, &dyn) != NULL; i++) {
			p->got_is_told = dyn.d_tag == DT_PLTGOT;
			if (p->got_is_told)
				p->got = dyn.d_un.d_ptr;
		}
	} else if (strcmp(name, ".got.plt") == 0 && !p->got_is_told) {
		p->got = shdr->sh_addr;
	} else if (strcmp(name, ".got") == 0) {
		p->section = shdr->sh_addr;
	}
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

/* --- stubs ------------------------------------------------------------------------------- */

/* A stub that pushes its relocation's number, and jumps to the section's start. */
static const struct slot *
pushed_slot(const struct plt *p, const struct stubs *s, size_t at)
{
	const uint8_t *code = s->code + at;
	uint32_t number;

	if (p->machine->pushed == 0 || at % STUB_BYTES != 0 || s->size - at < STUB_BYTES)
		return NULL;
	if (memcmp(code, "\xf3\x0f\x1e", 3) == 0) /* endbr64, endbr32 */
		code += 4;
	if (code[0] != 0x68)
		return NULL;
	number = le32dec(code + 1);
	if (number % p->machine->pushed != 0 || number / p->machine->pushed >= p->nr_jumps)
		return NULL;
	return &p->jumps[number / p->machine->pushed];
}

/* The next place from *at on that has a slot; NULL: the end. */
static const struct slot *
next_slot(const struct plt *p, const struct stubs *s, size_t *at)
{
	for (; s->size >= 4 && *at <= s->size - 4; *at += p->machine->instruction) {
		const struct slot *slot = pushed_slot(p, s, *at);

		if (slot == NULL)
			slot = p->machine->slot(p, s, *at);
		if (slot != NULL)
			return slot;
	}
	return NULL;
}

/* From one that has a slot to where the next one may be. */
static size_t
behind(const struct plt *p, size_t at)
{
	return p->machine->instruction == 1 ? (at / STUB_BYTES_SHORT + 1) * STUB_BYTES_SHORT
					    : at + p->machine->instruction;
}

/* Bytes of each stub: the least distance of two; sh_entsize is of the section's first entry, or missing. */
static size_t
stub_bytes(const struct plt *p, const struct stubs *s)
{
	size_t each = STUB_BYTES_MAX + 1, before = SIZE_MAX;

	for (size_t at = 0; next_slot(p, s, &at) != NULL; at = behind(p, at)) {
		if (before != SIZE_MAX && at - before < each)
			each = at - before;
		before = at;
	}
	if (each > STUB_BYTES_MAX)
		each = s->size < STUB_BYTES ? STUB_BYTES_SHORT : STUB_BYTES;
	return each < STUB_BYTES_SHORT ? STUB_BYTES_SHORT : each;
}

/* Where the stub begins that has its slot at an offset. */
static size_t
stub_start(const struct plt *p, const struct stubs *s, size_t at, size_t each)
{
	const size_t align = each < STUB_BYTES ? STUB_BYTES_SHORT : STUB_BYTES;

	if (p->machine->instruction == 1)
		return at / align * align;
	return at >= 4 && le32dec(s->code + at - 4) == 0xd503245f /* bti c */ ? at - 4 : at;
}

static int
add_stub(struct plt *p, uint64_t address, size_t size, const struct slot *slot)
{
	char name[STUB_NAME_MAX];
	uint32_t base;
	int error;

	if (!slot_name(p, slot, name, sizeof(name)))
		return 0;
	p->made += strlen(name);
	if (p->made > NAMES_MAX)
		return 0;
	error = symtab_builder_strings(p->b, name, strlen(name), &base);
	return error ? error : symtab_builder_add(p->b, address, size, 0, base, SYMBOL_GLOBAL);
}

static int
read_stubs(struct plt *p, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *d = elf_section_data(p->o, scn, shdr, false);
	const struct slot *slot;
	struct stubs s;
	size_t each;
	int error = 0;

	if (d == NULL || d->d_buf == NULL)
		return 0;
	s = (struct stubs){ d->d_buf, d->d_size, shdr->sh_addr };
	each = stub_bytes(p, &s);
	for (size_t at = 0;
	     !error && p->made <= NAMES_MAX && (slot = next_slot(p, &s, &at)) != NULL;
	     at = behind(p, at)) {
		const size_t start = stub_start(p, &s, at, each);

		error = add_stub(p, s.address + start,
				 each < s.size - start ? each : s.size - start, slot);
	}
	return error;
}

bool
elf_plt_section(const char *name)
{
	return strcmp(name, ".plt") == 0 || strncmp(name, ".plt.", 5) == 0 ||
		strcmp(name, ".iplt") == 0;
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

	if ((shdr->sh_type == SHT_RELA || shdr->sh_type == SHT_REL) && (shdr->sh_flags & SHF_ALLOC))
		return read_relocations(p, scn, shdr);
	find_got(p, scn, shdr);
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
count_stubs(struct plt *p, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *d = NULL;

	if (shdr->sh_type == SHT_PROGBITS && elf_plt_section(elf_section_name(p->o, shdr)))
		d = elf_section_data(p->o, scn, shdr, false);
	if (d == NULL || d->d_buf == NULL)
		return 0;
	const struct stubs s = { d->d_buf, d->d_size, shdr->sh_addr };

	for (size_t at = 0; next_slot(p, &s, &at) != NULL; at = behind(p, at))
		p->seen++;
	return 0;
}

/* No section or symbol has to tell what they are relative to: with anything else some lead to no slot. */
static void
choose_got(struct plt *p)
{
	const uint64_t told = p->got;
	size_t seen;

	if (p->section == 0 || p->section == told)
		return;
	(void)each_section(p, count_stubs);
	seen = p->seen;
	p->seen = 0;
	p->got = p->section;
	(void)each_section(p, count_stubs);
	if (p->seen <= seen)
		p->got = told;
}

static int
visit_stubs(struct plt *p, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	if (shdr->sh_type == SHT_PROGBITS && elf_plt_section(elf_section_name(p->o, shdr)))
		return read_stubs(p, scn, shdr);
	return 0;
}

int
elf_object_plt(struct elf_object *o, const struct symtab *names, struct symtab_builder *b)
{
	struct plt p = { .o = o, .names = names, .b = b };
	int error;

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].machine == o->machine)
			p.machine = &machines[i];
	if (p.machine == NULL)
		return 0;
	error = each_section(&p, visit_tables);
	if (!error && p.nr_slots != 0) {
		qsort(p.slots, p.nr_slots, sizeof(*p.slots), compare_slots);
		if (o->machine == EM_386)
			choose_got(&p);
		error = each_section(&p, visit_stubs);
	}
	free(p.slots);
	free(p.jumps);
	return error == -FMT_E_NOMEM ? error : 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* elf_symbols: which entries of .symtab and .dynsym name code, and which name data. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/object/elf_dynamic.h"
#include "symbolizer/object/elf_internal.h"

#define NAME_PLACES_MAX 16

/* What a symbol needs to know of the section that it is in. */
struct home {
	uint64_t start, end;
	bool alloc, exec;
};

struct homes {
	struct home *v;
	size_t nr;
	bool segments; /* v[i + 1] is segment i: there are no section headers */
};

/* False: out of memory. */
static bool
read_homes(const struct elf_object *o, struct homes *ret)
{
	const bool segments = o->nr_sections == 0;
	struct homes h = { .segments = segments,
			   .nr = segments ? o->nr_segments + 1 : o->nr_sections };

	h.v = calloc(h.nr, sizeof(*h.v));
	if (h.v == NULL)
		return false;
	for (size_t i = 1; i < h.nr && segments; i++) {
		const struct elf_segment *s = &o->segments[i - 1];

		if (s->memsz <= UINT64_MAX - s->vaddr)
			h.v[i] = (struct home){ s->vaddr, s->vaddr + s->memsz, true, s->exec };
	}
	for (size_t i = 1; i < h.nr && !segments; i++) {
		Elf_Scn *scn;
		GElf_Shdr shdr;

		if (!elf_section(o, i, &scn, &shdr) || shdr.sh_size > UINT64_MAX - shdr.sh_addr)
			continue;
		h.v[i] = (struct home){ shdr.sh_addr, shdr.sh_addr + shdr.sh_size,
					shdr.sh_flags & SHF_ALLOC, shdr.sh_flags & SHF_EXECINSTR };
	}
	*ret = h;
	return true;
}

struct load {
	struct elf_object *o;
	struct homes homes;
	struct home *
		code; /* of the homes, by address; of segments those of the kind; made when wanted */
	size_t nr_code;
	uint64_t bias;
	bool data; /* variables are wanted, not functions */
	struct symtab_builder *b;
};

static int
compare_homes(const void *a, const void *b)
{
	const struct home *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/*
 * The section of code around an address. Sections of code do not lie over each other: only the last
 * one that begins before the address is looked at.
 */
static const struct home *
code_around(struct load *l, uint64_t address)
{
	const struct home *homes = l->homes.v;
	const bool code = !(l->homes.segments && l->data);
	size_t low = 0, high;

	if (l->code == NULL) {
		l->code = calloc(l->homes.nr, sizeof(*l->code));
		for (size_t i = 1; i < l->homes.nr && l->code != NULL; i++)
			if (homes[i].exec == code && homes[i].end > homes[i].start)
				l->code[l->nr_code++] = homes[i];
		if (l->nr_code != 0)
			qsort(l->code, l->nr_code, sizeof(*l->code), compare_homes);
	}
	for (high = l->nr_code; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (l->code[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && address < l->code[low - 1].end ? &l->code[low - 1] : NULL;
}

/*
 * The section of a symbol, NULL when its value is not in it. Numbers over 0xff00 stand in a
 * table of their own; so many sections are rare enough to look by address instead.
 */
static const struct home *
home_of(struct load *l, const GElf_Sym *sym)
{
	const struct home *homes = l->homes.v;

	if (sym->st_shndx == SHN_XINDEX ||
	    (l->homes.segments && sym->st_shndx != SHN_UNDEF && sym->st_shndx < SHN_LORESERVE))
		return code_around(l, sym->st_value);
	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx >= SHN_LORESERVE ||
	    sym->st_shndx >= l->homes.nr)
		return NULL;
	homes += sym->st_shndx;
	if (!homes->alloc || sym->st_value < homes->start || sym->st_value >= homes->end)
		return NULL;
	return homes;
}

/* Labels that assemblers make: ".L5", and the "$x", "$a.3" that mark data among ARM code. */
static bool
made_by_assembler(const char *name)
{
	if (name[0] == '.')
		return name[1] == 'L';
	return name[0] == '$' && name[1] != '\0' && strchr("adtx", name[1]) != NULL &&
		(name[2] == '\0' || name[2] == '.');
}

static bool
names_code(const GElf_Sym *sym, const struct home *home, const char *name)
{
	unsigned visibility = GELF_ST_VISIBILITY(sym->st_other);

	if (*name == '\0')
		return false;
	switch (GELF_ST_TYPE(sym->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return true;
	case STT_NOTYPE:
		return home->exec && visibility != STV_HIDDEN && visibility != STV_INTERNAL &&
			!made_by_assembler(name);
	default:
		return false;
	}
}

static bool
names_data(const GElf_Sym *sym, const struct home *home, const char *name)
{
	return *name != '\0' && GELF_ST_TYPE(sym->st_info) == STT_OBJECT && !home->exec;
}

static uint32_t
flags_of(const GElf_Sym *sym)
{
	uint32_t flags = 0;

	if (GELF_ST_BIND(sym->st_info) == STB_WEAK)
		flags |= SYMBOL_WEAK;
	if (GELF_ST_BIND(sym->st_info) == STB_GLOBAL)
		flags |= SYMBOL_GLOBAL;
	if (GELF_ST_TYPE(sym->st_info) == STT_GNU_IFUNC)
		flags |= SYMBOL_IFUNC;
	if (GELF_ST_TYPE(sym->st_info) == STT_NOTYPE)
		flags |= SYMBOL_LABEL;
	return flags;
}

static int
add_symbol(struct load *l, const GElf_Sym *sym, struct span strings, uint32_t base)
{
	const struct home *home = home_of(l, sym);
	uint64_t value = sym->st_value, size = sym->st_size;
	const char *name;

	if (home == NULL || sym->st_name >= strings.len)
		return 0;
	/* The byte after the last of the strings may be no NUL: names_code() reads three. */
	if (strings.len - sym->st_name < 4 &&
	    memchr((const char *)strings.p + sym->st_name, 0, strings.len - sym->st_name) == NULL)
		return 0;
	name = (const char *)strings.p + sym->st_name;
	if (!(l->data ? names_data : names_code)(sym, home, name))
		return 0;
	if (l->o->machine == EM_ARM && GELF_ST_TYPE(sym->st_info) == STT_FUNC)
		value &= ~(uint64_t)1; /* Thumb */
	return symtab_builder_add(l->b, value + l->bias, size, home->end + l->bias,
				  base + sym->st_name, flags_of(sym));
}

/* The strings of a symbol table; NULL: it has none. */
static Elf_Data *
strings_of(struct elf_object *o, const GElf_Shdr *shdr)
{
	Elf_Scn *scn;
	GElf_Shdr strings;

	if (!elf_section(o, shdr->sh_link, &scn, &strings) || strings.sh_type != SHT_STRTAB)
		return NULL;
	return elf_section_data(o, scn, &strings, false);
}

static int
add_table(struct load *l, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *symbols = elf_section_data(l->o, scn, shdr, true);
	Elf_Data *strings = symbols ? strings_of(l->o, shdr) : NULL;
	uint32_t base;
	size_t nr;
	int error;

	if (strings == NULL)
		return errno == ENOMEM ? -FMT_E_NOMEM : 0;
	error = symtab_builder_strings(l->b, strings->d_buf, strings->d_size, &base);
	if (error)
		return error == -FMT_E_NOMEM ? error : 0;
	nr = symbols->d_size / gelf_fsize(l->o->elf, ELF_T_SYM, 1, EV_CURRENT);
	/* Entry 0 is nobody's. */
	for (size_t i = 1; i < nr && i <= INT32_MAX && !error; i++) {
		GElf_Sym sym;

		if (gelf_getsym(symbols, (int)i, &sym) == NULL)
			break;
		error = add_symbol(l, &sym, span_of(strings->d_buf, strings->d_size), base);
	}
	return error == -FMT_E_NOMEM ? error : 0;
}

/* Without section headers. */
static int
add_dynamic(struct load *l)
{
	struct elf_dynamic d;
	uint32_t base;
	int error = elf_dynamic_read(l->o, &d);

	if (error)
		return error == -FMT_E_NOMEM ? error : 0;
	error = symtab_builder_strings(l->b, d.strings.p, d.strings.len, &base);
	for (size_t i = 1; i < d.nr && i <= INT32_MAX && !error; i++) {
		GElf_Sym sym;

		elf_dynamic_symbol(&d, i, &sym);
		error = add_symbol(l, &sym, span_of(d.strings.p, d.strings.len), base);
	}
	elf_dynamic_done(&d);
	return error == -FMT_E_NOMEM ? error : 0;
}

static int
add_tables(struct elf_object *o, uint64_t bias, bool data, struct symtab_builder *b)
{
	struct load l = { .o = o, .bias = bias, .data = data, .b = b };
	static const uint32_t order[] = { SHT_SYMTAB, SHT_DYNSYM };
	int error = 0;

	if (!read_homes(o, &l.homes))
		return -FMT_E_NOMEM;
	if (l.homes.segments)
		error = add_dynamic(&l);
	errno = 0; /* libelf has no public number for memory that cannot be had */
	for (size_t k = 0; k < sizeof(order) / sizeof(order[0]) && !error; k++) {
		for (size_t i = 1; i < o->nr_sections; i++) {
			Elf_Scn *scn;
			GElf_Shdr shdr;

			if (!elf_section(o, i, &scn, &shdr) || shdr.sh_type != order[k])
				continue;
			/* One of each kind: more is not ELF, and each may be a gigabyte. */
			error = add_table(&l, scn, &shdr);
			break;
		}
	}
	free(l.code);
	free(l.homes.v);
	return error;
}

int
elf_object_symbols(struct elf_object *o, uint64_t bias, struct symtab_builder *b)
{
	return add_tables(o, bias, false, b);
}

int
elf_object_data_symbols(struct elf_object *o, uint64_t bias, struct symtab_builder *b)
{
	return add_tables(o, bias, true, b);
}

uint64_t
elf_object_address(struct elf_object *o, const char *name)
{
	size_t len = strlen(name) + 1;

	for (size_t i = 1; i < o->nr_sections; i++) {
		Elf_Data *symbols, *strings;
		GElf_Shdr shdr;
		Elf_Scn *scn;
		GElf_Sym sym;

		if (!elf_section(o, i, &scn, &shdr) || shdr.sh_type != SHT_SYMTAB)
			continue;
		symbols = elf_section_data(o, scn, &shdr, true);
		strings = symbols ? strings_of(o, &shdr) : NULL;
		for (int n = 1; strings && gelf_getsym(symbols, n, &sym) != NULL; n++)
			if (sym.st_name < strings->d_size && strings->d_size - sym.st_name >= len &&
			    memcmp((const char *)strings->d_buf + sym.st_name, name, len) == 0)
				return sym.st_value;
		break; /* there is one of them */
	}
	return 0;
}

/* types: a bit for each STT_* */
static void
consider_named(const GElf_Sym *sym, unsigned types, struct elf_function *f)
{
	unsigned type = GELF_ST_TYPE(sym->st_info), bind = GELF_ST_BIND(sym->st_info);
	unsigned rank = bind == STB_GLOBAL ? 2 : bind == STB_WEAK ? 1 : 0;

	if (!(types >> type & 1) || sym->st_shndx == SHN_UNDEF ||
	    (f->nr && (rank < f->rank || (rank == f->rank && sym->st_value == f->vaddr))))
		return;
	f->nr = f->nr && rank == f->rank ? f->nr + 1 : 1;
	f->vaddr = sym->st_value;
	f->rank = rank;
	f->ifunc = type == STT_GNU_IFUNC;
}

static void
find_dynamic(struct elf_object *o, const char *name, unsigned types, struct elf_function *ret)
{
	const size_t len = strlen(name) + 1;
	struct elf_dynamic d;
	GElf_Sym sym;

	if (elf_dynamic_read(o, &d) < 0)
		return;
	for (size_t i = 1; i < d.nr; i++) {
		elf_dynamic_symbol(&d, i, &sym);
		if (sym.st_name < d.strings.len && d.strings.len - sym.st_name >= len &&
		    memcmp(d.strings.p + sym.st_name, name, len) == 0)
			consider_named(&sym, types, ret);
	}
	elf_dynamic_done(&d);
}

/* Where a table of strings has a name, with a version or not. */
struct name_places {
	size_t at[NAME_PLACES_MAX];
	size_t nr; /* more than there is room for: anywhere */
};

static struct name_places
places_of_name(const Elf_Data *strings, const char *name, size_t len)
{
	const char *const begin = strings->d_buf, *const end = begin + strings->d_size;
	struct name_places p = { .nr = 0 };

	for (const char *at = begin; (size_t)(end - at) > len && p.nr <= NAME_PLACES_MAX; at++) {
		at = memmem(at, (size_t)(end - at), name, len);
		if (!at || (size_t)(end - at) <= len)
			break;
		if (at[len] != '\0' && at[len] != '@')
			continue;
		if (p.nr < NAME_PLACES_MAX)
			p.at[p.nr] = (size_t)(at - begin);
		p.nr++;
	}
	return p;
}

static bool
has_name(const struct name_places *p, const Elf_Data *strings, size_t st_name, const char *name,
	 size_t len)
{
	const char *at;

	for (size_t i = 0; p->nr <= NAME_PLACES_MAX && i < p->nr; i++)
		if (p->at[i] == st_name)
			return true;
	if (p->nr <= NAME_PLACES_MAX || st_name >= strings->d_size ||
	    strings->d_size - st_name <= len)
		return false;
	at = (const char *)strings->d_buf + st_name;
	return memcmp(at, name, len) == 0 && (at[len] == '\0' || at[len] == '@');
}

/* Most names of symbols are not looked at: that would be a page or a line of a cache for each. */
static void
find_named(struct elf_object *o, const char *name, unsigned types, struct elf_function *ret)
{
	const size_t len = strlen(name);

	*ret = (struct elf_function){ 0 };
	if (o->nr_sections == 0)
		find_dynamic(o, name, types, ret);
	for (size_t i = 1; i < o->nr_sections; i++) {
		Elf_Data *symbols, *strings;
		struct name_places places;
		GElf_Shdr shdr;
		Elf_Scn *scn;
		GElf_Sym sym;

		if (!elf_section(o, i, &scn, &shdr) ||
		    (shdr.sh_type != SHT_SYMTAB && shdr.sh_type != SHT_DYNSYM))
			continue;
		symbols = elf_section_data(o, scn, &shdr, true);
		strings = symbols ? strings_of(o, &shdr) : NULL;
		if (!strings || !strings->d_buf)
			continue;
		places = places_of_name(strings, name, len);
		for (int n = 1; places.nr > 0 && gelf_getsym(symbols, n, &sym) != NULL; n++)
			if (has_name(&places, strings, sym.st_name, name, len))
				consider_named(&sym, types, ret);
	}
}

void
elf_object_function(struct elf_object *o, const char *name, struct elf_function *ret)
{
	find_named(o, name, 1u << STT_FUNC | 1u << STT_GNU_IFUNC, ret);
}

void
elf_object_symbol(struct elf_object *o, const char *name, struct elf_function *ret)
{
	find_named(o, name, 1u << STT_FUNC | 1u << STT_OBJECT, ret);
}

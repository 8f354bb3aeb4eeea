/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/elf_shift.h"

#include <stdlib.h>
#include <string.h>

#include "symbolizer/object/elf_internal.h"

#define NAME_MAX_COMPARED 64 /* a file may have many names, each of them long */

struct place {
	const char *name;
	uint64_t address, size;
	size_t index; /* of the section */
};

struct places {
	struct place *v;
	size_t nr;
};

static int
compare_names(const struct place *a, const struct place *b)
{
	return strncmp(a->name, b->name, NAME_MAX_COMPARED);
}

static int
compare_places(const void *x, const void *y)
{
	const struct place *a = x, *b = y;
	int c = compare_names(a, b);

	return c ? c : (a->index > b->index) - (a->index < b->index);
}

/* A file of symbols has lost the types of sections that it has no bytes of. */
static bool
is_of_kind(const GElf_Shdr *shdr, const char *name, bool code)
{
	static const char constants[] = ".rodata";

	if (!(shdr->sh_flags & SHF_ALLOC) || shdr->sh_size == 0 || *name == '\0' ||
	    (shdr->sh_type != SHT_PROGBITS && shdr->sh_type != SHT_NOBITS))
		return false;
	if (code || (shdr->sh_flags & SHF_EXECINSTR))
		return code && (shdr->sh_flags & SHF_EXECINSTR);
	if (shdr->sh_flags & SHF_TLS)
		return false;
	return (shdr->sh_flags & SHF_WRITE) || strncmp(name, constants, sizeof(constants) - 1) == 0;
}

/* Its sections of code, or variables, by name. False: out of memory. */
static bool
read_places(const struct elf_object *o, bool code, struct places *ret)
{
	*ret = (struct places){ .v = calloc(o->nr_sections + 1, sizeof(*ret->v)) };
	if (ret->v == NULL)
		return false;
	for (size_t i = 1; i < o->nr_sections; i++) {
		const char *name;
		GElf_Shdr shdr;
		Elf_Scn *scn;

		if (!elf_section(o, i, &scn, &shdr))
			continue;
		name = elf_section_name(o, &shdr);
		if (is_of_kind(&shdr, name, code))
			ret->v[ret->nr++] = (struct place){ name, shdr.sh_addr, shdr.sh_size, i };
	}
	if (ret->nr > 0)
		qsort(ret->v, ret->nr, sizeof(*ret->v), compare_places);
	return true;
}

/* True with *ret: by their first segments of the kind. */
static bool
by_segments(const struct elf_object *from, const struct elf_object *to, bool code, uint64_t *ret)
{
	size_t i = 0, j = 0;

	while (i < from->nr_segments && from->segments[i].exec != code)
		i++;
	while (j < to->nr_segments && to->segments[j].exec != code)
		j++;
	if (i == from->nr_segments || j == to->nr_segments)
		return false;
	*ret = to->segments[j].vaddr - from->segments[i].vaddr;
	return true;
}

/* Several of one name are compared in their order. */
static enum elf_shift
compare_sections(const struct places *from, const struct places *to, bool *ret_some, uint64_t *ret)
{
	*ret_some = false;
	for (size_t i = 0, j = 0; i < from->nr && j < to->nr;) {
		const struct place *a = &from->v[i], *b = &to->v[j];
		const int c = compare_names(a, b);

		i += c <= 0;
		j += c >= 0;
		if (c != 0)
			continue;
		if (a->size != b->size || (*ret_some && b->address - a->address != *ret))
			return ELF_SHIFT_UNEQUAL;
		*ret = b->address - a->address;
		*ret_some = true;
	}
	return ELF_SHIFT_KNOWN;
}

static enum elf_shift
shift_of(const struct elf_object *from, const struct elf_object *to, bool code, uint64_t *ret)
{
	struct places a = { 0 }, b = { 0 };
	enum elf_shift result = ELF_SHIFT_NOMEM;
	uint64_t shift = 0;
	bool some = false;

	if (read_places(from, code, &a) && read_places(to, code, &b))
		result = compare_sections(&a, &b, &some, &shift);
	free(a.v);
	free(b.v);
	if (result == ELF_SHIFT_KNOWN && !some && !by_segments(from, to, code, &shift))
		shift = 0;
	if (result == ELF_SHIFT_KNOWN)
		*ret = shift;
	return result;
}

enum elf_shift
elf_shift_code(const struct elf_object *from, const struct elf_object *to, uint64_t *ret)
{
	return shift_of(from, to, true, ret);
}

enum elf_shift
elf_shift_data(const struct elf_object *from, const struct elf_object *to, uint64_t *ret)
{
	return shift_of(from, to, false, ret);
}

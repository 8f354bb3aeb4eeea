/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/elf_usdt.h"

#include <string.h>

#include "symbolizer/object/elf_internal.h"

#define NOTES ".note.stapsdt"
#define BASE ".stapsdt.base"
#define OWNER "stapsdt"
#define TYPE 3

/* Where the section is now that tells a note's addresses how far prelink(8) moved them; 0: there is none. */
static uint64_t
base_now(const struct elf_object *o)
{
	GElf_Shdr shdr;
	Elf_Scn *scn;

	for (size_t i = 1; i < o->nr_sections; i++)
		if (elf_section(o, i, &scn, &shdr) && strcmp(elf_section_name(o, &shdr), BASE) == 0)
			return shdr.sh_addr;
	return 0;
}

/* What a note describes: three addresses, and three strings. */
static bool
parse_probe(struct span s, bool is64, uint64_t now, struct elf_usdt *ret)
{
	uint64_t base, moved;

	if (!span_u32_or_u64(&s, is64, &ret->vaddr) || !span_u32_or_u64(&s, is64, &base) ||
	    !span_u32_or_u64(&s, is64, &ret->semaphore_vaddr) || !span_string(&s, &ret->provider) ||
	    !span_string(&s, &ret->name))
		return false;
	/* The third, of the arguments, names what no sample has. */
	moved = now && base ? now - base : 0;
	ret->vaddr += moved;
	if (ret->semaphore_vaddr)
		ret->semaphore_vaddr += moved;
	return true;
}

/* False: no more of them are wanted. */
static bool
see_notes(struct span s, bool is64, uint64_t now, elf_usdt_see_fn *see, void *arg)
{
	struct elf_usdt probe;
	struct elf_note note;

	while (elf_note_next(&s, &note)) {
		if (note.type != TYPE || note.name.len != sizeof(OWNER) ||
		    memcmp(note.name.p, OWNER, sizeof(OWNER)) != 0)
			continue;
		if (parse_probe(note.desc, is64, now, &probe) && !see(arg, &probe))
			return false;
	}
	return true;
}

void
elf_usdt_each(struct elf_object *o, elf_usdt_see_fn *see, void *arg)
{
	const bool is64 = gelf_getclass(o->elf) == ELFCLASS64;
	const uint64_t now = base_now(o);
	bool more = true;
	GElf_Shdr shdr;
	Elf_Scn *scn;

	for (size_t i = 1; more && i < o->nr_sections; i++) {
		Elf_Data *d;

		if (!elf_section(o, i, &scn, &shdr) ||
		    strcmp(elf_section_name(o, &shdr), NOTES) != 0)
			continue;
		d = elf_section_data(o, scn, &shdr, false);
		if (d)
			more = see_notes(span_of(d->d_buf, d->d_size), is64, now, see, arg);
	}
}

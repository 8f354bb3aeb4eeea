/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/elf_cfi.h"

#include <stdlib.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/object/dwarf_pointer.h"
#include "symbolizer/object/elf_internal.h"
#include "symbolizer/object/elf_shift.h"

/* An FDE has 12 bytes at least, and a symbol, of which elf_share is meant, has 24. */
#define SHARE_OF_A_BYTE 2

/* --- where it is ------------------------------------------------------------------------- */

/* A file without section headers: .eh_frame_hdr says where .eh_frame begins. */
static int
find_by_header(struct elf_object *o, struct elf_bytes *ret)
{
	struct elf_bytes header;
	struct span s;
	uint64_t at, vaddr;
	uint8_t version, encoding;
	bool good;
	int err = elf_bytes_of_header(o, &header);

	if (err)
		return err;
	s = span_of(header.p, header.len);
	at = header.vaddr + 4; /* the encodings of what does not matter here are the other two */
	good = span_u8(&s, &version) && version == 1 && span_u8(&s, &encoding) &&
		span_skip(&s, 2) && dwarf_pointer(&s, encoding, at, header.vaddr, &vaddr);
	free(header.p);
	return good ? elf_bytes_from(o, vaddr, ret) : -FMT_E_CORRUPT;
}

int
elf_cfi_read(struct elf_object *o, struct elf_object *debug, bool is_eh,
	     struct elf_bytes *ret_bytes, struct cfi_section *ret)
{
	int err = elf_bytes_of_section(o, is_eh ? ".eh_frame" : ".debug_frame", ret_bytes);
	const bool by_header = is_eh && err == -FMT_E_EMPTY;
	uint64_t shift = 0;
	bool is64;

	if (by_header)
		err = find_by_header(o, ret_bytes);
	else if (err == -FMT_E_EMPTY && debug &&
		 elf_shift_code(debug, o, &shift) == ELF_SHIFT_KNOWN)
		err = elf_bytes_of_section(debug, ".debug_frame", ret_bytes);
	if (err)
		return err;
	(void)elf_object_code_machine(o, &is64);
	*ret = (struct cfi_section){ .bytes = span_of(ret_bytes->p, ret_bytes->len),
				     .vaddr = ret_bytes->vaddr,
				     .is_eh = is_eh,
				     .open = by_header,
				     .narrow = !is64,
				     .shift = shift };
	return 0;
}

static bool
segment_has(const struct elf_segment *s, uint64_t start, uint64_t length)
{
	return s->exec && start >= s->vaddr && start - s->vaddr < s->memsz &&
		length <= s->memsz - (start - s->vaddr);
}

bool
elf_cfi_is_code(struct elf_object *o, uint64_t start, uint64_t length)
{
	const struct elf_segment *s;
	size_t nr = elf_object_segments(o, &s);

	/* Most FDEs are of the segment that the one before is of. */
	if (nr > 0 && segment_has(&s[o->last_code], start, length))
		return true;
	for (size_t i = 0; i < nr; i++)
		if (segment_has(&s[i], start, length)) {
			o->last_code = i;
			return true;
		}
	return false;
}

/* --- functions --------------------------------------------------------------------------- */

#define STUBS_MAX 8 /* sections of stubs: linkers make four */

struct taking {
	struct elf_object *o;
	struct symtab_builder *b;
	uint32_t name;
	struct {
		uint64_t start, size;
	} stubs[STUBS_MAX];
	size_t nr_stubs;
};

static void
find_stubs(struct taking *t)
{
	for (size_t i = 1; i < t->o->nr_sections && t->nr_stubs < STUBS_MAX; i++) {
		GElf_Shdr shdr;
		Elf_Scn *scn;

		if (!elf_section(t->o, i, &scn, &shdr) ||
		    !elf_plt_section(elf_section_name(t->o, &shdr)))
			continue;
		t->stubs[t->nr_stubs].start = shdr.sh_addr;
		t->stubs[t->nr_stubs++].size = shdr.sh_size;
	}
}

static bool
is_stub(const struct taking *t, uint64_t start)
{
	for (size_t i = 0; i < t->nr_stubs; i++)
		if (start - t->stubs[i].start < t->stubs[i].size)
			return true;
	return false;
}

static int
take_function(void *arg, const struct cfi_entry *entry, const struct cfi_cie *cie,
	      const struct cfi_fde *f)
{
	const struct taking *t = arg;
	int err;

	(void)entry;
	if (cie->signal_frame || is_stub(t, f->start) ||
	    !elf_cfi_is_code(t->o, f->start, f->length))
		return 0;
	err = symtab_builder_add(t->b, f->start, f->length, 0, t->name, 0);
	return err == -FMT_E_NOMEM ? err : 0;
}

/* No more is read, or unpacked, than what is left of the file's share. */
static int
read_shared(struct elf_object *o, bool is_eh, struct elf_bytes *bytes, struct cfi_section *ret)
{
	const uint64_t before = o->bytes_max;
	const uint64_t max = o->share ? o->share->left / SHARE_OF_A_BYTE : before;
	int err;

	elf_bytes_limit(o, max < before ? max : before);
	err = elf_cfi_read(o, NULL, is_eh, bytes, ret);
	elf_bytes_limit(o, before);
	if (err == -FMT_E_TOO_BIG && max < before)
		o->share->refused = true;
	return err;
}

int
elf_cfi_functions(struct elf_object *o, struct symtab_builder *b)
{
	struct taking t = { .o = o, .b = b };
	int err = symtab_builder_strings(b, "", 0, &t.name);

	find_stubs(&t);
	for (int is_eh = 1; is_eh >= 0 && err == 0; is_eh--) {
		struct elf_bytes bytes = { .p = NULL };
		struct cfi_section section;

		err = read_shared(o, is_eh, &bytes, &section);
		if (err == 0 && elf_share_take(o, SHARE_OF_A_BYTE * bytes.len))
			err = cfi_entry_each(&section, take_function, &t);
		if (err != -FMT_E_NOMEM)
			err = 0;
		free(bytes.p);
	}
	return err;
}

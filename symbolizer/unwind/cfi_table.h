/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cfi_table: where the FDEs of a file are, by the address of their code: the sorted table of .eh_frame_hdr, which a linker
 * makes for exceptions. A program finds its own rules by it. Eight bytes an FDE.
 * Source: Linux Standard Base 5.0, Core, 10.6.2.
 */
#ifndef SYMBOLIZER_UNWIND_CFI_TABLE_H
#define SYMBOLIZER_UNWIND_CFI_TABLE_H

#include "symbolizer/object/elf_object.h"

struct cfi_table {
	uint64_t vaddr; /* that both numbers of an entry count from */
	struct cfi_table_entry {
		int32_t code, fde;
	} * v;
	size_t nr;
	size_t section_bytes; /* that .eh_frame has, about */
};

#define CFI_TABLE_NONE SIZE_MAX

/*
 * 0; *ret is untouched otherwise: -FMT_E_EMPTY: there is none, or one of another form; -FMT_E_CORRUPT: it is not sorted, or
 * not whole; -FMT_E_TRUNCATED, -FMT_E_TOO_BIG, -FMT_E_IO, -FMT_E_NOMEM.
 */
int cfi_table_read(struct elf_object *o, struct cfi_table *ret);
void cfi_table_done(struct cfi_table *t);

/* The last entry whose code begins at or before an address; CFI_TABLE_NONE: they are all behind it. */
size_t cfi_table_find(const struct cfi_table *t, uint64_t vaddr);

static inline uint64_t
cfi_table_code(const struct cfi_table *t, size_t i)
{
	return t->vaddr + (uint64_t)(int64_t)t->v[i].code;
}

static inline uint64_t
cfi_table_fde(const struct cfi_table *t, size_t i)
{
	return t->vaddr + (uint64_t)(int64_t)t->v[i].fde;
}

#endif

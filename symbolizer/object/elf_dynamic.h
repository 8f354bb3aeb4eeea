/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_dynamic: the dynamic symbols of a file without section headers, where the dynamic segment says that they are, as the
 * loader finds them. Source: System V gABI, chapter 5; glibc, elf/dl-lookup.c (DT_GNU_HASH).
 */
#ifndef SYMBOLIZER_OBJECT_ELF_DYNAMIC_H
#define SYMBOLIZER_OBJECT_ELF_DYNAMIC_H

#include <gelf.h>

#include "symbolizer/object/elf_bytes.h"

struct elf_dynamic {
	struct elf_bytes symbols, strings;
	size_t nr; /* symbols; the first one is none */
	bool is64;
};

/*
 * 0: to be freed by elf_dynamic_done(). *ret is empty otherwise: -FMT_E_EMPTY: there is no dynamic segment, or it names no
 * symbols; -FMT_E_CORRUPT, -FMT_E_TRUNCATED, -FMT_E_TOO_BIG, -FMT_E_IO, -FMT_E_NOMEM.
 */
int elf_dynamic_read(struct elf_object *o, struct elf_dynamic *ret);
void elf_dynamic_done(struct elf_dynamic *d);

/* Symbol i < nr. */
void elf_dynamic_symbol(const struct elf_dynamic *d, size_t i, GElf_Sym *ret);

#endif

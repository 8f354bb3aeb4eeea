/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_minidebug: the symbols that Fedora and its kin leave in stripped files (MiniDebugInfo): an ELF
 * file packed by xz in the section .gnu_debugdata, with those functions that .dynsym has not. The
 * gdb manual ("MiniDebugInfo") describes it.
 */
#ifndef SYMBOLIZER_OBJECT_ELF_MINIDEBUG_H
#define SYMBOLIZER_OBJECT_ELF_MINIDEBUG_H

#include "symbolizer/object/elf_object.h"

/* Of the ELF file, unpacked; as many symbols as 60 MB hold are some 700,000 functions. */
#define ELF_MINIDEBUG_BYTES_MAX (64u << 20)

/*
 * Adds them. What is damaged or takes more than the limit adds nothing; only -FMT_E_NOMEM is an
 * error.
 */
int elf_minidebug_symbols(struct elf_object *o, struct symtab_builder *b);

#endif

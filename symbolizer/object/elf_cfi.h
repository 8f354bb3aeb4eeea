/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_cfi: where the call frame information of an ELF file is, and the functions that it tells apart in a file
 * without symbols: each FDE is of one function, or of one part of a function that the compiler has split.
 */
#ifndef SYMBOLIZER_OBJECT_ELF_CFI_H
#define SYMBOLIZER_OBJECT_ELF_CFI_H

#include "symbolizer/object/cfi_entry.h"
#include "symbolizer/object/elf_bytes.h"

/*
 * .eh_frame, or .debug_frame, which may be in the file with the debug information (NULL: there is none) instead. The
 * section is of *ret_bytes. 0; both are untouched otherwise: -FMT_E_EMPTY: there is none; -FMT_E_TRUNCATED,
 * -FMT_E_TOO_BIG, -FMT_E_DECOMPRESS, -FMT_E_IO, -FMT_E_CORRUPT, -FMT_E_NOMEM.
 */
int elf_cfi_read(struct elf_object *o, struct elf_object *debug, bool is_eh,
		 struct elf_bytes *ret_bytes, struct cfi_section *ret);

/* Is all of it in one segment of code? */
bool elf_cfi_is_code(struct elf_object *o, uint64_t start, uint64_t length);

/*
 * Adds the functions of .eh_frame and .debug_frame, each of them with an empty name: not the stubs of the PLT, nor what
 * signal handlers return to. What is damaged is left out as far as it is; only -FMT_E_NOMEM is an error.
 */
int elf_cfi_functions(struct elf_object *o, struct symtab_builder *b);

#endif

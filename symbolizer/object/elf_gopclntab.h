/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_gopclntab: the functions of a stripped Go program, which its runtime knows by the table
 * .gopclntab. Its forms of Go 1.2, 1.16, 1.18 and 1.20 are in debug/gosym/pclntab.go of Go. Since 1.26 it no longer says
 * where the text begins, from which its addresses count: the symbol runtime.text, the runtime's moduledata or
 * .text does.
 */
#ifndef SYMBOLIZER_OBJECT_ELF_GOPCLNTAB_H
#define SYMBOLIZER_OBJECT_ELF_GOPCLNTAB_H

#include "symbolizer/object/elf_object.h"

/*
 * Adds them, each up to the next one. A table that is damaged, whose text is not found, or of which a
 * function is not in a segment of code, adds nothing; only -FMT_E_NOMEM is an error.
 */
int elf_gopclntab_symbols(struct elf_object *o, struct symtab_builder *b);

#endif

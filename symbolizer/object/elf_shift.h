/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_shift: how far code, or data, lies elsewhere in an ELF file than in another one of the same build, such as that with
 * its debug information. prelink(8) moves both, code within a segment whose address stays as it was: so sections are
 * compared, by name, as gdb and elfutils do, and segments where there are no sections.
 */
#ifndef SYMBOLIZER_OBJECT_ELF_SHIFT_H
#define SYMBOLIZER_OBJECT_ELF_SHIFT_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizer/object/elf_object.h"

enum elf_shift {
	ELF_SHIFT_KNOWN,
	ELF_SHIFT_UNEQUAL, /* sections have other sizes, or were not all moved as far: another build, or none that fits */
	ELF_SHIFT_NOMEM,
};

/*
 * What is to be added to addresses of code in from to have those in to. *ret is set when it is known; 0 where neither
 * sections nor segments tell.
 */
enum elf_shift elf_shift_code(const struct elf_object *from, const struct elf_object *to,
			      uint64_t *ret);
/* Likewise of variables. */
enum elf_shift elf_shift_data(const struct elf_object *from, const struct elf_object *to,
			      uint64_t *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_signal: the code that a signal handler returns to, known by its bytes, as gdb and libunwind know it. It is one
 * system call, by which the kernel puts back what it had saved on the stack. musl's has no call frame information, and
 * stripped libraries have no symbol of it.
 */
#ifndef SYMBOLIZER_OBJECT_ELF_SIGNAL_H
#define SYMBOLIZER_OBJECT_ELF_SIGNAL_H

#include "symbolizer/object/elf_object.h"

#define SIGNAL_CODE_BYTES_MAX 16
#define ELF_SIGNALS_MAX 16 /* places that a program has: one or two */

/* What lies on the stack depends on it. */
enum signal_code_kind {
	SIGNAL_X86_64_RT,
	SIGNAL_I386_RT,
	SIGNAL_I386,
	SIGNAL_AARCH64_RT,
};

struct signal_code {
	enum signal_code_kind kind;
	uint16_t machine; /* EM_* */
	uint8_t len;
	uint8_t bytes[SIGNAL_CODE_BYTES_MAX];
	const char *name; /* as glibc and musl name it */
};

struct elf_signal {
	uint64_t vaddr;
	const struct signal_code *code;
};

struct elf_signals {
	struct elf_signal at[ELF_SIGNALS_MAX];
	size_t nr;
};

/* The i-th that a machine has; NULL: there are no more. */
const struct signal_code *signal_code_at(uint16_t machine, size_t i);

/* The places of it in the file, in no order. A file without its code has none. Only -FMT_E_NOMEM is an error. */
int elf_signals_find(struct elf_object *o, struct elf_signals *ret);

/* Adds a symbol for each, which yields to any other that begins there. Likewise. */
int elf_signals_symbols(struct elf_object *o, struct symtab_builder *b);

/* Is it the name of such code? No program may have a function of that name. */
bool elf_signal_is_name(const char *name);

#endif

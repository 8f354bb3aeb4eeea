/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kallsyms: a kernel's symbols, as /proc/kallsyms lists them, in sorted arrays.
 *
 * Names are those that perf would show: types T, W, D and B in either case; of symbols
 * at one address the last in the file; a symbol ends where the next one begins, but a
 * gap between the kernel and its modules is nobody's.
 */
#ifndef FORMAT_BYTES_KALLSYMS_H
#define FORMAT_BYTES_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct kallsyms;

/*
 * Reads a file. -FMT_E_HIDDEN: every address is zero, since kernel.kptr_restrict or a missing
 * CAP_SYSLOG hides them; -FMT_E_EMPTY: no symbols at all; -FMT_E_TOO_BIG: more than any kernel has;
 * -FMT_E_IO with errno: it cannot be opened, or (EIO) not be read; -FMT_E_NOMEM.
 */
int kallsyms_open(const char *path, struct kallsyms **ret);
void kallsyms_free(struct kallsyms *k);

bool kallsyms_same(const struct kallsyms *a, const struct kallsyms *b);

size_t kallsyms_count(const struct kallsyms *k);
/* Index of the symbol that holds addr; -1: none. */
ssize_t kallsyms_find(const struct kallsyms *k, uint64_t addr);

struct kallsyms_symbol {
	uint64_t start, end;
	const char *name;
	const char *module; /* "" the kernel itself */
};
struct kallsyms_symbol kallsyms_at(const struct kallsyms *k, size_t index);

/*
 * The length of the prefix in the name of what x86 has in front of a function, so that the function starts where it ends:
 * padding, __pfx_NAME (CONFIG_PREFIX_SYMBOLS), or the preamble of CONFIG_CFI, __cfi_NAME. 0: it is none.
 */
size_t kallsyms_prefix(const char *name);

/*
 * Address of a name at its first place in the file, of whatever type; 0: none. Kept only
 * for those that bound the kernel: _text, _stext, _etext, _edata.
 */
uint64_t kallsyms_address(const struct kallsyms *k, const char *name);

#endif

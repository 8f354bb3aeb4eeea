/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kallsyms: a kernel's symbols of code, as /proc/kallsyms lists them, in sorted arrays.
 *
 * Names are those of code: types T and W in either case; of symbols at one address the last in the
 * file. A symbol ends where the next one begins, of code or not, and where its module ends; without
 * bounds of modules, what is behind the last page that a module or the kernel has a symbol in
 * belongs to neither.
 */
#ifndef FORMAT_BYTES_KALLSYMS_H
#define FORMAT_BYTES_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct kallsyms;

#define KALLSYMS_MODULE_NAME_MAX 64 /* with its NUL; the kernel's are shorter */

/* Where a module is. */
struct kallsyms_module {
	uint64_t start, end;
	bool starting; /* it has code for its start, outside of this */
	char name[KALLSYMS_MODULE_NAME_MAX];
};

/*
 * Sorts them by start, leaves one of those with the same start, and ends each where the next one begins at the latest.
 * How many are left.
 */
size_t kallsyms_settle_modules(struct kallsyms_module *modules, size_t nr);

/* The module that is at addr, of such; NULL: none. */
const struct kallsyms_module *kallsyms_module_at(const struct kallsyms_module *modules, size_t nr,
						 uint64_t addr);

/*
 * Reads a file. modules (nr of them, as kallsyms_settle_modules() leaves them) are copied: a symbol of one of them
 * that lies outside it, or in another one, is left out. Of modules that are not among them all symbols are taken. Names
 * that the calls below return are good until kallsyms_free(). -FMT_E_HIDDEN: every address is zero, since
 * kernel.kptr_restrict or a missing CAP_SYSLOG hides them; -FMT_E_EMPTY: no symbols at all; -FMT_E_TOO_BIG: more than
 * any kernel has;
 * -FMT_E_IO with errno: it cannot be opened, or (EIO) not be read; -FMT_E_NOMEM.
 */
int kallsyms_open(const char *path, const struct kallsyms_module *modules, size_t nr,
		  struct kallsyms **ret);
void kallsyms_free(struct kallsyms *k);

bool kallsyms_same(const struct kallsyms *a, const struct kallsyms *b);

size_t kallsyms_count(const struct kallsyms *k); /* what is no code, too */
/* Index of the symbol of code that holds addr; -1: none. */
ssize_t kallsyms_find(const struct kallsyms *k, uint64_t addr);

struct kallsyms_symbol {
	uint64_t start, end;
	const char *name;   /* NULL: it is no code */
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

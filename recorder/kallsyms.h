/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kallsyms: the running kernel's symbols, from /proc/kallsyms, in sorted arrays.
 *
 * Names are those that perf would show: types T, W, D and B in either case; of symbols
 * at one address the last in the file; a symbol ends where the next one begins, but a
 * gap between the kernel and its modules is nobody's.
 */
#ifndef RECORDER_KALLSYMS_H
#define RECORDER_KALLSYMS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct kallsyms;

/*
 * Reads path (NULL: /proc/kallsyms). Who reads the same gets the same, from any thread. -EPERM when
 * every address is zero: kernel.kptr_restrict or a missing CAP_SYSLOG hides them. -ENOENT no
 * symbols at all; -ENOMEM; -errno.
 */
int kallsyms_load(const char *path, struct kallsyms **ret);
void kallsyms_free(struct kallsyms *k);

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
 * Address of a name at its first place in the file, of whatever type; 0: none. Kept only
 * for those that bound the kernel: _text, _stext, _etext, _edata.
 */
uint64_t kallsyms_address(const struct kallsyms *k, const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* elf_usdt: the static probes of a program or library, as <sys/sdt.h> notes them in .note.stapsdt. */
#ifndef SYMBOLIZER_OBJECT_ELF_USDT_H
#define SYMBOLIZER_OBJECT_ELF_USDT_H

#include <stdbool.h>
#include <stdint.h>

struct elf_object;

/* One place of a probe: of one name there may be several. */
struct elf_usdt {
	const char *provider, *name; /* as long as the object */
	uint64_t vaddr;
	uint64_t semaphore_vaddr; /* 0: it has none */
};

/* false: no more of them. */
typedef bool elf_usdt_see_fn(void *arg, const struct elf_usdt *probe);

/* All of them, in the order of the file. A note that is damaged ends its section. */
void elf_usdt_each(struct elf_object *o, elf_usdt_see_fn *see, void *arg);

#endif

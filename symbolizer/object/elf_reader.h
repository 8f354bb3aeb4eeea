/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_reader: an ELF file that stays open, with next to nothing in memory: its bytes by their addresses, read when they
 * are asked for. The file may change, or become shorter, in the meantime.
 */
#ifndef SYMBOLIZER_OBJECT_ELF_READER_H
#define SYMBOLIZER_OBJECT_ELF_READER_H

#include "symbolizer/object/elf_object.h"

struct elf_reader;

/* What several readers may read together, until the owner sets it anew. */
struct elf_budget {
	uint64_t left; /* bytes; each read counts as ELF_BUDGET_LEAST at least */
	bool refused;  /* something was not read for it */
};
#define ELF_BUDGET_LEAST 256

/* With a descriptor of its own; the object is not needed after that. budget: NULL: none. 0, -FMT_E_IO, -FMT_E_NOMEM. */
int elf_reader_open(const struct elf_object *o, struct elf_budget *budget, struct elf_reader **ret);
void elf_reader_close(struct elf_reader *r);
/* Memory that it takes. */
size_t elf_reader_bytes(const struct elf_reader *r);

/*
 * Up to size bytes from an address on, as far as its segment in the file; *ret: how many they are. 0, also where there are
 * none; -FMT_E_NOMEM: the budget has not so many left.
 */
int elf_reader_read(const struct elf_reader *r, uint64_t vaddr, void *to, size_t size, size_t *ret);
/* The segment of code whose bytes in the file have this address. */
bool elf_reader_code(const struct elf_reader *r, uint64_t vaddr, uint64_t *ret_start,
		     uint64_t *ret_end);
/* The file as an object, which the caller closes. As elf_object_open(). */
int elf_reader_object(const struct elf_reader *r, struct elf_object **ret);

#endif

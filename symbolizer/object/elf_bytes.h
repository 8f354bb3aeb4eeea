/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_bytes: copies of parts of an ELF file that outlive it. A length that the file claims is
 * believed up to what the file has, and up to ELF_BYTES_MAX.
 */
#ifndef SYMBOLIZER_OBJECT_ELF_BYTES_H
#define SYMBOLIZER_OBJECT_ELF_BYTES_H

#include "symbolizer/object/elf_object.h"

#define ELF_BYTES_MAX (128u << 20)

struct elf_bytes {
	uint8_t *p; /* to be freed */
	size_t len;
	uint64_t vaddr; /* where they are loaded; 0: they are not */
};

/*
 * From here on each has max bytes at most, packed or not, where that is less than ELF_BYTES_MAX: a larger one is
 * -FMT_E_TOO_BIG by what the header says, before anything is unpacked.
 */
void elf_bytes_limit(struct elf_object *o, uint64_t max);
/* What was read and unpacked of it so far, whether it was of use or not. */
uint64_t elf_bytes_made(const struct elf_object *o);

/*
 * The first section of that name that has bytes in the file, inflated when it is compressed (zlib,
 * zstd, and GNU's .zdebug_*). 0; *ret is untouched otherwise: -FMT_E_EMPTY: there is none;
 * -FMT_E_TRUNCATED, -FMT_E_TOO_BIG, -FMT_E_DECOMPRESS, -FMT_E_IO, -FMT_E_NOMEM.
 */
int elf_bytes_of_section(struct elf_object *o, const char *name, struct elf_bytes *ret);

/* Is there such a section? Nothing of it is read. */
bool elf_bytes_has_section(struct elf_object *o, const char *name);

/* What PT_GNU_EH_FRAME names (.eh_frame_hdr); likewise. */
int elf_bytes_of_header(struct elf_object *o, struct elf_bytes *ret);

/* From an address to the end of its segment in the file; likewise. */
int elf_bytes_from(struct elf_object *o, uint64_t vaddr, struct elf_bytes *ret);

/*
 * Up to size bytes from an address on, as far as its segment in the file; likewise. -FMT_E_EMPTY also of
 * a section that was there, and that who made a file of symbols took out.
 */
int elf_bytes_at(struct elf_object *o, uint64_t vaddr, uint64_t size, struct elf_bytes *ret);
/* The same into room that there is for size of them; *ret: how many it was. */
int elf_bytes_into(struct elf_object *o, uint64_t vaddr, uint8_t *to, size_t size, size_t *ret);

#endif

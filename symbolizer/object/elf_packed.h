/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_packed: sections of ELF files that are compressed, by zlib or zstd.
 * Source: System V gABI, "Section Compression"; GNU's older .zdebug_* sections.
 */
#ifndef SYMBOLIZER_OBJECT_ELF_PACKED_H
#define SYMBOLIZER_OBJECT_ELF_PACKED_H

#include "format/bytes/span.h"

struct elf_packed {
	struct span bytes;
	bool zstd;
	uint64_t size; /* of what they become, as the file claims */
};

/*
 * What a section is, by its header: of .zdebug_* (old) "ZLIB" and the size, else an Elf*_Chdr.
 * False: another compression, a header that is cut off, or a size that zlib cannot make of so
 * many bytes.
 */
bool elf_packed_read(struct span section, bool old, bool is64, struct elf_packed *ret);

/* out has room for p->size bytes, and gets as many. 0, -FMT_E_DECOMPRESS. */
int elf_packed_inflate(const struct elf_packed *p, uint8_t *out);

#endif

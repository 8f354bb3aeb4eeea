/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_field: the fields of a little-endian ELF structure in bytes, which are others in files of 32
 * bits. The caller has checked that the whole structure is there.
 */
#ifndef FORMAT_BYTES_ELF_FIELD_H
#define FORMAT_BYTES_ELF_FIELD_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bsd/sys/endian.h>

static inline uint64_t
elf_field(const uint8_t *p, size_t bytes)
{
	return bytes == 8 ? le64dec(p) : bytes == 4 ? le32dec(p) : le16dec(p);
}

static inline void
elf_field_set(uint8_t *p, size_t bytes, uint64_t v)
{
	if (bytes == 8)
		le64enc(p, v);
	else if (bytes == 4)
		le32enc(p, (uint32_t)v);
	else
		le16enc(p, (uint16_t)v);
}

/* Of a structure at p: ELF_FIELD(is64, p, Phdr, p_type). */
#define ELF_FIELD(is64, p, type, name)                                                             \
	((is64) ? elf_field((p) + offsetof(Elf64_##type, name),                                    \
			    sizeof(((Elf64_##type *)NULL)->name))                                  \
		: elf_field((p) + offsetof(Elf32_##type, name),                                    \
			    sizeof(((Elf32_##type *)NULL)->name)))

#define ELF_FIELD_SET(is64, p, type, name, v)                                                      \
	((is64) ? elf_field_set((p) + offsetof(Elf64_##type, name),                                \
				sizeof(((Elf64_##type *)NULL)->name), v)                           \
		: elf_field_set((p) + offsetof(Elf32_##type, name),                                \
				sizeof(((Elf32_##type *)NULL)->name), v))

#define ELF_SIZE(is64, type) ((is64) ? sizeof(Elf64_##type) : sizeof(Elf32_##type))

#endif

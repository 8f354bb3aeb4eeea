/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stored_elf: the header and the tables of an ELF file that is to be copied; of this machine or another, and
 * of anybody.
 */
#ifndef FORMAT_STORED_STORED_ELF_H
#define FORMAT_STORED_STORED_ELF_H

#include <stdbool.h>

#include "format/bytes/elf_field.h"
#include "format/bytes/io.h"

struct stored_elf {
	struct io_source *file; /* borrowed */
	uint64_t size;
	bool is64;
	uint8_t header[sizeof(Elf64_Ehdr)];
	uint8_t *segments, *sections; /* the tables, as bytes */
	uint64_t segments_at;
	size_t nr_segments, nr_sections;
	uint64_t lowest, highest; /* addresses of what is loaded: [lowest, highest) */
	size_t names_index;	  /* of the section of names; 0: none */
	char *names;
	size_t names_len;
};

/*
 * apart: it may also be a file of sections alone, as dwz(1) makes. Errors are those of stored_reduce(). Also after
 * one, stored_elf_done() frees.
 */
int stored_elf_read(struct stored_elf *e, struct io_source *file, bool apart);
void stored_elf_done(struct stored_elf *e);

static inline const uint8_t *
stored_elf_segment(const struct stored_elf *e, size_t i)
{
	return e->segments + i * ELF_SIZE(e->is64, Phdr);
}

static inline uint8_t *
stored_elf_section(const struct stored_elf *e, size_t i)
{
	return e->sections + i * ELF_SIZE(e->is64, Shdr);
}

/* "" where it has none. Longer ones are not looked through: all sections may have one name of a MiB. */
const char *stored_elf_name(const struct stored_elf *e, size_t i);

/* Of a table or a section: is it in the file? */
static inline bool
stored_elf_inside(const struct stored_elf *e, uint64_t at, uint64_t bytes)
{
	return at <= e->size && bytes <= e->size - at;
}

/*
 * From a place in the file to an address and back, by the segments that are loaded; of n bytes that are in one of them.
 * False: in none.
 */
bool stored_elf_vaddr(const struct stored_elf *e, uint64_t offset, uint64_t *ret);
bool stored_elf_offset(const struct stored_elf *e, uint64_t vaddr, uint64_t n, uint64_t *ret);
static inline bool
stored_elf_spans(const struct stored_elf *e, uint64_t vaddr)
{
	return vaddr >= e->lowest && vaddr < e->highest;
}

/* Do some of the bytes [at, at + n) of the file belong to what is loaded? */
bool stored_elf_is_loaded(const struct stored_elf *e, uint64_t at, uint64_t n);

/* Exactly n bytes: a file that got shorter is another one. 0, -FMT_E_TRUNCATED, -FMT_E_IO. */
int stored_elf_bytes(struct io_source *file, uint64_t at, void *to, size_t n);

#endif

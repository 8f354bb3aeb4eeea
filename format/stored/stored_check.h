/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stored_check: is a part of an ELF file what its header says? Whoever may read a copy may not always read its file, and
 * headers are changed easily: text or data under another name is not copied.
 */
#ifndef FORMAT_STORED_STORED_CHECK_H
#define FORMAT_STORED_STORED_CHECK_H

#include "format/stored/stored_elf.h"

/* What the dynamic segment says; vaddr 0: nothing. */
struct stored_dynamic {
	uint64_t at, n; /* in the file, with its DT_NULL */
	uint64_t symbols, strings, strings_bytes;
};

/* All of these return 1; 0: it is no such thing; or an error: -FMT_E_NOMEM, as of stored_elf_bytes(). */

/* PT_DYNAMIC, to the tag that ends it. */
int stored_check_dynamic(const struct stored_elf *e, struct stored_dynamic *ret);

/* Notes that follow one another from at to end, each with a name. */
int stored_check_notes(const struct stored_elf *e, uint64_t at, uint64_t end, uint64_t align);

/*
 * The i-th section, which is not loaded and not SHT_STRTAB, or is loaded and one of SHT_DYNSYM, SHT_RELA, SHT_REL,
 * SHT_NOTE and SHT_PROGBITS; call frame information is stored_frames'. d: of the file. debug: the name stands for debug
 * information.
 */
int stored_check_section(const struct stored_elf *e, const struct stored_dynamic *d, size_t i,
			 bool debug);

/* The i-th section has strings, and d's if it is loaded. */
int stored_check_strings(const struct stored_elf *e, const struct stored_dynamic *d, size_t i);

/* Is the table of sections one, of a file of this size? */
bool stored_check_table(const struct stored_elf *e);

#endif

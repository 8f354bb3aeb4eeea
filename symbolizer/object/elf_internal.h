/* SPDX-License-Identifier: GPL-2.0-or-later */
/* elf_internal: what elf_object.c and elf_plt.c share. */
#ifndef SYMBOLIZER_OBJECT_ELF_INTERNAL_H
#define SYMBOLIZER_OBJECT_ELF_INTERNAL_H

#include <gelf.h>

#include "format/bytes/span.h"
#include "symbolizer/object/elf_object.h"

/* Addresses of code sections that have lost their bytes: sorted, none over another. */
struct elf_emptied {
	struct elf_range {
		uint64_t start, last;
	} * v;
	size_t nr, cap;
	bool known; /* they were looked for */
};

struct elf_object {
	struct io_source *file;
	int fd; /* the file's */
	Elf *elf;
	uint64_t file_size;
	uint64_t data_left;	 /* bytes of sections that may still be read */
	uint64_t notes_left;	 /* likewise of notes */
	struct elf_share *share; /* likewise, with other files; NULL: alone */
	uint16_t machine;
	uint64_t entry;
	bool fixed;
	size_t nr_sections;
	size_t names_section; /* SHN_UNDEF: none */
	struct elf_segment segments[ELF_SEGMENTS_MAX];
	size_t nr_segments;
	struct elf_emptied emptied;
	uint64_t bytes_max;  /* of elf_bytes, each; ELF_BYTES_MAX or less */
	uint64_t bytes_made; /* of all of them, so far */
	size_t last_code;    /* segment that elf_cfi_is_code() found last */
	uint8_t build_id[ELF_BUILD_ID_MAX];
	size_t build_id_size;
};

/* Section i < nr_sections with its header. */
bool elf_section(const struct elf_object *o, size_t i, Elf_Scn **ret, GElf_Shdr *ret_shdr);
/* Its name, "" when there is none. */
const char *elf_section_name(const struct elf_object *o, const GElf_Shdr *shdr);
/*
 * Its bytes in the host's form (cooked), or as they are; NULL: none, or over the limits: that of
 * a table, and that of all which are read of a file, where sections may lie over each other.
 */
Elf_Data *elf_section_data(struct elf_object *o, Elf_Scn *scn, const GElf_Shdr *shdr, bool cooked);

/* May so many bytes be taken from its share? Then they are. */
bool elf_share_take(struct elf_object *o, uint64_t n);

/* Is that the name of a section of linkage stubs? */
bool elf_plt_section(const char *name);

/* A note: its name has its NUL, and neither has its padding. */
struct elf_note {
	uint32_t type;
	struct span name, desc;
};
/* Takes the next one. False: there is none that is whole. */
bool elf_note_next(struct span *notes, struct elf_note *ret);

#endif

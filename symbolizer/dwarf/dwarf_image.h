/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_image: an ELF file with its debug sections as plain bytes, for libdw and for us.
 *
 * A file without compressed sections is mapped as it is. Otherwise a copy of what DWARF needs is made
 * in memory, inflated once: libdw 0.188 knows zlib alone, and would do it for each handle again.
 * What is truncated under a mapping raises SIGBUS, and the tables of libdw believe more than
 * they should: this belongs into a process of its own (dwarf_worker).
 */
#ifndef SYMBOLIZER_DWARF_DWARF_IMAGE_H
#define SYMBOLIZER_DWARF_DWARF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

#include <libelf.h>

#include "format/bytes/span.h"
#include "symbolizer/dwarf/dwarf_lines.h"

/*
 * Of the sections, inflated: by the file's size, and at most. A section of zeros may be as small as zstd
 * makes it; sections that are one another's bytes cannot become more than the file could.
 */
#define DWARF_IMAGE_RATIO_MAX 64 /* debug information packs to a tenth at best */
#define DWARF_IMAGE_BYTES_FREE (UINT64_C(16) << 20)
#define DWARF_IMAGE_BYTES_MAX (UINT64_C(8) << 30)

struct dwarf_image;

/*
 * fd is borrowed for its life. -FMT_E_CORRUPT, -FMT_E_DECOMPRESS, -FMT_E_TOO_BIG, -FMT_E_IO,
 * -FMT_E_NOMEM; -FMT_E_EMPTY: it has no debug information.
 */
int dwarf_image_open(int fd, struct dwarf_image **ret);
void dwarf_image_close(struct dwarf_image *image);

Elf *dwarf_image_elf(const struct dwarf_image *image);
/* Its bytes; empty: there is no such section. Valid for the image's life. */
struct span dwarf_image_section(const struct dwarf_image *image, const char *name);
/* Of several of that name the first that is wanted, else the first. */
struct span dwarf_image_section_if(const struct dwarf_image *image, const char *name,
				   bool (*is_wanted)(struct span bytes));
/* Executable segments: where code can be. */
size_t dwarf_image_code(const struct dwarf_image *image, const struct dwarf_code **ret);

#endif

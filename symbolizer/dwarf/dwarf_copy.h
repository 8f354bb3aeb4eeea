/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_copy: an ELF file that is made in memory, of debug sections alone, for libdw to read.
 */
#ifndef SYMBOLIZER_DWARF_DWARF_COPY_H
#define SYMBOLIZER_DWARF_DWARF_COPY_H

#include <stddef.h>
#include <stdint.h>

#include <libelf.h>

#include "format/bytes/buf.h"

#define DWARF_COPY_SECTIONS_MAX 65000 /* what the header of an ELF file can count */

struct dwarf_copy {
	struct buf bytes, names, headers;
};

void dwarf_copy_init(struct dwarf_copy *c);
void dwarf_copy_done(struct dwarf_copy *c);

/* Room for the bytes of the next section; NULL: no memory. */
uint8_t *dwarf_copy_room(struct dwarf_copy *c, size_t size);
/* The section that the first size bytes of that room are. */
void dwarf_copy_take(struct dwarf_copy *c, const char *name, size_t size);
void dwarf_copy_add(struct dwarf_copy *c, const char *name, struct span bytes);

/*
 * Ends it, as a file for the machine of like, and opens it: *ret_elf has to end before *ret_bytes, which
 * are the caller's; c is empty then in any case. -FMT_E_NOMEM, -FMT_E_CORRUPT, -FMT_E_TOO_BIG.
 */
int dwarf_copy_open(struct dwarf_copy *c, Elf *like, struct buf *ret_bytes, Elf **ret_elf);

#endif

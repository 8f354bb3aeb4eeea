/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cfi_fdes: the FDEs of one file, by the address of their code: .eh_frame's, and .debug_frame's for what only that knows
 * (Go). Either all of them are read at once and the file is not needed after that; or the file stays open, and those that
 * are asked for are found by the table of .eh_frame_hdr. Such a table may have less than all, or be wrong: it leads to
 * FDEs, and what these say themselves is believed.
 */
#ifndef SYMBOLIZER_UNWIND_CFI_FDES_H
#define SYMBOLIZER_UNWIND_CFI_FDES_H

#include "format/bytes/slots.h"
#include "symbolizer/object/cfi_entry.h"
#include "symbolizer/object/elf_bytes.h"
#include "symbolizer/object/elf_reader.h"
#include "symbolizer/unwind/cfi_table.h"

#define CFI_GAP_MIN 16 /* bytes; shorter ones are between functions, but for a file's last */
#define CFI_FDES_CIE_BYTES                                                                         \
	(3 * CFI_INITIAL_BYTES_MAX) /* of a CIE that is kept; longer ones are not believed */

struct cfi_fde_place {
	uint64_t start;
	uint32_t length; /* 0: nothing is known of it */
	uint32_t offset; /* of the entry in its section; of a file that stays open: its number in the table */
	uint32_t first; /* row: the owner's, with nr */
	uint32_t nr : 30;
	uint32_t is_eh : 1;
	uint32_t is_learnt : 1; /* of a file that stays open: length is what there is to know */
};
#define CFI_FDE_NEW UINT32_MAX /* first, before the owner sets it */

/* All zero is an empty one. */
struct cfi_fdes {
	struct cfi_fde_place *v; /* all by start, none over another; or those that were asked for */
	size_t nr, cap;
	struct elf_bytes bytes[2]; /* by is_eh */
	struct cfi_section sections[2];
	struct elf_reader *reader; /* the file that stays open; NULL: all were read */
	struct cfi_table table;
	size_t section_max; /* that .eh_frame is believed to have */
	struct slots asked;
	struct cfi_section cie; /* what was read of the last CIE */
	uint8_t *cie_bytes;	/* CFI_FDES_CIE_BYTES */
};

/*
 * Of an object, or of the file with its debug information (NULL: none). Sections and index take max bytes at most. As
 * cfi_new_max().
 */
int cfi_fdes_read(struct cfi_fdes *f, struct elf_object *o, struct elf_object *debug, size_t max);
/*
 * Of a file that stays open; its table takes max bytes at most. As cfi_table_read(); -FMT_E_EMPTY also where another
 * section has to be read: .debug_frame, or Go's .gopclntab.
 */
int cfi_fdes_open(struct cfi_fdes *f, struct elf_object *o, size_t max, struct elf_budget *budget);
/* Of code that no file has; eh_frame is copied. 0, -FMT_E_TOO_BIG, -FMT_E_NOMEM. */
int cfi_fdes_made(struct cfi_fdes *f, uint64_t start, uint64_t size, const struct span *eh_frame,
		  uint64_t vaddr, bool narrow);
void cfi_fdes_done(struct cfi_fdes *f);
size_t cfi_fdes_bytes(const struct cfi_fdes *f);
/* Bytes of call frame information that the file has; about, of one that stays open. */
size_t cfi_fdes_section_bytes(const struct cfi_fdes *f);

/* The one whose code has an address; it is valid until the next is asked for. 1, 0: there is none, -FMT_E_NOMEM. */
int cfi_fdes_find(struct cfi_fdes *f, uint64_t vaddr, struct cfi_fde_place **ret);
/*
 * Of a file that stays open: the code without FDE around an address. 1; 0: an FDE covers it, it is no code, or it is padding
 * between functions; -FMT_E_NOMEM.
 */
int cfi_fdes_gap(struct cfi_fdes *f, uint64_t vaddr, uint64_t *ret_start, uint64_t *ret_end);

/* An FDE with its CIE, as long as they are looked at. */
struct cfi_fde_reading {
	struct cfi_section section;
	struct cfi_cie cie;
	struct cfi_fde fde;
	uint8_t *more; /* bytes for which these are not enough */
	uint8_t bytes[256];
};
/*
 * The reading is to be ended in any case. 0, -FMT_E_CORRUPT: it is damaged, is another one by now, or could not be read;
 * -FMT_E_NOMEM: not now.
 */
int cfi_fdes_look(struct cfi_fdes *f, const struct cfi_fde_place *place,
		  struct cfi_fde_reading *ret);
void cfi_fde_reading_done(struct cfi_fde_reading *r);

#endif

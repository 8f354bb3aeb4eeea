/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cfi_entry: the entries of .eh_frame and .debug_frame: CIEs, which many functions share, and
 * FDEs, one a piece of code. Bytes in, structs out; nothing is allocated.
 * Source: DWARF 5, 6.4.1; Linux Standard Base 5.0, Core, 10.6.1 (.eh_frame, and the letters of its
 * augmentation); versions 1, 3 and 4.
 */
#ifndef SYMBOLIZER_OBJECT_CFI_ENTRY_H
#define SYMBOLIZER_OBJECT_CFI_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "format/bytes/span.h"

/*
 * Instructions of a CIE that are believed. They are carried out once for each of its FDEs;
 * compilers make about ten bytes of them.
 */
#define CFI_INITIAL_BYTES_MAX 512

struct cfi_section {
	struct span bytes; /* the section, or a part of it */
	size_t base;	   /* offset in the section of the first of them */
	uint64_t vaddr;	   /* where the section is loaded */
	bool is_eh;	   /* .eh_frame, not .debug_frame */
	bool open;	   /* it ends at its terminator, wherever the bytes end */
	bool narrow;	   /* addresses have 4 bytes, not 8 */
	uint64_t shift;	   /* of the code that its FDEs are of, from where they say that it is */
};

/* Of an entry, before it is known of what kind. */
struct cfi_entry {
	size_t offset; /* in the section */
	bool is_cie;
	size_t cie;	  /* of an FDE: the offset of its CIE; it may be outside the section */
	struct span body; /* what follows the id */
};

struct cfi_cie {
	size_t offset;
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra;	   /* the column of return addresses */
	uint8_t encoding;  /* of addresses in its FDEs */
	bool sized;	   /* its FDEs say how long their augmentation is ('z') */
	bool signal_frame; /* what is below was interrupted and made no call */
	struct span instructions;
};

struct cfi_fde {
	uint64_t start, length; /* of code; addresses of the file */
	struct span instructions;
};

/*
 * The entry at *offset, which moves behind it. 1; 0: there are no more, or the rest is damaged.
 * Terminators in the middle, which some linkers leave, are passed over unless the section is open.
 */
int cfi_entry_next(const struct cfi_section *s, size_t *offset, struct cfi_entry *ret);
/* The CIE at offset. False: there is none, or it is not understood. */
bool cfi_entry_cie(const struct cfi_section *s, size_t offset, struct cfi_cie *ret);
/* An FDE, by its CIE. False: its addresses or lengths are not understood. */
bool cfi_entry_fde(const struct cfi_section *s, const struct cfi_entry *entry,
		   const struct cfi_cie *cie, struct cfi_fde *ret);

/*
 * Gives take the FDEs whose code has a length, of 32 bits at most, one after another: entry is what it was read from, and
 * start is moved by the section's shift. Damaged ones are passed over. 0, or what take returned, negative.
 */
typedef int cfi_entry_take_fn(void *arg, const struct cfi_entry *entry, const struct cfi_cie *cie,
			      const struct cfi_fde *fde);
int cfi_entry_each(const struct cfi_section *s, cfi_entry_take_fn *take, void *arg);

/* The address of a byte of the section. */
static inline uint64_t
cfi_section_address(const struct cfi_section *s, const uint8_t *p)
{
	return s->vaddr + s->base + (uint64_t)(p - s->bytes.p);
}

#endif

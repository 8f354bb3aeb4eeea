/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cfi_rows: the instructions of an FDE carried out: rows of a code offset and the number of the
 * rule that holds from there on. A rule says where the caller's registers are. Rules of one file
 * are few: equal ones are one.
 * Source: DWARF 5, 6.4.2 (DW_CFA_*); binutils' include/dwarf2.def (GNU, AArch64).
 */
#ifndef SYMBOLIZER_UNWIND_CFI_ROWS_H
#define SYMBOLIZER_UNWIND_CFI_ROWS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "format/bytes/span.h"
#include "format/bytes/word_lists.h"
#include "symbolizer/unwind/cfi_arch.h"
#include "symbolizer/object/cfi_entry.h"

/* How a register of the caller is found. */
enum cfi_how {
	CFI_UNDEFINED,	   /* not at all; of the return address: there is no caller */
	CFI_AT_CFA,	   /* in memory at CFA + offset */
	CFI_IS_CFA,	   /* CFA + offset */
	CFI_REGISTER,	   /* register reg + offset */
	CFI_AT_EXPRESSION, /* in memory at what the expression computes */
	CFI_IS_EXPRESSION, /* what it computes */
};

/* Eight bytes, as two words of a list. */
struct cfi_place {
	uint8_t target; /* DWARF register; of the CFA, which comes first: CFI_SIGNAL_FRAME or 0 */
	uint8_t how;	/* enum cfi_how */
	uint8_t reg;	/* of CFI_REGISTER */
	uint8_t size;	/* bytes of the expression */
	int32_t offset; /* of an expression: its number */
};
#define CFI_SIGNAL_FRAME 1

/* A rule: places, the CFA's first. Registers that it does not name are the caller's as they are. */
struct cfi_rule {
	const uint32_t *words; /* until the next rule is made */
	size_t nr;	       /* places */
};

static inline struct cfi_place
cfi_rule_place(const struct cfi_rule *rule, size_t i)
{
	struct cfi_place place;

	memcpy(&place, rule->words + i * 2, sizeof(place));
	return place;
}

struct cfi_rows {
	struct cfi_row {
		uint32_t pc; /* from the start of the FDE's code */
		uint32_t rule;
	} * v;
	size_t nr, cap;
	struct word_lists rules;
	struct word_lists expressions; /* their bytes, with zeros up to a whole word */
	/*
	 * What there may be of them, in rows and in words of rules or of expressions, so that a file takes no more memory than a
	 * few times its size: libLLVM has a row for 10 bytes of .eh_frame, and few rules.
	 */
	size_t rows_max, words_max;
};

/* For a file with so many bytes of call frame information. */
void cfi_rows_init(struct cfi_rows *rows, size_t bytes);
/* Likewise for a piece of code, of which there may be thousands: none has more for being small. */
void cfi_rows_init_piece(struct cfi_rows *rows, size_t bytes);
void cfi_rows_done(struct cfi_rows *rows);
/* Memory that they take. */
size_t cfi_rows_bytes(const struct cfi_rows *rows);

/*
 * Appends the rows of an FDE, whose code is less than 4 GiB long; the first has pc 0. 0,
 * -FMT_E_CORRUPT (instructions that make no sense; nothing was appended), -FMT_E_UNSUPPORTED (those
 * of other machines), -FMT_E_TOO_BIG (too many rows, rules or expressions), -FMT_E_NOMEM.
 */
int cfi_rows_add(struct cfi_rows *rows, const struct cfi_arch *arch, const struct cfi_section *s,
		 const struct cfi_cie *cie, const struct cfi_fde *fde);

/* The bytes of a place's expression, until the next rule is made. */
struct span cfi_rows_expression(const struct cfi_rows *rows, const struct cfi_place *place);

#endif

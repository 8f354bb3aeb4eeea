/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/unwind/cfi_rows.h"

#include <stdlib.h>

#include <dwarf.h>
#include <elf.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "symbolizer/object/leb128.h"
#include "symbolizer/object/dwarf_pointer.h"

_Static_assert(sizeof(struct cfi_place) == 8, "two words of a list");

#define REMEMBERED_MAX 16 /* compilers nest one; by hand two were seen */
#define UNNAMED 0xff	  /* enum cfi_how: the register is the caller's as it is */

#define CFA_AARCH64_NEGATE_RA_STATE_WITH_PC 0x2c
#define CFA_AARCH64_NEGATE_RA_STATE DW_CFA_GNU_window_save

/* What holds at a place in the code. */
struct state {
	struct cfi_place cfa;
	struct cfi_place of[CFI_REGISTERS + 1]; /* the last: of those that nobody follows */
};

struct machine {
	struct cfi_rows *rows;
	const struct cfi_arch *arch;
	const struct cfi_section *section;
	const struct cfi_cie *cie;
	uint64_t pc, length; /* offsets in the FDE's code */
	uint64_t start;	     /* address of that */
	size_t first_row;
	bool in_cie;
	struct state now, initial;
	struct state remembered[REMEMBERED_MAX];
	size_t nr_remembered;
};

void
cfi_rows_init(struct cfi_rows *rows, size_t bytes)
{
	/* A small file may have rules that nobody else has. */
	*rows = (struct cfi_rows){ .rows_max = bytes / 2 + 1024, .words_max = bytes / 2 + 16384 };
}

void
cfi_rows_init_piece(struct cfi_rows *rows, size_t bytes)
{
	/* A row has 4 bytes or more, and a rule 16 words where all registers are saved that a function keeps. */
	*rows = (struct cfi_rows){ .rows_max = bytes / 2 + 16, .words_max = bytes * 4 + 256 };
}

void
cfi_rows_done(struct cfi_rows *rows)
{
	free(rows->v);
	word_lists_done(&rows->rules);
	word_lists_done(&rows->expressions);
}

size_t
cfi_rows_bytes(const struct cfi_rows *rows)
{
	return rows->cap * sizeof(*rows->v) + word_lists_bytes(&rows->rules) +
		word_lists_bytes(&rows->expressions);
}

/* --- rows -------------------------------------------------------------------------------- */

static size_t
put_place(uint32_t *words, size_t nr, const struct cfi_place *place)
{
	memcpy(words + nr, place, sizeof(*place));
	return nr + 2;
}

static int
rule_number(struct machine *m, uint32_t *ret)
{
	uint32_t words[2 * (CFI_REGISTERS + 1)];
	struct cfi_place cfa = m->now.cfa;
	size_t nr;

	cfa.target = m->cie->signal_frame ? CFI_SIGNAL_FRAME : 0;
	nr = put_place(words, 0, &cfa);
	for (size_t i = 0; i < CFI_REGISTERS; i++)
		if (m->now.of[i].how != UNNAMED)
			nr = put_place(words, nr, &m->now.of[i]);
	if (m->rows->rules.nr_words + nr > m->rows->words_max)
		return -FMT_E_TOO_BIG;
	return word_lists_number(&m->rows->rules, words, nr, ret);
}

/* The row of what holds now. */
static int
row_end(struct machine *m)
{
	struct cfi_rows *rows = m->rows;
	uint32_t rule;
	int err = rule_number(m, &rule);

	if (err < 0)
		return err;
	if (rows->nr > m->first_row && rows->v[rows->nr - 1].rule == rule)
		return 0;
	if (rows->nr == rows->rows_max)
		return -FMT_E_TOO_BIG;
	err = array_reserve(rows->v, rows->nr, rows->cap, 1);
	if (err == 0)
		rows->v[rows->nr++] = (struct cfi_row){ (uint32_t)m->pc, rule };
	return err;
}

/* The code before pc has what holds now. Past the end of the code nobody asks for rows. */
static int
advance_to(struct machine *m, uint64_t pc)
{
	int err = 0;

	if (m->in_cie || pc < m->pc)
		return -FMT_E_CORRUPT;
	if (pc > m->pc && m->pc < m->length)
		err = row_end(m);
	m->pc = pc;
	return err;
}

static int
advance_by(struct machine *m, uint64_t delta)
{
	uint64_t bytes, pc;

	if (__builtin_mul_overflow(delta, m->cie->code_align, &bytes) ||
	    __builtin_add_overflow(m->pc, bytes, &pc))
		return -FMT_E_CORRUPT;
	return advance_to(m, pc);
}

static int
set_location(struct machine *m, struct span *s)
{
	uint64_t at = cfi_section_address(m->section, s->p), pc;

	if (!dwarf_pointer(s, m->cie->encoding, at, 0, &pc) || pc < m->start)
		return -FMT_E_CORRUPT;
	return advance_to(m, pc - m->start);
}

/* --- places ------------------------------------------------------------------------------ */

static struct cfi_place *
place_of(struct state *state, uint64_t reg)
{
	return &state->of[reg < CFI_REGISTERS ? reg : CFI_REGISTERS];
}

static int
set_place(struct machine *m, uint64_t reg, enum cfi_how how, uint64_t of, int64_t offset)
{
	if (offset != (int32_t)offset || of > UINT8_MAX)
		return -FMT_E_CORRUPT;
	*place_of(&m->now, reg) = (struct cfi_place){
		.target = (uint8_t)reg, .how = how, .reg = (uint8_t)of, .offset = (int32_t)offset
	};
	return 0;
}

/* A number that data_align counts in. */
static int
set_factored(struct machine *m, uint64_t reg, enum cfi_how how, int64_t number)
{
	int64_t offset;

	if (__builtin_mul_overflow(number, m->cie->data_align, &offset))
		return -FMT_E_CORRUPT;
	return set_place(m, reg, how, 0, offset);
}

static int
expression_number(struct machine *m, struct span bytes, uint32_t *ret)
{
	struct word_lists *l = &m->rows->expressions;
	uint32_t words[UINT8_MAX / sizeof(uint32_t) + 1] = { 0 };
	const size_t nr = (bytes.len + sizeof(*words) - 1) / sizeof(*words);

	*ret = 0;
	if (bytes.len == 0)
		return 0;
	if (l->nr_words + nr > m->rows->words_max)
		return -FMT_E_TOO_BIG;
	memcpy(words, bytes.p, bytes.len);
	return word_lists_number(l, words, nr, ret);
}

static int
set_expression(struct machine *m, struct cfi_place *place, uint8_t target, enum cfi_how how,
	       struct span *s)
{
	struct span bytes;
	uint64_t size;
	uint32_t number;
	int err;

	if (!span_uleb(s, &size) || size > s->len || !span_take(s, (size_t)size, &bytes))
		return -FMT_E_CORRUPT;
	if (size > UINT8_MAX)
		return -FMT_E_UNSUPPORTED;
	err = expression_number(m, bytes, &number);
	if (err == 0)
		*place = (struct cfi_place){ .target = target,
					     .how = how,
					     .size = (uint8_t)size,
					     .offset = (int32_t)number };
	return err;
}

static int
set_cfa(struct machine *m, uint64_t reg, int64_t offset)
{
	if (reg >= CFI_REGISTERS)
		return -FMT_E_UNSUPPORTED;
	if (offset != (int32_t)offset)
		return -FMT_E_CORRUPT;
	m->now.cfa = (struct cfi_place){ .how = CFI_REGISTER,
					 .reg = (uint8_t)reg,
					 .offset = (int32_t)offset };
	return 0;
}

/* One of register and offset; the other stays. */
static int
change_cfa(struct machine *m, bool by_register, int64_t number)
{
	const struct cfi_place *cfa = &m->now.cfa;

	if (cfa->how != CFI_REGISTER)
		return -FMT_E_CORRUPT;
	return by_register ? set_cfa(m, (uint64_t)number, cfa->offset)
			   : set_cfa(m, cfa->reg, number);
}

static int
remember(struct machine *m)
{
	if (m->nr_remembered == REMEMBERED_MAX)
		return -FMT_E_TOO_BIG;
	m->remembered[m->nr_remembered++] = m->now;
	return 0;
}

static int
restore_remembered(struct machine *m)
{
	if (m->nr_remembered == 0)
		return -FMT_E_CORRUPT;
	m->now = m->remembered[--m->nr_remembered];
	return 0;
}

/* --- instructions ------------------------------------------------------------------------ */

/* Operands of an instruction, in their order. */
enum operand {
	NOTHING,
	U1,
	U2,
	U4,
	U,  /* ULEB128 */
	S,  /* SLEB128 */
	SF, /* SLEB128 times data_align */
};

static const uint8_t operands[0x40][2] = {
	[DW_CFA_advance_loc1] = { U1 },
	[DW_CFA_advance_loc2] = { U2 },
	[DW_CFA_advance_loc4] = { U4 },
	[DW_CFA_offset_extended] = { U, U },
	[DW_CFA_restore_extended] = { U },
	[DW_CFA_undefined] = { U },
	[DW_CFA_same_value] = { U },
	[DW_CFA_register] = { U, U },
	[DW_CFA_def_cfa] = { U, U },
	[DW_CFA_def_cfa_register] = { U },
	[DW_CFA_def_cfa_offset] = { U },
	[DW_CFA_expression] = { U },
	[DW_CFA_offset_extended_sf] = { U, S },
	[DW_CFA_def_cfa_sf] = { U, SF },
	[DW_CFA_def_cfa_offset_sf] = { SF },
	[DW_CFA_val_offset] = { U, U },
	[DW_CFA_val_offset_sf] = { U, S },
	[DW_CFA_val_expression] = { U },
	[DW_CFA_GNU_args_size] = { U },
	[DW_CFA_GNU_negative_offset_extended] = { U, U },
};

static bool
read_operand(const struct machine *m, struct span *s, enum operand kind, int64_t *ret)
{
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u;

	switch (kind) {
	case NOTHING:
		return true;
	case U1:
		return span_u8(s, &u8) && (*ret = u8, true);
	case U2:
		return span_u16(s, &u16) && (*ret = u16, true);
	case U4:
		return span_u32(s, &u32) && (*ret = u32, true);
	case U:
		return span_uleb(s, &u) && u <= INT64_MAX && (*ret = (int64_t)u, true);
	case S:
		return span_sleb(s, ret);
	case SF:
		return span_sleb(s, ret) && !__builtin_mul_overflow(*ret, m->cie->data_align, ret);
	}
	return false;
}

/* Those that only one machine has, and one that says nothing of registers. */
static int
of_machine(const struct machine *m, uint8_t op)
{
	switch (op) {
	case DW_CFA_GNU_args_size:
		return 0;
	case CFA_AARCH64_NEGATE_RA_STATE:
	case CFA_AARCH64_NEGATE_RA_STATE_WITH_PC:
		/* Signed or not: pc_mask takes the signature off. */
		return m->arch->machine == EM_AARCH64 ? 0 : -FMT_E_UNSUPPORTED;
	}
	return -FMT_E_UNSUPPORTED;
}

static int
extended(struct machine *m, uint8_t op, struct span *s)
{
	int64_t n[2] = { 0, 0 };
	uint64_t reg;

	if (!read_operand(m, s, operands[op][0], &n[0]) ||
	    !read_operand(m, s, operands[op][1], &n[1]))
		return -FMT_E_CORRUPT;
	reg = (uint64_t)n[0];
	switch (op) {
	case DW_CFA_nop:
		return 0;
	case DW_CFA_set_loc:
		return set_location(m, s);
	case DW_CFA_advance_loc1:
	case DW_CFA_advance_loc2:
	case DW_CFA_advance_loc4:
		return advance_by(m, reg);
	case DW_CFA_offset_extended:
	case DW_CFA_offset_extended_sf:
		return set_factored(m, reg, CFI_AT_CFA, n[1]);
	case DW_CFA_GNU_negative_offset_extended:
		return set_factored(m, reg, CFI_AT_CFA, -n[1]);
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		return set_factored(m, reg, CFI_IS_CFA, n[1]);
	case DW_CFA_restore_extended:
		*place_of(&m->now, reg) = *place_of(&m->initial, reg);
		return 0;
	case DW_CFA_undefined:
		return set_place(m, reg, CFI_UNDEFINED, 0, 0);
	case DW_CFA_same_value:
		return set_place(m, reg, UNNAMED, 0, 0);
	case DW_CFA_register:
		return set_place(m, reg, CFI_REGISTER, (uint64_t)n[1], 0);
	case DW_CFA_remember_state:
		return remember(m);
	case DW_CFA_restore_state:
		return restore_remembered(m);
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
		return set_cfa(m, reg, n[1]);
	case DW_CFA_def_cfa_register:
		return change_cfa(m, true, n[0]);
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
		return change_cfa(m, false, n[0]);
	case DW_CFA_def_cfa_expression:
		return set_expression(m, &m->now.cfa, 0, CFI_IS_EXPRESSION, s);
	case DW_CFA_expression:
		return set_expression(m, place_of(&m->now, reg), (uint8_t)reg, CFI_AT_EXPRESSION,
				      s);
	case DW_CFA_val_expression:
		return set_expression(m, place_of(&m->now, reg), (uint8_t)reg, CFI_IS_EXPRESSION,
				      s);
	}
	return of_machine(m, op);
}

static int
instruction(struct machine *m, struct span *s)
{
	uint64_t number;
	uint8_t op, low;

	if (!span_u8(s, &op))
		return -FMT_E_CORRUPT;
	low = op & 0x3f;
	switch (op & 0xc0) {
	case DW_CFA_advance_loc:
		return advance_by(m, low);
	case DW_CFA_offset:
		if (!span_uleb(s, &number) || number > INT64_MAX)
			return -FMT_E_CORRUPT;
		return set_factored(m, low, CFI_AT_CFA, (int64_t)number);
	case DW_CFA_restore:
		*place_of(&m->now, low) = *place_of(&m->initial, low);
		return 0;
	}
	return extended(m, low, s);
}

static int
run(struct machine *m, struct span s)
{
	int err = 0;

	while (err == 0 && s.len > 0)
		err = instruction(m, &s);
	return err;
}

static int
run_all(struct machine *m, const struct cfi_fde *fde)
{
	int err;

	for (size_t i = 0; i <= CFI_REGISTERS; i++)
		m->now.of[i].how = UNNAMED;
	m->in_cie = true;
	err = run(m, m->cie->instructions);
	m->initial = m->now;
	m->in_cie = false;
	if (err == 0)
		err = run(m, fde->instructions);
	if (err == 0 && m->pc < m->length)
		err = row_end(m);
	return err;
}

int
cfi_rows_add(struct cfi_rows *rows, const struct cfi_arch *arch, const struct cfi_section *s,
	     const struct cfi_cie *cie, const struct cfi_fde *fde)
{
	struct machine m = {
		.rows = rows,
		.arch = arch,
		.section = s,
		.cie = cie,
		.length = fde->length,
		.start = fde->start,
		.first_row = rows->nr,
	};
	int err = cie->ra == arch->ra ? run_all(&m, fde) : -FMT_E_UNSUPPORTED;

	if (err < 0)
		rows->nr = m.first_row;
	return err;
}

struct span
cfi_rows_expression(const struct cfi_rows *rows, const struct cfi_place *place)
{
	size_t nr;

	if (place->size == 0)
		return span_of(NULL, 0);
	return span_of(word_lists_at(&rows->expressions, (uint32_t)place->offset, &nr),
		       place->size);
}

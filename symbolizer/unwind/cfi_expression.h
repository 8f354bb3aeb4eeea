/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cfi_expression: DWARF expressions as call frame information has them: for linkage stubs (PLT),
 * signal trampolines and realigned stacks. A stack machine with bounds: 32 words deep, and steps
 * that whoever asks counts. It knows registers and the copied stack, and no other memory. Words have the
 * size of the stack's.
 * Source: DWARF 5, 2.5 and 6.4.2.
 */
#ifndef SYMBOLIZER_UNWIND_CFI_EXPRESSION_H
#define SYMBOLIZER_UNWIND_CFI_EXPRESSION_H

#include "symbolizer/unwind/cfi_arch.h"
#include "symbolizer/unwind/stack_copy.h"

struct cfi_registers {
	uint64_t value[CFI_REGISTERS]; /* by DWARF number */
	uint32_t known;		       /* bit n: value[n] is */
};

static inline bool
cfi_register(const struct cfi_registers *r, uint64_t number, uint64_t *ret)
{
	if (number >= CFI_REGISTERS || !(r->known & UINT32_C(1) << number))
		return false;
	*ret = r->value[number];
	return true;
}

static inline void
cfi_register_set(struct cfi_registers *r, unsigned number, uint64_t value)
{
	r->value[number] = value;
	r->known |= UINT32_C(1) << number;
}

/*
 * What it computes; cfa, unless NULL, is on its stack when it begins. Each step takes one off *steps.
 * False: an operation that is not known, a register or memory that is not, or no steps are left.
 */
bool cfi_expression_value(struct span expression, const struct cfi_registers *registers,
			  struct stack_copy *stack, const uint64_t *cfa, unsigned *steps,
			  uint64_t *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cfi_arch: what unwinding has to know of a machine: which DWARF register is what, and where a
 * sample has it. One row a machine; nothing else in this room names a register.
 */
#ifndef SYMBOLIZER_UNWIND_CFI_ARCH_H
#define SYMBOLIZER_UNWIND_CFI_ARCH_H

#include <stdbool.h>
#include <stdint.h>

#define CFI_REGISTERS 32 /* DWARF registers that are followed: below this number */
#define CFI_NO_REGISTER 0xff

struct cfi_arch {
	const char *name;   /* as uname -m */
	uint16_t machine;   /* EM_* */
	uint8_t word;	    /* bytes of an address */
	uint8_t sp, fp;	    /* DWARF numbers */
	uint8_t ra;	    /* the column of return addresses */
	bool link_register; /* a call leaves the return address in register ra, not on the stack */
	uint32_t preserved; /* bit n: a call leaves DWARF register n as it was */
	uint64_t pc_mask;   /* bits of an address of code; others are signatures of it */
	uint8_t perf_ip;    /* PERF_REG_* */
	uint8_t perf[CFI_REGISTERS]; /* PERF_REG_* of each, or CFI_NO_REGISTER */
};

/* NULL: nobody here knows it. */
const struct cfi_arch *cfi_arch_of_machine(uint16_t machine);
const struct cfi_arch *cfi_arch_of_name(const char *name);
/* What 32-bit processes of this machine run on; NULL: nobody here knows it. */
const struct cfi_arch *cfi_arch_narrow(const struct cfi_arch *arch);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/unwind/cfi_arch.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

#define NONE CFI_NO_REGISTER
#define BIT(n) (UINT32_C(1) << (n))

static const struct cfi_arch archs[] = {
	/*
	 * System V ABI, AMD64, figures 3.4 and 3.36; arch/x86/include/uapi/asm/perf_regs.h.
	 * Register 16 is the return address, and in expressions the address of the instruction.
	 */
	{
		.name = "x86_64",
		.machine = EM_X86_64,
		.word = 8,
		.sp = 7,
		.fp = 6,
		.ra = 16,
		.preserved = BIT(3) | BIT(6) | BIT(7) | BIT(12) | BIT(13) | BIT(14) | BIT(15),
		.pc_mask = UINT64_MAX,
		.perf_ip = 8,
		.perf = { 0,	3,    2,    1,	  4,	5,    6,    7,	  16,	17,   18,
			  19,	20,   21,   22,	  23,	NONE, NONE, NONE, NONE, NONE, NONE,
			  NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE },
	},
	/* System V ABI, Intel386, table 2.14; perf has the registers as for x86-64. */
	{
		.name = "i686",
		.machine = EM_386,
		.word = 4,
		.sp = 4,
		.fp = 5,
		.ra = 8,
		.preserved = BIT(3) | BIT(4) | BIT(5) | BIT(6) | BIT(7),
		.pc_mask = UINT32_MAX,
		.perf_ip = 8,
		.perf = { 0,	2,    3,    1,	  7,	6,    4,    5,	  NONE, NONE, NONE,
			  NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE,
			  NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE },
	},
	/*
	 * DWARF for the Arm 64-bit Architecture, 4.1; arch/arm64/include/uapi/asm/perf_regs.h.
	 * Pointer authentication signs return addresses in the bits over a user address, which
	 * has 48 unless a program asks for more.
	 */
	{
		.name = "aarch64",
		.machine = EM_AARCH64,
		.word = 8,
		.sp = 31,
		.fp = 29,
		.ra = 30,
		.link_register = true,
		.preserved = BIT(31) | (BIT(30) - BIT(19)),
		.pc_mask = (UINT64_C(1) << 48) - 1,
		.perf_ip = 32,
		.perf = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
			  16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31 },
	},
};

const struct cfi_arch *
cfi_arch_of_machine(uint16_t machine)
{
	for (size_t i = 0; i < sizeof(archs) / sizeof(archs[0]); i++)
		if (archs[i].machine == machine)
			return &archs[i];
	return NULL;
}

const struct cfi_arch *
cfi_arch_of_name(const char *name)
{
	for (size_t i = 0; name && i < sizeof(archs) / sizeof(archs[0]); i++)
		if (strcmp(archs[i].name, name) == 0)
			return &archs[i];
	return NULL;
}

const struct cfi_arch *
cfi_arch_narrow(const struct cfi_arch *arch)
{
	if (arch->word == 4)
		return arch;
	return arch->machine == EM_X86_64 ? cfi_arch_of_machine(EM_386) : NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/dump/register_name.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* arch/x86/include/uapi/asm/perf_regs.h, enum perf_event_x86_regs */
static const char *const x86_regs[] = {
	"ax", "bx", "cx", "dx", "si", "di", "bp",  "sp",  "ip",	 "flags", "cs",	 "ss",
	"ds", "es", "fs", "gs", "r8", "r9", "r10", "r11", "r12", "r13",	  "r14", "r15",
};

/* arch/arm64/include/uapi/asm/perf_regs.h, enum perf_event_arm_regs */
static const char *const arm64_regs[] = {
	"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",	 "x7",	"x8",  "x9",  "x10",
	"x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
	"x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "lr",  "sp",  "pc",
};

/* Of each XMM register two words, as PERF_REG_X86_XMM0 and the one behind it: bits 0 to 63, and the others. */
#define XMM_FIRST 32
static const char *const x86_vectors[] = {
	"xmm0",	 "xmm0h",  "xmm1",  "xmm1h",  "xmm2",  "xmm2h",	 "xmm3",  "xmm3h",
	"xmm4",	 "xmm4h",  "xmm5",  "xmm5h",  "xmm6",  "xmm6h",	 "xmm7",  "xmm7h",
	"xmm8",	 "xmm8h",  "xmm9",  "xmm9h",  "xmm10", "xmm10h", "xmm11", "xmm11h",
	"xmm12", "xmm12h", "xmm13", "xmm13h", "xmm14", "xmm14h", "xmm15", "xmm15h",
};

/* PERF_REG_ARM64_VG: how long SVE's vectors are. */
#define VG_FIRST 46
static const char *const arm64_vectors[] = { "vg" };

static const struct {
	const char *arch;
	unsigned first;
	const char *const *names;
	unsigned nr;
} reg_names[] = {
	{ "x86_64", 0, x86_regs, NR(x86_regs) },
	{ "x86_64", XMM_FIRST, x86_vectors, NR(x86_vectors) },
	{ "aarch64", 0, arm64_regs, NR(arm64_regs) },
	{ "aarch64", VG_FIRST, arm64_vectors, NR(arm64_vectors) },
};

const char *
register_name(const char *arch, unsigned number)
{
	for (size_t i = 0; arch && i < NR(reg_names); i++)
		if (strcmp(arch, reg_names[i].arch) == 0 && number >= reg_names[i].first &&
		    number - reg_names[i].first < reg_names[i].nr)
			return reg_names[i].names[number - reg_names[i].first];
	return NULL;
}

/* The upper half of the register before it, with which it is asked for. */
static bool
is_half(const char *arch, unsigned number)
{
	return arch && strcmp(arch, "x86_64") == 0 && number >= XMM_FIRST && number % 2 == 1;
}

static uint64_t
register_bit(const char *arch, uint64_t allowed, const char *word, size_t bytes)
{
	for (unsigned i = 0; i < 64; i++) {
		const char *name = allowed >> i & 1 && !is_half(arch, i) ? register_name(arch, i)
									 : NULL;

		if (name && strlen(name) == bytes && strncasecmp(name, word, bytes) == 0)
			return (is_half(arch, i + 1) ? UINT64_C(3) : UINT64_C(1)) << i;
	}
	return 0;
}

int
register_name_parse(const char *arch, uint64_t allowed, const char *text, uint64_t *ret,
		    const char **ret_word, size_t *ret_bytes)
{
	uint64_t all = 0, bit;

	for (;; text++) {
		size_t bytes = strcspn(text, ",");

		*ret_word = text;
		*ret_bytes = bytes;
		bit = register_bit(arch, allowed, text, bytes);
		if (!bit)
			return -1;
		all |= bit;
		text += bytes;
		if (!*text)
			break;
	}
	*ret = all;
	return 0;
}

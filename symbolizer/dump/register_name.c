/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/dump/register_name.h"

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

static const struct {
	const char *arch;
	const char *const *names;
	unsigned nr;
} reg_names[] = {
	{ "x86_64", x86_regs, NR(x86_regs) },
	{ "aarch64", arm64_regs, NR(arm64_regs) },
};

const char *
register_name(const char *arch, unsigned number)
{
	for (size_t i = 0; arch && i < NR(reg_names); i++)
		if (strcmp(arch, reg_names[i].arch) == 0 && number < reg_names[i].nr)
			return reg_names[i].names[number];
	return NULL;
}

static uint64_t
register_bit(const char *arch, uint64_t allowed, const char *word, size_t bytes)
{
	for (unsigned i = 0; i < 64; i++) {
		const char *name = allowed >> i & 1 ? register_name(arch, i) : NULL;

		if (name && strlen(name) == bytes && strncasecmp(name, word, bytes) == 0)
			return UINT64_C(1) << i;
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

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/stored/stored_plt.h"

#include <elf.h>
#include <string.h>

#include <bsd/sys/endian.h>

#define LONGEST 12 /* with what stands for an address */

/* The bytes of an instruction, and how many follow for an address or a number. */
struct instruction {
	const char *bytes;
	uint8_t n, more;
};

/* As GNU ld, gold, lld and mold have them; longer ones first. */
static const struct instruction of_x86[] = {
	{ "\xf3\x0f\x1e\xfa", 4, 0 },	      /* endbr64 */
	{ "\xf3\x0f\x1e\xfb", 4, 0 },	      /* endbr32 */
	{ "\x66\x66\x2e\x0f\x1f\x84", 6, 5 }, /* nops */
	{ "\x66\x2e\x0f\x1f\x84", 5, 5 },
	{ "\x2e\x0f\x1f\x84", 4, 5 },
	{ "\x66\x0f\x1f\x84", 4, 5 },
	{ "\x0f\x1f\x84", 3, 5 },
	{ "\x0f\x1f\x80", 3, 4 },
	{ "\x66\x0f\x1f\x44", 4, 2 },
	{ "\x0f\x1f\x44", 3, 2 },
	{ "\x0f\x1f\x40", 3, 1 },
	{ "\x0f\x1f\x00", 3, 0 },
	{ "\x0f\xae\xe8", 3, 0 },     /* lfence */
	{ "\x4c\x89\x1c\x24", 4, 0 }, /* mov %r11,(%rsp) */
	{ "\x4c\x8b\x1d", 3, 4 },     /* mov distance(%rip),%r11 */
	{ "\x41\xff\xe3", 3, 0 },     /* jmp *%r11 */
	{ "\x41\xbb", 2, 4 },	      /* mov number,%r11d */
	{ "\x41\x53", 2, 0 },	      /* push %r11 */
	{ "\xff\x25", 2, 4 },	      /* jmp *address */
	{ "\xff\xa3", 2, 4 },	      /* jmp *distance(%ebx) */
	{ "\xff\x35", 2, 4 },	      /* push address */
	{ "\xff\xb3", 2, 4 },	      /* push distance(%ebx) */
	{ "\xf3\x90", 2, 0 },	      /* pause */
	{ "\x66\x90", 2, 0 },
	{ "\xf2", 1, 0 }, /* bnd, before a jump */
	{ "\x68", 1, 4 }, /* push number */
	{ "\xe9", 1, 4 }, /* jmp */
	{ "\xe8", 1, 4 }, /* call */
	{ "\xeb", 1, 1 },
	{ "\x90", 1, 0 },
	{ "\xcc", 1, 0 },
	{ "\xc3", 1, 0 },
	{ "\x00", 1, 0 }, /* what fills up */
};

/* How long the instruction is; 0: it is none of these. */
static size_t
x86_length(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < sizeof(of_x86) / sizeof(of_x86[0]); i++) {
		const struct instruction *at = &of_x86[i];

		if (at->n + at->more <= (int)n && memcmp(p, at->bytes, at->n) == 0)
			return (size_t)at->n + at->more;
	}
	return 0;
}

static size_t
aarch64_length(const uint8_t *p, size_t n)
{
	static const struct {
		uint32_t mask, value;
	} words[] = {
		{ 0x9f000000, 0x90000000 }, /* adrp */
		{ 0xbfc00000, 0xb9400000 }, /* ldr, of 4 and 8 bytes */
		{ 0xffc00000, 0x91000000 }, /* add */
		{ 0xfffffc1f, 0xd61f0000 }, /* br */
		{ 0xffffffff, 0xd503245f }, /* bti c */
		{ 0xffffffff, 0xd503219f }, /* autia1716 */
		{ 0xffffffff, 0xd503201f }, /* nop */
		{ 0xffffffff, 0xa9bf7bf0 }, /* stp x16, x30, [sp, #-16]! */
		{ 0xffffffff, 0x00000000 },
	};

	for (size_t i = 0; n >= 4 && i < sizeof(words) / sizeof(words[0]); i++)
		if ((le32dec(p) & words[i].mask) == words[i].value)
			return 4;
	return 0;
}

bool
stored_plt_fits(uint16_t machine, struct stored_window *w, uint64_t at, uint64_t n)
{
	const uint64_t end = at + n;

	if (machine != EM_X86_64 && machine != EM_386 && machine != EM_AARCH64)
		return false;
	while (at < end) {
		const size_t most = end - at < LONGEST ? (size_t)(end - at) : LONGEST;
		const uint8_t *p = stored_window_get(w, at, most);
		const size_t length = !p	? 0
			: machine == EM_AARCH64 ? aarch64_length(p, most)
						: x86_length(p, most);

		if (length == 0)
			return false;
		at += length;
	}
	return true;
}

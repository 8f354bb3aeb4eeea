/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as .eh_frame, any table that leads into it, and any bytes as a stack: a walk ends, within its bounds. Machine,
 * registers and lengths come first.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/unwind/unwind.h"
#include "tests/lab/frame_image.h"

#define BASE UINT64_C(0x7ffd00000000)
#define EH_FRAME_MAX 32768
#define TABLE_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool
find(void *arg, uint64_t ip, struct unwind_code *ret)
{
	*ret = (struct unwind_code){ .cfi = arg, .vaddr = ip };
	if (ip >> 32 == 1)
		ret->cfi = NULL;
	return ip - FRAME_IMAGE_CODE < FRAME_IMAGE_CODE_BYTES || ip >> 32 == 1;
}

/* Every rule of every function, as whoever samples there would get it. */
static void
look_around(struct cfi *cfi)
{
	struct cfi_function f, before = { 0 };
	uint32_t rule;

	for (size_t i = 0; cfi_function(cfi, i, &f); i++) {
		if (f.start < before.end || f.end <= f.start ||
		    cfi_find(cfi, f.end - 1, &rule) == 0)
			abort();
		before = f;
	}
}

static void
walk(struct cfi *cfi, struct span *s, uint64_t ip)
{
	struct unwind_sample sample = { .arch = cfi_arch(cfi), .ip = FRAME_IMAGE_CODE + ip };
	struct unwinder *u = unwinder_new();
	const struct unwind_frame *frames;
	uint16_t offset;
	size_t nr;

	/* Registers point into the stack, or near it. */
	for (unsigned i = 0; i < CFI_REGISTERS && span_u16(s, &offset); i++)
		cfi_register_set(&sample.registers, i, BASE - 256 + offset);
	cfi_register_set(&sample.registers, sample.arch->sp, BASE);
	sample.stack = (struct stack_copy){ .bytes = *s, .base = BASE };
	if (!u || unwind(u, &sample, find, cfi, &frames, &nr) < 0 || nr == 0 ||
	    nr > UNWIND_FRAMES_MAX)
		abort();
	unwinder_free(u);
}

/* The same file, which stays open, by a table of what comes next. */
static void
walk_opened(uint8_t *image, size_t size, struct span *s, uint64_t ip)
{
	int32_t pairs[TABLE_MAX][2];
	struct elf_object *o;
	struct cfi *cfi;
	uint16_t code, fde;
	uint32_t rule;
	uint8_t nr;
	size_t n = 0;

	if (!span_u8(s, &nr))
		return;
	for (; n < nr % (TABLE_MAX + 1) && span_u16(s, &code) && span_u16(s, &fde); n++) {
		pairs[n][0] = (int32_t)FRAME_IMAGE_CODE + code;
		pairs[n][1] = FRAME_IMAGE_HEAD + fde;
	}
	size = frame_image_table(image, size, pairs, n);
	if (elf_object_open_memory(image, size, &o) != 0)
		abort();
	if (cfi_open(o, SIZE_MAX, NULL, &cfi) == 0) {
		for (size_t i = 0; i < n; i++)
			(void)cfi_find(cfi, (uint64_t)pairs[i][0] + i, &rule);
		walk(cfi, s, ip);
		cfi_free(cfi);
	}
	elf_object_close(o);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t image[FRAME_IMAGE_HEAD + EH_FRAME_MAX + 12 + TABLE_MAX * 8];
	struct span s = span_of(data, size), eh_frame;
	struct elf_object *o;
	uint16_t length, ip;
	struct cfi *cfi;
	uint8_t machine;

	if (!span_u8(&s, &machine) || !span_u16(&s, &ip) || !span_u16(&s, &length) ||
	    length > EH_FRAME_MAX || !span_take(&s, length, &eh_frame))
		return 0;
	size = frame_image(image, machine & 1 ? EM_AARCH64 : EM_X86_64, eh_frame.p, eh_frame.len);
	if (elf_object_open_memory(image, size, &o) != 0)
		abort();
	if (cfi_new(o, NULL, &cfi) == 0) {
		look_around(cfi);
		walk(cfi, &s, ip);
		cfi_free(cfi);
	}
	elf_object_close(o);
	walk_opened(image, size, &s, ip);
	return 0;
}

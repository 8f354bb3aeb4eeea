/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/unwind/signal_frame.h"

/* Where a machine's registers are among those that were saved. */
struct saved {
	uint16_t ip;
	uint8_t nr;
	uint8_t word[CFI_REGISTERS]; /* of each DWARF register: which word it is */
};

static const struct saved x86_64 = {
	.ip = 16,
	.nr = 16,
	.word = { 13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7 },
};
/* Behind four words of segment registers. */
static const struct saved i386 = {
	.ip = 14,
	.nr = 8,
	.word = { 11, 10, 9, 8, 7, 6, 5, 4 },
};
static const struct saved aarch64 = {
	.ip = 32,
	.nr = 32,
	.word = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
		  16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31 },
};

struct frame_layout {
	uint8_t popped;	   /* bytes that the first instruction takes off the stack, */
	uint8_t popped_at; /* and how long that is */
	uint16_t context; /* from the stack pointer at the first instruction to the saved registers */
	const struct saved *saved;
};

static const struct frame_layout layouts[] = {
	/* The stack pointer is at a struct ucontext. */
	[SIGNAL_X86_64_RT] = { .context = 40, .saved = &x86_64 },
	/* Behind number, two pointers, a siginfo and 20 bytes of a ucontext. */
	[SIGNAL_I386_RT] = { .context = 12 + 128 + 20, .saved = &i386 },
	/* Behind the number of the signal. */
	[SIGNAL_I386] = { .popped = 4, .popped_at = 1, .context = 4, .saved = &i386 },
	/* Behind a siginfo, 176 bytes of a ucontext and the address of a fault. */
	[SIGNAL_AARCH64_RT] = { .context = 128 + 176 + 8, .saved = &aarch64 },
};

bool
signal_frame_registers(const struct signal_code *code, uint64_t offset, uint64_t sp,
		       struct stack_copy *stack, struct cfi_registers *ret, uint64_t *ret_ip)
{
	const struct frame_layout *l = &layouts[code->kind];
	const uint64_t word = stack->narrow ? 4 : 8;
	const uint64_t at = sp + l->context - (offset >= l->popped_at ? l->popped : 0);
	struct cfi_registers r = { .known = 0 };
	uint64_t value, ip;

	if (!stack_copy_word(stack, at + l->saved->ip * word, &ip))
		return false;
	for (unsigned i = 0; i < l->saved->nr; i++) {
		if (!stack_copy_word(stack, at + l->saved->word[i] * word, &value))
			return false;
		cfi_register_set(&r, i, value);
	}
	*ret = r;
	*ret_ip = ip;
	return true;
}

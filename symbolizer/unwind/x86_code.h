/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86_code: how long an instruction of x86 is, and what it does to the stack and to the flow of control. What else it
 * does is left out.
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2 and appendix A.
 */
#ifndef SYMBOLIZER_UNWIND_X86_CODE_H
#define SYMBOLIZER_UNWIND_X86_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "format/bytes/span.h"

#define X86_SP 4
#define X86_FP 5
#define X86_NO_REGISTER 0xff

/* Registers are numbered as instructions do: ax, cx, dx, bx, sp, bp, si, di, r8 to r15. */
enum x86_kind {
	X86_OTHER,	  /* it leaves the stack pointer as it is */
	X86_PUSH,	  /* a word */
	X86_POP,	  /* a word, into reg */
	X86_ADD,	  /* value, to reg */
	X86_AND,	  /* value, with reg */
	X86_MOVE,	  /* base + value, into reg: mov, lea */
	X86_LOAD,	  /* the word at base + value, into reg */
	X86_LOSE,	  /* the stack pointer becomes what nothing here can tell */
	X86_LEAVE,	  /* the frame pointer's stack; pops it */
	X86_RETURN,	  /* value: bytes of arguments that it takes off the stack */
	X86_CALL,	  /* near; target, where is_direct */
	X86_JUMP,	  /* to target */
	X86_BRANCH,	  /* to target, or on */
	X86_JUMP_THROUGH, /* to what is in memory at a fixed address: linkage */
	X86_JUMP_AWAY,	  /* to what nothing here can tell */
	X86_HALT,	  /* hlt, which only the kernel may do: never reached */
	X86_TRAP,	  /* likewise, of what a compiler holds impossible */
};

struct x86_code {
	enum x86_kind kind;
	uint8_t len;
	uint8_t reg, base;
	bool is_direct;
	int64_t value;
	uint64_t target;
};

/*
 * The instruction that bytes begin with, which are at vaddr; narrow: of 32-bit code. False: they are none, or one
 * that no compiler makes.
 */
bool x86_code_read(struct span bytes, uint64_t vaddr, bool narrow, struct x86_code *ret);

/* Do the last bytes of code end with a call? */
bool x86_code_ends_with_call(struct span bytes);

#endif

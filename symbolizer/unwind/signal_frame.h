/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * signal_frame: what a kernel saved on the stack before it ran a signal's handler, by the code that puts it back
 * (elf_signal.h).
 * Source: Linux, arch/{x86,arm64}/include/uapi/asm/sigcontext.h, ucontext.h, arch/x86/include/asm/sigframe.h.
 */
#ifndef SYMBOLIZER_UNWIND_SIGNAL_FRAME_H
#define SYMBOLIZER_UNWIND_SIGNAL_FRAME_H

#include "symbolizer/object/elf_signal.h"
#include "symbolizer/unwind/cfi_expression.h"

/*
 * The registers of what was interrupted, from the stack of a thread that is offset bytes into the code. False: the
 * memory that has them was not copied.
 */
bool signal_frame_registers(const struct signal_code *code, uint64_t offset, uint64_t sp,
			    struct stack_copy *stack, struct cfi_registers *ret, uint64_t *ret_ip);

#endif

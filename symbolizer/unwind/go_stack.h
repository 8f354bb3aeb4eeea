/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * go_stack: the functions of Go's runtime at which a stack ends. A goroutine begins in goexit(), a thread in mstart() or
 * rt0_go(). mcall(), morestack(), systemstack() and asmcgocall() change to another stack before they call: what they
 * called has no caller on its own; gogo() changes to one and jumps. A signal handler, which has a stack of its own,
 * returns to sigreturn().
 * None of that is in call frame information: it says that the caller is where another stack would have it.
 * Source: go, src/runtime/asm_amd64.s, sys_linux_amd64.s; traceback.go, topofstack().
 */
#ifndef SYMBOLIZER_UNWIND_GO_STACK_H
#define SYMBOLIZER_UNWIND_GO_STACK_H

enum go_stack_end {
	GO_STACK_GOES_ON,
	GO_STACK_ENDS,
	GO_STACK_SIGNAL /* also behind a return to its beginning */
};

/* By a function's name, "runtime.mcall" or "runtime.mcall.abi0"; NULL: it goes on. */
enum go_stack_end go_stack_end_of(const char *name);

#endif

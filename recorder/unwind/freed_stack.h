/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * freed_stack: samples of a thread in execve(2) or exit(2) after its stack was freed there. Its registers still lead to that
 * stack, and in execve(2) the memory is already that of the new program.
 */
#ifndef RECORDER_UNWIND_FREED_STACK_H
#define RECORDER_UNWIND_FREED_STACK_H

#include <stdbool.h>

#include "format/bytes/span.h"

struct kallsyms;

/* Is one of these system calls in the kernel's part of the call chain (words)? k may be NULL: then it is not known. */
bool freed_stack(const struct kallsyms *k, struct span chain);

#endif

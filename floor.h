/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The oldest compilers and C libraries that this tree is built with: a plain word instead of the errors
 * that would follow. Every compilation includes this file first (-include). Libraries are the Makefile's
 * to ask for, the kernel is the recorder's; README.md has all of them.
 */
#ifndef FLOOR_H
#define FLOOR_H

#include <features.h>

#if defined(__clang__)
#if __clang_major__ < 8
#error "spoor is built by clang 8 or newer, or gcc 7 or newer"
#endif
#elif defined(__GNUC__) && __GNUC__ < 7
#error "spoor is built by gcc 7 or newer, or clang 8 or newer"
#endif

/* statx(), renameat2() */
#if defined(__GLIBC__)
/* Not in the #if above, which is parsed to its end: musl has no such macro. */
#if !__GLIBC_PREREQ(2, 28)
#error "spoor needs glibc 2.28 or newer"
#endif
#endif

#endif

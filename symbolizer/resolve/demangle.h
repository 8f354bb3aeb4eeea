/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * demangle: C++ and Rust (legacy and v0) names as their authors wrote them.
 *
 * Hostile names are expected: input, output and time are bounded, and a name that would go over
 * a bound is left as it is.
 */
#ifndef SYMBOLIZER_RESOLVE_DEMANGLE_H
#define SYMBOLIZER_RESOLVE_DEMANGLE_H

#include <stddef.h>

#define DEMANGLE_INPUT_MAX 4096	  /* the demangler's recursion is as deep as this, at worst */
#define DEMANGLE_OUTPUT_MAX 16384 /* substitutions can make a short name exponentially long */

enum demangle_style {
	DEMANGLE_SHORT, /* "n::f<int>": no parameters, no ".cold" and the like, as perf prints */
	DEMANGLE_FULL,	/* "int n::f<int>(int) [clone .cold]", as c++filt prints */
};

/*
 * Demangles the NUL-terminated name into out (NUL-terminated). Returns the length, or 0
 * when the name is not mangled, or cannot be demangled within cap bytes.
 *
 * Rust's legacy hash ("::h0123456789abcdef") and LLVM's ".llvm.NNN" are dropped.
 */
size_t demangle(const char *name, enum demangle_style style, char *out, size_t cap);

/*
 * As demangle(), of a maker of names: *cut has how many of them were given up because they took long, 0 at first. When
 * these are many, long ones stay as they are.
 */
size_t demangle_patiently(const char *name, enum demangle_style style, char *out, size_t cap,
			  unsigned *cut);

#endif

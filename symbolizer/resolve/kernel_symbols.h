/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_symbols: the kernel's names, as they came along with the recording.
 *
 * Parts of /proc/kallsyms arrive in KSYMS blocks and add up; KSYMBOL records come and go in
 * time order. Every symbol has its own end, so that what is not here names nothing. Those of a module
 * are right while it is there: MMAP records say which one is where, KSYMBOL records which are gone. A
 * recording without such records has each module at its place all the time.
 */
#ifndef SYMBOLIZER_RESOLVE_KERNEL_SYMBOLS_H
#define SYMBOLIZER_RESOLVE_KERNEL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/record/perf_record.h"
#include "symbolizer/text/intern.h"

#define KERNEL_DSO "[kernel.kallsyms]"

/* Linux has 200,000 with all its modules, and an entry for each BPF program. */
#define KERNEL_SYMBOLS_MAX (1u << 20)

struct kernel_symbols;

/* Names and objects are interned in strings, which has to live longer. NULL: out of memory. */
struct kernel_symbols *kernel_symbols_new(struct intern *strings);
void kernel_symbols_free(struct kernel_symbols *k);

/* Adds the payload of a KSYMS block. -FMT_E_CORRUPT after what could be read, -FMT_E_NOMEM. */
int kernel_symbols_add_block(struct kernel_symbols *k, struct span payload);
/* A MMAP record: of the kernel's, a module is there from now on. 0, -FMT_E_NOMEM. */
int kernel_symbols_map(struct kernel_symbols *k, const struct perf_mmap *map);
/* A KSYMBOL record: a symbol that is there from now on, or no more; or a module that is gone. */
int kernel_symbols_apply(struct kernel_symbols *k, const struct perf_record *record);

struct kernel_symbol {
	uint64_t start, end;
	const char *name;
	/* KERNEL_DSO, "[module]"; the symbol's own name for BPF programs and trampolines */
	const char *dso;
};

bool kernel_symbols_find(const struct kernel_symbols *k, uint64_t address,
			 struct kernel_symbol *ret);
/*
 * The name of a frame. A return address is looked up by the byte before it. But a retpoline leaves the start of the
 * function that it jumps to where return addresses are. The byte before that is in the function's padding
 * (kallsyms_prefix()), in which nothing is called: such an address means the function.
 */
bool kernel_symbols_find_frame(const struct kernel_symbols *k, uint64_t ip, bool is_return,
			       struct kernel_symbol *ret);
/* The first symbol that begins at address or behind it; false: there is none. */
bool kernel_symbols_next(const struct kernel_symbols *k, uint64_t address,
			 struct kernel_symbol *ret);
/* "[module]", what a module's symbols are in; interned. NULL: out of memory. */
const char *kernel_symbols_dso(struct intern *strings, const char *module, size_t len);
uint64_t kernel_symbols_left_out(const struct kernel_symbols *k); /* over KERNEL_SYMBOLS_MAX */

#endif

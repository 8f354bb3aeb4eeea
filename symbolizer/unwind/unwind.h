/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind: the registers and the copied stack of a sample into addresses, caller by caller.
 *
 * Each step takes the rule of the instruction (cfi). Where there is none, or it makes no sense: the
 * frame pointer, when it points into the copy and leads to code; of an instruction that was
 * interrupted, the return address where a call has just left it; else the walk stops and says why.
 * The stack pointer only goes up, so that every walk ends.
 */
#ifndef SYMBOLIZER_UNWIND_UNWIND_H
#define SYMBOLIZER_UNWIND_UNWIND_H

#include "format/block/unwind_stops.h"
#include "format/record/perf_record.h"
#include "symbolizer/unwind/cfi.h"
#include "symbolizer/unwind/cfi_expression.h"

#define UNWIND_FRAMES_MAX 1024

struct unwind_frame {
	uint64_t ip;
	bool is_return; /* ip follows a call: the byte before it is of the call */
};

/* What is at an address of code. */
struct unwind_code {
	struct cfi *cfi; /* NULL: there is none; else it lives until the unwinder forgets it */
	uint64_t vaddr;	 /* the address as in its file */
	bool frameless;	 /* a call leads to it, and it leaves the stack as the call did */
};
/* False: no code is mapped there. */
typedef bool unwind_find_fn(void *arg, uint64_t ip, struct unwind_code *ret);

struct unwind_sample {
	const struct cfi_arch *arch;
	uint64_t ip;
	struct cfi_registers registers;
	struct stack_copy stack;
	bool is_short; /* the kernel copied less than was asked for: to a page that was never touched */
};

/*
 * Of a sample's registers of the user and its stack, as of perf_record. False: it has none of a
 * process with addresses as long as arch's.
 */
bool unwind_sample_of(const struct cfi_arch *arch, const struct perf_sample *s,
		      struct unwind_sample *ret);

/* Keeps frames, and rules of late by their addresses. */
struct unwinder;
struct unwinder *unwinder_new(void); /* NULL: out of memory */
void unwinder_free(struct unwinder *u);
/* This one is freed now; not while unwind() runs. */
void unwinder_forget(struct unwinder *u, const struct cfi *cfi);

/*
 * The frames of a sample, its ip first; they are u's until the next call. An enum unwind_stop, or
 * -FMT_E_NOMEM.
 */
int unwind(struct unwinder *u, const struct unwind_sample *s, unwind_find_fn *find, void *arg,
	   const struct unwind_frame **ret, size_t *ret_nr);
/* How many bytes of the copied stack the last one needed. */
uint64_t unwinder_used(const struct unwinder *u);

#endif

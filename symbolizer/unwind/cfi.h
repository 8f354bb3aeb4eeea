/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cfi: the call frame information of one ELF file: .eh_frame, and .debug_frame for what only that
 * knows (Go). The rows of an FDE are compiled when it is first asked for.
 *
 * A file is read at once (cfi_new()): all FDEs are indexed, and sections and code without FDEs are copied. Or it stays open
 * (cfi_open()): FDEs and code are read when a walk asks.
 *
 * No lock: threads that share one need one.
 */
#ifndef SYMBOLIZER_UNWIND_CFI_H
#define SYMBOLIZER_UNWIND_CFI_H

#include "symbolizer/object/elf_reader.h"
#include "symbolizer/object/elf_signal.h"
#include "symbolizer/unwind/cfi_rows.h"
#include "symbolizer/unwind/stack_copy.h"

struct cfi;

/*
 * Of an object, which is not needed after that; .debug_frame may be in the file with its debug
 * information (NULL: there is none) instead. One that has no call frame information gives an empty
 * one. 0, -FMT_E_UNSUPPORTED (a machine that cfi_arch does not know), -FMT_E_TRUNCATED, -FMT_E_IO,
 * -FMT_E_CORRUPT, -FMT_E_TOO_BIG, -FMT_E_NOMEM.
 */
int cfi_new(struct elf_object *o, struct elf_object *debug, struct cfi **ret);
/* Likewise, where its sections and their index take max bytes at most: -FMT_E_TOO_BIG as soon as they are more. */
int cfi_new_max(struct elf_object *o, struct elf_object *debug, size_t max, struct cfi **ret);

/*
 * Of an object whose file stays open; the object is not needed after that. The table, and what is believed of the section,
 * have max bytes at most. budget (NULL: none) is of what is read later: where it is spent, functions below fail as without
 * memory, and may be asked again. 0; -FMT_E_EMPTY: there is no table, or another section knows more (.debug_frame, Go);
 * -FMT_E_CORRUPT: the table is damaged. After these two cfi_new() may succeed. Else as cfi_new().
 */
int cfi_open(struct elf_object *o, size_t max, struct elf_budget *budget, struct cfi **ret);

/* Code that no file has: eh_frame is copied. */
struct cfi_made {
	uint64_t start, size;
	struct span eh_frame;
	uint64_t eh_frame_vaddr;
};
/* 0, -FMT_E_TOO_BIG, -FMT_E_NOMEM. */
int cfi_new_made(const struct cfi_arch *arch, const struct cfi_made *made, struct cfi **ret);
void cfi_free(struct cfi *c);

const struct cfi_arch *cfi_arch(const struct cfi *c);
/* Memory that it takes. Rows grow; of an open file so do the FDEs and the code that were read. */
size_t cfi_bytes(const struct cfi *c);
/* Frees the copies of code without call frame information, which then is followed by frame pointers alone. An open file has none. */
void cfi_drop_gaps(struct cfi *c);

/*
 * Is it where the file is started? That has no caller, and glibc's dynamic linker has no rule there
 * that says so.
 */
bool cfi_is_entry(const struct cfi *c, uint64_t vaddr);

/*
 * Does the stack end with the frame of this instruction, as Go's runtime has it (go_stack.h)? is_return: it is a call,
 * and vaddr its last byte.
 */
bool cfi_ends_stack(const struct cfi *c, uint64_t vaddr, bool is_return);

/*
 * The code that a signal handler returns to, where no FDE has it and its bytes tell (elf_signal.h), and how far into it
 * the instruction at vaddr is; is_return: vaddr is the byte before, which made no call. *ret is NULL: it is none. 0,
 * -FMT_E_NOMEM.
 */
int cfi_signal_code(struct cfi *c, uint64_t vaddr, bool is_return, const struct signal_code **ret,
		    uint64_t *ret_offset);

/*
 * The number of the rule for the instruction at vaddr: 1; 0: no FDE has it; or negative: its FDE is
 * damaged or not understood (-FMT_E_CORRUPT, -FMT_E_UNSUPPORTED, -FMT_E_TOO_BIG), -FMT_E_NOMEM.
 */
int cfi_find(struct cfi *c, uint64_t vaddr, uint32_t *ret_rule);
/* Its places, until the next cfi_find(). */
struct cfi_rule cfi_rule(const struct cfi *c, uint32_t number);
/* The bytes of a place's expression; likewise. */
struct span cfi_expression(const struct cfi *c, const struct cfi_place *place);

/*
 * The code without FDE (x86 alone) from an address to its end; of an open file at least 16 bytes, or all up to the end.
 * Empty: an FDE covers the address, or it is no code. Valid until the next call.
 */
struct span cfi_gap_from(struct cfi *c, uint64_t vaddr);
/* Likewise the code before an address, which may be the end of the code without FDE. */
struct span cfi_gap_before(struct cfi *c, uint64_t vaddr);
/* Is it a function that ends the thread or the process, and that such code may call? */
bool cfi_never_returns(struct cfi *c, uint64_t vaddr);

/*
 * Is it where an FDE begins that has none before it? Code that calls nothing there and has it as its return address
 * was pushed there: a coroutine of makecontext() returns to __start_context().
 */
bool cfi_begins_apart(struct cfi *c, uint64_t vaddr);

/* FDE i of one that cfi_new() made, by address: its code, and where in its section it stands. False: there are no more. */
struct cfi_function {
	uint64_t start, end;
	bool is_eh;
	size_t offset;
};
bool cfi_function(const struct cfi *c, size_t i, struct cfi_function *ret);

#endif

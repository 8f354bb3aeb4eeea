/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_memory: divides the memory that is shared with the unwinder among the stacks that wait.
 *
 * Stacks come and go in nearly the same order, so the memory is a row of blocks, each filled from its beginning, and free
 * again when its last stack is given back. The lowest free block is taken next: no more memory is touched than stacks
 * need at the same time, whatever the memory's size.
 */
#ifndef RECORDER_UNWIND_STACK_MEMORY_H
#define RECORDER_UNWIND_STACK_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STACK_MEMORY_BLOCKS 64
#define STACK_MEMORY_BLOCK_MIN                                                                     \
	(128u << 10) /* bytes: more than the largest stack with its registers */

struct stack_block {
	uint32_t used;	 /* bytes, from its beginning */
	uint32_t stacks; /* that are in it */
	uint64_t busy; /* the unwinder may write to it until it has taken so much; 0: it does not */
};

struct stack_memory {
	uint32_t block_bytes;
	uint32_t nr, filling;
	bool any_busy;
	struct stack_block v[STACK_MEMORY_BLOCKS];
};

void stack_memory_init(struct stack_memory *m, uint64_t bytes);

/* Room for a stack, at a multiple of 8 from the beginning of the memory; bytes is one as well. False: there is none. */
bool stack_memory_take(struct stack_memory *m, uint32_t bytes, uint64_t *ret_at);
/* The stack that was taken last was none: its room is free again. */
void stack_memory_untake(struct stack_memory *m, uint64_t at);
/* busy: the unwinder may write to it until it has taken so much (0: it does not). */
void stack_memory_give_back(struct stack_memory *m, uint64_t at, uint64_t busy);
/* The unwinder has taken so much, or is gone (UINT64_MAX). */
void stack_memory_taken(struct stack_memory *m, uint64_t taken);

#endif

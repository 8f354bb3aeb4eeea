/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stack_walks: entries of the ring carried out: files are numbered, address spaces replaced, stacks answered. */
#ifndef SYMBOLIZER_UNWINDER_STACK_WALKS_H
#define SYMBOLIZER_UNWINDER_STACK_WALKS_H

#include "symbolizer/unwinder/numbered_files.h"
#include "symbolizer/unwinder/numbered_spaces.h"

/*
 * Files that are read for one stack, and for how long others wait for that. One that needs more than fit together is not
 * walked.
 */
#define STACK_WALKS_READS_MAX 16
#define STACK_WALKS_READS_NS UINT64_C(250000000)

struct stack_walks;

/*
 * For stacks of a machine (uname -m), with what the ring is told of; reads the vDSO of this process, from /proc.
 * NULL: out of memory, or a machine that is not known.
 */
struct stack_walks *stack_walks_new(const char *machine, struct unwind_ring *ring,
				    size_t descriptors_max);
void stack_walks_free(struct stack_walks *w);

struct numbered_files *stack_walks_files(struct stack_walks *w);
/* An entry that unwind_ring_next() gave; a stack is answered in its place. */
void stack_walks_take(struct stack_walks *w, struct unwind_entry *e);
/* Tells the recorder the CPU time of this process; by it users are charged, so it is called every few entries. */
void stack_walks_tell(struct stack_walks *w);

#endif

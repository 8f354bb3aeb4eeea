/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_size: how many bytes of a user's stack samples copy, as the walks of these copies need it.
 *
 * The drain opens the events, and says with which size. The writer thread counts what each walk used, and says which
 * size would do. What goes between both is atomic.
 */
#ifndef RECORDER_UNWIND_STACK_SIZE_H
#define RECORDER_UNWIND_STACK_SIZE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* 4, 8, 16 and 32 KiB, and what fits into a record with a long call chain, whose size has 16 bits. */
#define STACK_SIZES_NR 5

struct stack_size {
	/* Set by the drain; 0: the size is fixed, and nothing is counted. */
	_Atomic uint32_t bytes;
	/* Set by the writer thread; 0: it has nothing to say. */
	_Atomic uint32_t wanted;
	/* The writer thread's: */
	uint32_t counted;   /* the size that the rest is of */
	uint64_t from_ns;   /* since when */
	unsigned too_small; /* how often it had to become larger */
	uint64_t recent,
		recent_cut; /* walks, and those of them that ended at the end of the copy */
	uint64_t all;	    /* walks of that size */
	uint64_t fit[STACK_SIZES_NR]; /* of these, those that such a copy would do for, and no smaller one */
};

/* The largest of the sizes that is at most so large; the smallest one where none is. */
uint32_t stack_size_within(uint64_t bytes);

/*
 * The writer thread: a copy was walked, which needed so many of its bytes (used), or more than the asked bytes (cut).
 * What was cut of another size than that of now is not counted.
 */
void stack_size_count(struct stack_size *s, uint32_t asked, uint32_t used, bool cut,
		      uint64_t now_ns);

#endif

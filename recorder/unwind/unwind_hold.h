/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind_hold: samples in the order in which they came, until the stacks of those before them are unwound; and, between
 * them, the ends of passes, which promise that all older records have been given.
 *
 * Bounded: of samples by bytes, of stacks by the memory that is shared with the unwinder, of which it knows where in it
 * they lie.
 */
#ifndef RECORDER_UNWIND_UNWIND_HOLD_H
#define RECORDER_UNWIND_UNWIND_HOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bytes/buf.h"
#include "recorder/unwind/stack_memory.h"

#define UNWIND_HOLD_BYTES (16u << 20) /* of records that are held */

enum held_state {
	HELD_READY,  /* as it is */
	HELD_WAITS,  /* for the model, to come to its time */
	HELD_PLACED, /* its address space is known, but for files */
	HELD_GIVEN,  /* to the unwinder */
};

struct held {
	enum held_state state;
	uint64_t time_ns;  /* of the sample; or of a pass */
	uint64_t since_ns; /* when it came */
	size_t at;	   /* of its bytes */
	uint32_t bytes;	   /* 0: the end of a pass */
	uint32_t pid;
	uint64_t stack_at;    /* in the memory for stacks */
	uint32_t stack_bytes; /* 0: it has none there */
	uint32_t asked_bytes; /* of the stack, that the event copies */
	uint32_t space;
	/*
	 * GIVEN: how much the unwinder has taken when the answer is there. READY: how much it has taken when it writes no more
	 * to the stack (0: it does not). PLACED: the number of the last question for a file that it waits for.
	 */
	uint64_t place;
};

struct unwind_hold {
	struct held *v;
	size_t first, nr, cap;
	struct buf bytes;
	size_t first_byte;
	struct stack_memory stacks;
};

/* All zero but for stacks (stack_memory_init()): an empty one. */
void unwind_hold_done(struct unwind_hold *h);

/* Another one behind the last, without bytes; NULL: no room. */
struct held *unwind_hold_add(struct unwind_hold *h);
/* Its bytes go behind the last ones, into the buf that this gives; then unwind_hold_end_bytes(). */
struct buf *unwind_hold_bytes(struct unwind_hold *h, struct held *of);
void unwind_hold_end_bytes(struct unwind_hold *h, struct held *of);
/* The one that was added last was none. */
void unwind_hold_unadd(struct unwind_hold *h);
/* Is there room for more records? */
bool unwind_hold_has_room(const struct unwind_hold *h);

/* Room for the stack of the one that was added last: it is given back with it. False: there is none. */
bool unwind_hold_take_stack(struct unwind_hold *h, struct held *of, uint32_t bytes);

/* The i-th from the oldest on; NULL: there are no more. */
static inline struct held *
unwind_hold_at(const struct unwind_hold *h, size_t i)
{
	return i < h->nr ? &h->v[h->first + i] : NULL;
}
static inline struct span
unwind_hold_record(const struct unwind_hold *h, const struct held *of)
{
	return span_of(h->bytes.p + of->at, of->bytes);
}
/* Takes the oldest away. */
void unwind_hold_pop(struct unwind_hold *h);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/unwind/unwind_hold.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"

#define NR_MAX (1u << 20)

void
unwind_hold_done(struct unwind_hold *h)
{
	free(h->v);
	buf_done(&h->bytes);
	*h = (struct unwind_hold){ .v = NULL };
}

struct held *
unwind_hold_add(struct unwind_hold *h)
{
	/* What was taken away is at the front: it is closed up when it is half of all. */
	if (h->first > 0 && h->first >= h->nr) {
		memmove(h->v, h->v + h->first, h->nr * sizeof(*h->v));
		h->first = 0;
	}
	if (h->nr >= NR_MAX || array_reserve(h->v, h->first + h->nr, h->cap, 1) < 0)
		return NULL;
	h->v[h->first + h->nr] = (struct held){ .state = HELD_READY };
	return &h->v[h->first + h->nr++];
}

struct buf *
unwind_hold_bytes(struct unwind_hold *h, struct held *of)
{
	const size_t left = h->bytes.len - h->first_byte;

	if (h->first_byte > 0 && h->first_byte >= left) {
		memmove(h->bytes.p, h->bytes.p + h->first_byte, left);
		for (size_t i = 0; i + 1 < h->nr; i++)
			h->v[h->first + i].at -= h->first_byte;
		h->bytes.len = left;
		h->first_byte = 0;
	}
	of->at = h->bytes.len;
	return &h->bytes;
}

void
unwind_hold_end_bytes(struct unwind_hold *h, struct held *of)
{
	of->bytes = (uint32_t)(h->bytes.len - of->at);
}

void
unwind_hold_unadd(struct unwind_hold *h)
{
	const struct held *of = &h->v[h->first + --h->nr];

	if (of->stack_bytes)
		stack_memory_untake(&h->stacks, of->stack_at);
}

bool
unwind_hold_has_room(const struct unwind_hold *h)
{
	return h->bytes.len - h->first_byte < UNWIND_HOLD_BYTES && h->nr < NR_MAX;
}

bool
unwind_hold_take_stack(struct unwind_hold *h, struct held *of, uint32_t bytes)
{
	const uint32_t whole = (bytes + 7) & ~7u;

	if (!stack_memory_take(&h->stacks, whole, &of->stack_at))
		return false;
	of->stack_bytes = whole;
	return true;
}

void
unwind_hold_pop(struct unwind_hold *h)
{
	const struct held *of = &h->v[h->first];

	if (of->stack_bytes)
		stack_memory_give_back(&h->stacks, of->stack_at,
				       of->state == HELD_READY ? of->place : 0);
	if (of->bytes)
		h->first_byte = of->at + of->bytes;
	h->first++;
	h->nr--;
	if (h->nr == 0) {
		h->first = 0;
		h->first_byte = 0;
		h->bytes.len = 0;
	}
}

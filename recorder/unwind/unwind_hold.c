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
	*h = (struct unwind_hold){ .stacks = h->stacks };
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
	h->v[h->first + h->nr] = (struct held){ .stack_at = h->stack_head };
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

	/* The padding that was skipped before it is freed with the stacks before it. */
	if (of->stack_bytes)
		h->stack_head = of->stack_at;
}

bool
unwind_hold_has_room(const struct unwind_hold *h)
{
	return h->bytes.len - h->first_byte < UNWIND_HOLD_BYTES && h->nr < NR_MAX;
}

bool
unwind_hold_take_stack(struct unwind_hold *h, struct held *of, uint32_t bytes)
{
	const uint64_t whole = (bytes + UINT64_C(7)) & ~UINT64_C(7);
	const uint64_t rest = h->stacks - h->stack_head % h->stacks;
	const uint64_t pad = rest < whole ? rest : 0;

	if (whole > h->stacks || h->stack_head + pad + whole - h->stack_tail > h->stacks)
		return false;
	of->stack_at = h->stack_head + pad;
	of->stack_bytes = (uint32_t)whole;
	h->stack_head += pad + whole;
	return true;
}

void
unwind_hold_taken(struct unwind_hold *h, uint64_t taken)
{
	if (h->blocked > taken)
		return;
	h->blocked = 0;
	h->stack_tail = h->stack_wanted;
}

void
unwind_hold_pop(struct unwind_hold *h)
{
	const struct held *of = &h->v[h->first];

	if (of->stack_bytes)
		h->stack_wanted = of->stack_at + of->stack_bytes;
	if (of->bytes)
		h->first_byte = of->at + of->bytes;
	h->first++;
	h->nr--;
	if (h->nr == 0) {
		h->first = 0;
		h->first_byte = 0;
		h->bytes.len = 0;
		h->stack_wanted = h->stack_head;
	}
	if (!h->blocked)
		h->stack_tail = h->stack_wanted;
}

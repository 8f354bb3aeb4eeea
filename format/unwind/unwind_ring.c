/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/unwind/unwind_ring.h"

#include <stdatomic.h>
#include <string.h>

#define HEADER_BYTES 4096u

/* Each of them is written by one side. */
struct unwind_shared {
	_Alignas(64) _Atomic uint64_t head; /* the recorder's: release; what is before it is there */
	_Alignas(64) _Atomic uint64_t taken; /* the unwinder's: release; what is before it is done */
	_Atomic uint64_t cpu_ns;	     /* relaxed, each a fact of its own */
	_Atomic uint32_t reading;
};

bool
unwind_ring_init(struct unwind_ring *r, void *memory, size_t bytes)
{
	if (bytes <= UNWIND_RING_BYTES)
		return false;
	*r = (struct unwind_ring){ .shared = memory,
				   .entries = (uint8_t *)memory + HEADER_BYTES,
				   .bytes = UNWIND_RING_BYTES - HEADER_BYTES,
				   .stacks = (uint8_t *)memory + UNWIND_RING_BYTES,
				   .stacks_bytes = bytes - UNWIND_RING_BYTES };
	return true;
}

static void *
entry_at(const struct unwind_ring *r, uint64_t place)
{
	return r->entries + place % r->bytes;
}

/* --- the recorder ------------------------------------------------------------------------ */

uint64_t
unwind_ring_taken(const struct unwind_ring *r)
{
	/* Pairs with the release in unwind_ring_next(). */
	const uint64_t taken = atomic_load_explicit(&r->shared->taken, memory_order_acquire);

	return taken <= r->head ? taken : 0;
}

uint64_t
unwind_ring_room(const struct unwind_ring *r)
{
	return r->bytes - (r->head - unwind_ring_taken(r));
}

void *
unwind_ring_reserve(struct unwind_ring *r, enum unwind_kind kind, size_t bytes)
{
	const uint64_t whole = (bytes + 7) & ~UINT64_C(7);
	const uint64_t rest = r->bytes - r->head % r->bytes;
	const uint64_t pad = rest < whole ? rest : 0;
	struct unwind_entry *e;

	if (whole > r->bytes || r->head + pad + whole - unwind_ring_taken(r) > r->bytes)
		return NULL;
	if (pad) {
		e = entry_at(r, r->head);
		*e = (struct unwind_entry){ UNWIND_PAD, (uint32_t)pad };
		r->head += pad;
	}
	e = entry_at(r, r->head);
	*e = (struct unwind_entry){ (uint32_t)kind, (uint32_t)whole };
	r->reserved = whole;
	return e;
}

uint64_t
unwind_ring_publish(struct unwind_ring *r)
{
	r->head += r->reserved;
	r->reserved = 0;
	/* Pairs with the acquire in unwind_ring_next(). */
	atomic_store_explicit(&r->shared->head, r->head, memory_order_release);
	return r->head;
}

struct unwind_answer
unwind_ring_answer(const struct unwind_ring *r, uint64_t at, size_t bytes, uint64_t *addresses,
		   size_t cap)
{
	const struct unwind_answer none = { .stop = UNWIND_BUSY };
	struct unwind_answer a;

	if (bytes < sizeof(a))
		return none;
	memcpy(&a, r->stacks + at, sizeof(a));
	if (a.stop == UNWIND_NO_SPACE || a.stop == UNWIND_NO_FILE)
		return (struct unwind_answer){ .stop = a.stop, .used = a.used };
	if (a.stop >= UNWIND_BUSY || a.nr > (bytes - sizeof(a)) / sizeof(*addresses))
		return none;
	if (a.nr > cap)
		a.nr = (uint32_t)cap;
	if (a.nr > 0)
		memcpy(addresses, r->stacks + at + sizeof(a), a.nr * sizeof(*addresses));
	return a;
}

uint64_t
unwind_ring_cpu_ns(const struct unwind_ring *r)
{
	return atomic_load_explicit(&r->shared->cpu_ns, memory_order_relaxed);
}

uint32_t
unwind_ring_reading(const struct unwind_ring *r)
{
	return atomic_load_explicit(&r->shared->reading, memory_order_relaxed);
}

/* --- the unwinder ------------------------------------------------------------------------ */

/* Does what it says of itself fit its length? */
static bool
entry_fits(const struct unwind_entry *e)
{
	const struct unwind_space *space = (const void *)e;

	switch (e->kind) {
	case UNWIND_FILE:
		return e->bytes >= sizeof(struct unwind_file);
	case UNWIND_SPACE:
		return e->bytes >= sizeof(*space) &&
			space->nr <= (e->bytes - sizeof(*space)) / sizeof(struct unwind_map);
	case UNWIND_WALK:
		return e->bytes >= sizeof(struct unwind_walk);
	default:
		return false;
	}
}

/* The entry at *at, which moves on to the next one. NULL: there is none, or it has no length that it can have. */
static struct unwind_entry *
take_entry(const struct unwind_ring *r, uint64_t *at)
{
	/* Pairs with the release in unwind_ring_publish(). */
	const uint64_t head = atomic_load_explicit(&r->shared->head, memory_order_acquire);
	struct unwind_entry *e;

	if (*at >= head)
		return NULL;
	e = entry_at(r, *at);
	if (e->bytes < sizeof(*e) || e->bytes % 8 || e->bytes > r->bytes - *at % r->bytes)
		return NULL;
	*at += e->bytes;
	return e;
}

struct unwind_entry *
unwind_ring_next(struct unwind_ring *r)
{
	struct unwind_entry *e;

	for (;;) {
		/* Pairs with the acquire in unwind_ring_taken(). */
		atomic_store_explicit(&r->shared->taken, r->next, memory_order_release);
		e = take_entry(r, &r->next);
		if (!e || entry_fits(e))
			return e;
	}
}

const struct unwind_entry *
unwind_ring_ahead(const struct unwind_ring *r, uint64_t *cursor)
{
	const struct unwind_entry *e;

	if (!*cursor)
		*cursor = r->next;
	do
		e = take_entry(r, cursor);
	while (e && !entry_fits(e));
	return e;
}

struct unwind_stack *
unwind_ring_stack(const struct unwind_ring *r, const struct unwind_walk *walk)
{
	struct unwind_stack *s;
	uint64_t words;

	if (walk->at % 8 || walk->at > r->stacks_bytes || walk->bytes < sizeof(*s) ||
	    walk->bytes > r->stacks_bytes - walk->at)
		return NULL;
	s = (void *)(r->stacks + walk->at);
	words = (uint64_t)__builtin_popcountll(s->mask);
	return words * 8 + s->stack_bytes <= walk->bytes - sizeof(*s) ? s : NULL;
}

void
unwind_ring_reply(struct unwind_stack *stack, size_t bytes, struct unwind_answer answer,
		  const uint64_t *addresses)
{
	struct unwind_answer *a = (void *)stack;
	const size_t room = (bytes - sizeof(*a)) / sizeof(*addresses);

	*a = answer;
	if (a->nr > room)
		a->nr = (uint32_t)room;
	if (a->nr > 0)
		memcpy(a + 1, addresses, a->nr * sizeof(*addresses));
}

void
unwind_ring_tell(struct unwind_ring *r, uint64_t cpu_ns)
{
	atomic_store_explicit(&r->shared->cpu_ns, cpu_ns, memory_order_relaxed);
}

void
unwind_ring_reads(struct unwind_ring *r, uint32_t file)
{
	atomic_store_explicit(&r->shared->reading, file, memory_order_relaxed);
}

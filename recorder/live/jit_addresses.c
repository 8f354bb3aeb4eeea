/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/live/jit_addresses.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/slots.h"

enum { FREE, FRESH, ASKED };

void
jit_addresses_done(struct jit_addresses *a)
{
	free(a->v);
	*a = (struct jit_addresses){ 0 };
}

void
jit_addresses_clear(struct jit_addresses *a)
{
	if (a->used)
		memset(a->v, 0, JIT_ADDRESSES_SLOTS * sizeof(*a->v));
	a->used = a->asked = 0;
}

/* Where it is, or would be. */
static struct jit_address *
address_at(const struct jit_addresses *a, uint16_t process, uint64_t address)
{
	size_t i = slots_mix(process, address) % JIT_ADDRESSES_SLOTS;

	while (a->v[i].state != FREE && (a->v[i].address != address || a->v[i].process != process))
		i = (i + 1) % JIT_ADDRESSES_SLOTS;
	return &a->v[i];
}

/* Keeps what the question is answered with true for. */
static void
keep_only(struct jit_addresses *a, bool (*keep)(const struct jit_address *at, uint16_t process),
	  uint16_t process)
{
	struct jit_address *old = a->v;

	a->v = calloc(JIT_ADDRESSES_SLOTS, sizeof(*a->v));
	a->used = a->asked = 0;
	for (size_t i = 0; a->v && i < JIT_ADDRESSES_SLOTS; i++) {
		if (old[i].state == FREE || !keep(&old[i], process))
			continue;
		*address_at(a, old[i].process, old[i].address) = old[i];
		a->used++;
		a->asked += old[i].state == ASKED;
	}
	free(old);
}

static bool
is_fresh(const struct jit_address *at, uint16_t process)
{
	(void)process;
	return at->state == FRESH;
}

static bool
is_of_another(const struct jit_address *at, uint16_t process)
{
	return at->process != process;
}

bool
jit_addresses_add(struct jit_addresses *a, uint16_t process, uint64_t address)
{
	struct jit_address *at;

	if (!a->v)
		a->v = calloc(JIT_ADDRESSES_SLOTS, sizeof(*a->v));
	at = a->v ? address_at(a, process, address) : NULL;
	if (!at || at->state != FREE)
		return false;
	if (a->used == JIT_ADDRESSES_SLOTS / 2) {
		/* Not for a few: each time all are moved. */
		if (a->asked < JIT_ADDRESSES_SLOTS / 8)
			return false;
		keep_only(a, is_fresh, 0);
		if (!a->v)
			return false;
		at = address_at(a, process, address);
	}
	*at = (struct jit_address){ address, process, FRESH };
	a->used++;
	return true;
}

size_t
jit_addresses_fresh(const struct jit_addresses *a, uint16_t process, uint64_t *ret, size_t nr)
{
	size_t found = 0;

	for (size_t i = 0; a->used && i < JIT_ADDRESSES_SLOTS && found < nr; i++)
		if (a->v[i].state == FRESH && a->v[i].process == process)
			ret[found++] = a->v[i].address;
	return found;
}

void
jit_addresses_asked(struct jit_addresses *a, uint16_t process, const uint64_t *v, size_t nr)
{
	for (size_t i = 0; i < nr && a->v; i++) {
		struct jit_address *at = address_at(a, process, v[i]);

		if (at->state != FRESH)
			continue;
		at->state = ASKED;
		a->asked++;
	}
}

size_t
jit_addresses_renew(struct jit_addresses *a, uint16_t process)
{
	size_t nr = 0;

	for (size_t i = 0; a->used && i < JIT_ADDRESSES_SLOTS; i++) {
		if (a->v[i].state == FREE || a->v[i].process != process)
			continue;
		a->asked -= a->v[i].state == ASKED;
		a->v[i].state = FRESH;
		nr++;
	}
	return nr;
}

void
jit_addresses_drop(struct jit_addresses *a, uint16_t process)
{
	if (a->used)
		keep_only(a, is_of_another, process);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit_addresses: addresses of code made at run time that samples hit, each once: a process's slot
 * with an address. Bounded: those that were asked for are forgotten when it is full, and are then asked
 * for again. A pure set; one thread.
 */
#ifndef RECORDER_LIVE_JIT_ADDRESSES_H
#define RECORDER_LIVE_JIT_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JIT_ADDRESSES_SLOTS 16384 /* a power of two; half of them are used at most */

struct jit_addresses {
	struct jit_address {
		uint64_t address;
		uint16_t process;
		uint8_t state; /* 0: free */
	} * v;		       /* NULL until the first is added */
	size_t used, asked;    /* slots; of them, of addresses that have been asked for */
};

void jit_addresses_done(struct jit_addresses *a); /* all zero is an empty one */

/* True: it is new, and is to be asked for. False: it is known, or there is no room or memory for it. */
bool jit_addresses_add(struct jit_addresses *a, uint16_t process, uint64_t address);

/* Those of the process that are to be asked for; how many, at most nr. */
size_t jit_addresses_fresh(const struct jit_addresses *a, uint16_t process, uint64_t *ret,
			   size_t nr);
/* These have been asked for. */
void jit_addresses_asked(struct jit_addresses *a, uint16_t process, const uint64_t *v, size_t nr);
/* Those of the process that were asked for are to be asked for again; how many. */
size_t jit_addresses_renew(struct jit_addresses *a, uint16_t process);
/* Forgets those of a process. */
void jit_addresses_drop(struct jit_addresses *a, uint16_t process);
/* Forgets all. */
void jit_addresses_clear(struct jit_addresses *a);

#endif

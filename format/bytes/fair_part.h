/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fair_part: a room that many share. Each of them chooses how much it asks for. One has an eighth at most of what the
 * others leave.
 */
#ifndef FORMAT_BYTES_FAIR_PART_H
#define FORMAT_BYTES_FAIR_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bytes/slots.h"

#define FAIR_PART 8

/* What one may have in all: it has taken so much, and so much is left for all. */
static inline uint64_t
fair_part(uint64_t left, uint64_t taken)
{
	return (left + taken) / FAIR_PART;
}

/* May it have n more? */
static inline bool
fair_part_has(uint64_t left, uint64_t taken, uint64_t n)
{
	return n <= left && taken + n <= fair_part(left, taken);
}

/* What one took so far. */
struct fair_account {
	uint64_t key; /* a pid, an address */
	size_t nr, bytes;
};

/* All zero is an empty one; fair_accounts_done() frees. */
struct fair_accounts {
	struct fair_account *v;
	size_t nr, cap;
	struct slots slots;
};

/* The account of this key, a new one with nothing taken; good until the next call. NULL: out of memory. */
struct fair_account *fair_accounts_of(struct fair_accounts *a, uint64_t key);
void fair_accounts_done(struct fair_accounts *a);

#endif

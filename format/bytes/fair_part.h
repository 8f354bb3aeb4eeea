/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fair_part: a room that many share. Each of them chooses how much it asks for. One has an eighth at most of what the
 * others leave.
 */
#ifndef FORMAT_BYTES_FAIR_PART_H
#define FORMAT_BYTES_FAIR_PART_H

#include <stdbool.h>
#include <stdint.h>

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

#endif

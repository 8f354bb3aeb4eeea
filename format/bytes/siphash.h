/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * siphash: SipHash-2-4 of J.-P. Aumasson and D. J. Bernstein: a hash of bytes that nobody can foretell
 * who has not the key. For tables whose keys others choose.
 */
#ifndef FORMAT_BYTES_SIPHASH_H
#define FORMAT_BYTES_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

struct siphash_key {
	uint64_t words[2];
};

uint64_t siphash(const struct siphash_key *key, const void *p, size_t n);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/bytes/siphash.h"

#include <bsd/sys/endian.h>

static inline uint64_t
turn(uint64_t v, unsigned int bits)
{
	return v << bits | v >> (64 - bits);
}

static inline void
siphash_rounds(uint64_t v[4], int n)
{
	while (n-- > 0) {
		v[0] += v[1];
		v[1] = turn(v[1], 13) ^ v[0];
		v[0] = turn(v[0], 32);
		v[2] += v[3];
		v[3] = turn(v[3], 16) ^ v[2];
		v[0] += v[3];
		v[3] = turn(v[3], 21) ^ v[0];
		v[2] += v[1];
		v[1] = turn(v[1], 17) ^ v[2];
		v[2] = turn(v[2], 32);
	}
}

uint64_t
siphash(const struct siphash_key *key, const void *p, size_t n)
{
	const uint8_t *bytes = p;
	uint64_t v[4] = { key->words[0] ^ UINT64_C(0x736f6d6570736575),
			  key->words[1] ^ UINT64_C(0x646f72616e646f6d),
			  key->words[0] ^ UINT64_C(0x6c7967656e657261),
			  key->words[1] ^ UINT64_C(0x7465646279746573) };
	uint64_t word, last = (uint64_t)n << 56;
	size_t i = 0;

	for (; i + 8 <= n; i += 8) {
		word = le64dec(bytes + i);
		v[3] ^= word;
		siphash_rounds(v, 2);
		v[0] ^= word;
	}
	for (unsigned int k = 0; i + k < n; k++)
		last |= (uint64_t)bytes[i + k] << 8 * k;
	v[3] ^= last;
	siphash_rounds(v, 2);
	v[0] ^= last;
	v[2] ^= 0xff;
	siphash_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * product: of two words, both words of it; and what of it makes a hash. Every bit of either factor
 * reaches the lowest bits of the folded product: with a factor that nobody knows, nobody can make
 * numbers whose hashes end alike.
 */
#ifndef FORMAT_BYTES_PRODUCT_H
#define FORMAT_BYTES_PRODUCT_H

#include <stdint.h>

/* Two words, of which a compiler has one type on 64-bit machines only. */
struct product {
	uint64_t low, high;
};

static inline struct product
product_of_halves(uint64_t a, uint64_t b)
{
	uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX);
	uint64_t middle = (a >> 32) * (b & UINT32_MAX) + (low >> 32);
	uint64_t other = (a & UINT32_MAX) * (b >> 32) + (middle & UINT32_MAX);

	return (struct product){
		.low = other << 32 | (low & UINT32_MAX),
		.high = (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32),
	};
}

static inline struct product
product_of(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
	unsigned __int128 product = (unsigned __int128)a * b;

	return (struct product){ (uint64_t)product, (uint64_t)(product >> 64) };
#else
	return product_of_halves(a, b);
#endif
}

static inline void
product_add(struct product *sum, struct product p)
{
	sum->high += p.high + __builtin_add_overflow(sum->low, p.low, &sum->low);
}

/* All bits of both words reach the lowest of the result: those are what a slot is chosen by. */
static inline uint64_t
product_fold(uint64_t a, uint64_t b)
{
	struct product p = product_of(a, b);

	return p.low ^ p.high;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * annotation: the functions that were sampled, hottest first, and how much of each address in them.
 *
 * Of a profile that keeps frames apart by address. Only the sampled frame counts, not its callers. A
 * function is where its symbol begins in an object: functions of equal names are not one. Code without a symbol, whose
 * file is here, is in functions as its call frame information has them, which a stripped file keeps; where that has
 * none, what was sampled close together is one. The name of such a function is its address, "0x11d0".
 */
#ifndef SYMBOLIZER_CODE_ANNOTATION_H
#define SYMBOLIZER_CODE_ANNOTATION_H

#include "symbolizer/profile/profile.h"

struct annotation_hit {
	uint64_t address; /* as frame.vaddr */
	struct profile_weight weight;
};

struct annotation_function {
	struct frame frame; /* one of its samples' */
	int event;
	uint64_t start;
	bool unnamed; /* no symbol: frame.symbol is the address below */
	uint64_t end; /* of one that is unnamed; 0: not known */
	char name[24];
	struct profile_weight weight;
	const struct annotation_hit *hits; /* by address */
	size_t nr_hits;
};

/* Does it have code at this address, as far as its samples tell? */
bool annotation_function_has(const struct annotation_function *f, uint64_t address);

/* Samples of what has neither a symbol nor a file with its code here, of an object for one reason. */
struct annotation_unknown {
	struct frame frame;
	int event;
	struct profile_weight weight;
};

struct annotation;

/* Borrows the profile's strings. 0, -FMT_E_NOMEM. */
int annotation_build(const struct profile *p, struct annotation **ret);
void annotation_free(struct annotation *a);

/* By event, then by weight descending, then by name: the order is always the same. */
size_t annotation_functions(const struct annotation *a);
const struct annotation_function *annotation_function_at(const struct annotation *a, size_t i);
/* Likewise. */
size_t annotation_unknowns(const struct annotation *a);
const struct annotation_unknown *annotation_unknown_at(const struct annotation *a, size_t i);

#endif

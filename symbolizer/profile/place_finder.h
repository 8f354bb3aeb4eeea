/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * place_finder: the place of an address, by what is mapped there now, or by what the kernel has
 * there now. Those of late are found again without a search.
 */
#ifndef SYMBOLIZER_PROFILE_PLACE_FINDER_H
#define SYMBOLIZER_PROFILE_PLACE_FINDER_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizer/jit/jit_names.h"
#include "symbolizer/profile/callchain.h"
#include "symbolizer/profile/process_table.h"
#include "symbolizer/profile/raw_profile.h"
#include "symbolizer/profile/replay.h"
#include "symbolizer/text/intern.h"

struct place_finder;

/*
 * All are borrowed for its life; jit and processes, which gets whose code at run time has no name, may be NULL. Without by_address all addresses of a symbol of
 * JIT code are one place, and of one of the kernel unless by_kernel_address. NULL: out of memory.
 */
struct place_finder *place_finder_new(const struct replay *replay, struct intern *strings,
				      struct raw_profile *raw, struct jit_names *jit,
				      bool by_address, bool by_kernel_address,
				      struct process_table *processes);
void place_finder_free(struct place_finder *f);

/* The number of the place in the raw profile, new or known, at that time. 0, -FMT_E_NOMEM. */
int place_finder_find(struct place_finder *f, uint32_t pid, const struct callchain_address *a,
		      uint64_t time_ns, uint32_t *ret);
/* Likewise of data that a thread of the process touched. */
int place_finder_data(struct place_finder *f, uint32_t pid, uint64_t address, uint32_t *ret);
/* raw_profile_place_slot() of it, where that takes no search. */
const void *place_finder_slot(const struct place_finder *f, uint32_t pid,
			      const struct callchain_address *a);
/* The raw profile is another one. */
void place_finder_forget(struct place_finder *f);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * made_cfi: call frame information of code that processes made at run time, by their jitdumps. Each piece of
 * code is read when a walk comes to it first.
 */
#ifndef SYMBOLIZER_PROFILE_MADE_CFI_H
#define SYMBOLIZER_PROFILE_MADE_CFI_H

#include "symbolizer/jit/jit_names.h"
#include "symbolizer/profile/replay.h"
#include "symbolizer/unwind/unwind.h"

struct made_cfi;

/* All are borrowed. NULL: out of memory. */
struct made_cfi *made_cfi_new(const struct replay *replay, struct jit_names *jit);
void made_cfi_free(struct made_cfi *m);

/* What is at ip of a process at that time. 1, 0: nothing is known of it, -FMT_E_NOMEM. */
int made_cfi_code(struct made_cfi *m, const struct cfi_arch *arch, uint32_t pid, uint64_t ip,
		  uint64_t time_ns, struct unwind_code *ret);

#endif

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

/* Of all of it, of which that of a process has a fair_part: code that moves has its frames again at each place. */
#define MADE_CFI_BYTES_MAX (256u << 20)

/* All are borrowed. NULL: out of memory. */
struct made_cfi *made_cfi_new(const struct replay *replay, struct jit_names *jit);
void made_cfi_free(struct made_cfi *m);

/* What is at ip of a process at that time. 1, 0: nothing is known of it, -FMT_E_NOMEM. It lives until it is settled. */
int made_cfi_code(struct made_cfi *m, const struct cfi_arch *arch, uint32_t pid, uint64_t ip,
		  uint64_t time_ns, struct unwind_code *ret);
/* Likewise of a piece of code, that is known to be there; *ret is NULL where nothing is known of it. 0, -FMT_E_NOMEM. */
int made_cfi_piece(struct made_cfi *m, const struct cfi_arch *arch, const struct jit_frames *f,
		   struct cfi **ret);

/*
 * After a walk, which may have made rows. Where the code of its process takes more than it may, what was not used for
 * longest is freed; u forgets it, and nothing is known of it any more. 0, -FMT_E_NOMEM.
 */
int made_cfi_settle(struct made_cfi *m, struct unwinder *u);
/* Memory that all takes, as it was counted last. */
size_t made_cfi_bytes(const struct made_cfi *m);

#endif

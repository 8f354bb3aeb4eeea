/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * user_stack: the user's callers of a sample that has a copy of its registers and stack, by what
 * its process had mapped then.
 */
#ifndef SYMBOLIZER_PROFILE_USER_STACK_H
#define SYMBOLIZER_PROFILE_USER_STACK_H

#include "symbolizer/jit/jit_names.h"
#include "symbolizer/object/object_places.h"
#include "symbolizer/profile/replay.h"
#include "symbolizer/unwind/unwind.h"

struct user_stack;

/*
 * arch: of the recording, as uname -m; of one that is not known nothing is unwound. replay is
 * borrowed, as are jit (may be NULL) and what places points to. NULL: out of memory.
 */
struct user_stack *user_stack_new(const struct replay *replay, const char *arch,
				  const struct object_places *places, struct jit_names *jit);
void user_stack_free(struct user_stack *u);

/*
 * Gives the sample's chain its user part, which lives until the next call of another record's. A sample
 * that has one already, or no copy of a stack, stays as it is. One that its record is given as more than
 * once is unwound and counted once. 0, -FMT_E_NOMEM.
 */
int user_stack_unwind(struct user_stack *u, struct replay_sample *s);

/* What became of them so far. */
const struct unwind_stops *user_stack_stops(const struct user_stack *u);

#endif

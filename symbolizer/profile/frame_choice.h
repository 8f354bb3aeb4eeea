/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frame_choice: what a frame_filter leaves of the stacks of a profile. As in pprof, a name is that
 * of the function, of its source file where that is known, or the path of the object, which is of
 * all that is inlined at an address. It is compared once, in however many frames it is.
 *
 * Places are numbered by who asks, until the next frame_choice_begin().
 */
#ifndef SYMBOLIZER_PROFILE_FRAME_CHOICE_H
#define SYMBOLIZER_PROFILE_FRAME_CHOICE_H

#include <stddef.h>
#include <stdint.h>

#include "symbolizer/profile/frame_filter.h"
#include "symbolizer/resolve/resolve.h"

struct frame_choice;

/* filter is borrowed for its life, as are the strings of all frames. NULL: out of memory. */
struct frame_choice *frame_choice_new(const struct frame_filter *filter);
void frame_choice_free(struct frame_choice *c);

/* There are so many places, of which nothing is known yet. 0, -FMT_E_NOMEM. */
int frame_choice_begin(struct frame_choice *c, size_t nr_places);
/* The frames of a place, innermost first; again: these instead. 0, -FMT_E_NOMEM. */
int frame_choice_place(struct frame_choice *c, uint32_t place, const struct frame *frames,
		       size_t nr);

/*
 * Of a stack of places, leaf first: how many of them are left, beginning with the leaf, of whose
 * frames at least one is shown; 0: it is not asked for, or has no frame left.
 */
size_t frame_choice_stack(const struct frame_choice *c, const uint32_t *places, size_t nr);
/* Which frames of a place are shown, as indexes in what frame_choice_place() got. */
const uint32_t *frame_choice_shown(const struct frame_choice *c, uint32_t place, size_t *ret_nr);

#endif

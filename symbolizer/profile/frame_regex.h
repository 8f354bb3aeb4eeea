/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frame_regex: which functions of a profile a regular expression finds. It is asked once of each
 * frame, however many stacks that is in.
 */
#ifndef SYMBOLIZER_PROFILE_FRAME_REGEX_H
#define SYMBOLIZER_PROFILE_FRAME_REGEX_H

#include "symbolizer/profile/profile.h"
#include "symbolizer/text/bounded_regex.h"

struct frame_regex;

/*
 * text: an extended regular expression (regex(7)), found anywhere in a symbol. 0; -FMT_E_UNSUPPORTED: it is
 * none, and why says why; -FMT_E_NOMEM.
 */
int frame_regex_new(const char *text, char why[static BOUNDED_REGEX_WHY_MAX],
		    struct frame_regex **ret);
void frame_regex_free(struct frame_regex *re);

/*
 * Is it found in the symbol of this frame? Always of one profile, whose frames may become more. What has
 * no symbol is not found. 1, 0, -FMT_E_NOMEM.
 */
int frame_regex_finds(struct frame_regex *re, const struct profile *p, uint32_t frame);

/*
 * The function of a stack nearest to its leaf, which may be that itself, as a frame: 1; 0: none is found;
 * -FMT_E_NOMEM.
 */
int frame_regex_first(struct frame_regex *re, const struct profile *p,
		      const struct profile_stack *s, uint32_t *ret);

#endif

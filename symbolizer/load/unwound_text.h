/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwound_text: what became of copied stacks, in words.
 */
#ifndef SYMBOLIZER_LOAD_UNWOUND_TEXT_H
#define SYMBOLIZER_LOAD_UNWOUND_TEXT_H

#include "symbolizer/profile/user_stack.h"

#define UNWOUND_TEXT_MAX 768

/* "512 copied stacks were unwound: 500 to their outermost frames, 12 ..."; false: there were none. */
bool unwound_text(const struct unwind_stops *c, char out[UNWOUND_TEXT_MAX]);

/* Did more than a hundredth of them end before their outermost frame? */
bool unwound_text_matters(const struct unwind_stops *c);

#endif

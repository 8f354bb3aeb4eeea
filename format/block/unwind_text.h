/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind_text: what became of copied stacks, in words.
 */
#ifndef FORMAT_BLOCK_UNWIND_TEXT_H
#define FORMAT_BLOCK_UNWIND_TEXT_H

#include "format/block/unwind_stops.h"

#define UNWIND_TEXT_MAX 2048

/*
 * "99.2 % of 4711 copied stacks are whole; 0.5 % end at the copied 16 KiB, 0.3 % ... (0.2 % in libfoo.so)": rounded, but
 * 100 % are all of them, and none is 0. False: there were none.
 */
bool unwind_text(const struct unwind_stops *c, char out[UNWIND_TEXT_MAX]);

/* Did more than a hundredth of them end before their outermost frame? */
bool unwind_text_matters(const struct unwind_stops *c);

#endif

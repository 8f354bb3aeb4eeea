/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * progress: how much of an input was read, told on a terminal while that takes long. A thread of its own
 * writes one line on stderr over and over, and wipes it at the end; where stderr is no terminal there
 * is none.
 */
#ifndef SYMBOLIZER_LOAD_PROGRESS_H
#define SYMBOLIZER_LOAD_PROGRESS_H

#include "symbolizer/input/input_set.h"

struct progress;

/* Before anything of the set was read. NULL: nobody is to be told; all below take it. */
struct progress *progress_start(struct input_set *set);
/* Wipes the line and ends. */
void progress_stop(struct progress *p);

/* One more recording was read. */
void progress_add(struct progress *p);
/* Wipes the line, for who is about to write on stderr. */
void progress_wipe(struct progress *p);
/* Where to store, atomically, up to which time the only recording was read; NULL: nowhere. */
uint64_t *progress_reached(struct progress *p);

#endif

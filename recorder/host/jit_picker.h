/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit_picker: of all that the files of one process tell of code made at run time, what addresses that
 * were sampled need.
 *
 * A perf map has up to a million lines, and is read in pieces: what is kept is an element for each
 * address. It is appended to, and later lines are put over earlier ones: a line that was not there
 * when the map was last read holds from then on. Each name is told once, unless it changes. For
 * helpers: files may make one wait.
 */
#ifndef RECORDER_HOST_JIT_PICKER_H
#define RECORDER_HOST_JIT_PICKER_H

#include <stdint.h>

#include "format/block/jitsyms.h"

#define JIT_PICKER_ADDRESSES_MAX 16384	      /* over it, those that were told are forgotten */
#define JIT_PICKER_MAP_BYTES_MAX (128u << 20) /* of a perf map, that are looked at */

struct jit_picker;

/* A name to be told; pid and began_ns are not set. 0, or what ends the call. */
typedef int jit_picker_tell_fn(void *arg, const struct jitsym *symbol);

struct jit_picker *jit_picker_new(void); /* NULL: out of memory */
void jit_picker_free(struct jit_picker *p);

/* Addresses that were sampled; known ones do no harm. 0, -ENOMEM. */
int jit_picker_want(struct jit_picker *p, const uint64_t *addresses, size_t nr);

/*
 * Tells what the files have by now. map and dumps: descriptors, -1 for none; complete_ns: samples
 * until then have been wanted. 0, -ENOMEM, -EIO: what was read has been told; or what tell returned.
 */
int jit_picker_read(struct jit_picker *p, int map, const int *dumps, size_t nr_dumps,
		    uint64_t complete_ns, jit_picker_tell_fn *tell, void *arg);

/* Forgets the addresses: whoever is told knows nothing any more. */
void jit_picker_forget(struct jit_picker *p);

#endif

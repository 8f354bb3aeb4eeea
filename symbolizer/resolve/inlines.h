/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inlines: the calls that were inlined where a frame is, and the lines of the source.
 *
 * Frames are collected first and looked up together, by object: each file with debug information is
 * read once, by a process of its own.
 */
#ifndef SYMBOLIZER_RESOLVE_INLINES_H
#define SYMBOLIZER_RESOLVE_INLINES_H

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/dwarf/dwarf_worker.h"
#include "symbolizer/resolve/resolve.h"

struct inlines;

/*
 * Both are borrowed for its life. cache_dir: where answers are kept (dwarf_cache_dir()); NULL:
 * nowhere. NULL: out of memory.
 */
struct inlines *inlines_new(struct resolver *resolver, const char *cache_dir);
void inlines_free(struct inlines *l);

/* A frame of resolver_user(), under a number of the caller's. 0, -FMT_E_NOMEM. */
int inlines_add(struct inlines *l, const struct frame *frame, uint32_t number);

/*
 * The frames at number, the innermost first; the last one is the frame that was added, with its line.
 * What it returns other than 0 ends all.
 */
typedef int inlines_fn(void *arg, uint32_t number, const struct frame *frames, size_t nr);

/*
 * Looks up all that were added, and forgets them; for those of which nothing is known take is not
 * called. 0, -FMT_E_NOMEM, or what take returned.
 */
int inlines_run(struct inlines *l, inlines_fn *take, void *arg);

/*
 * What became of the i-th file whose debug information was read, or not; false: there are no more. Remembered: an
 * earlier look found it, and this one did not read the file.
 */
#define INLINES_REMEMBERED ", as an earlier look within the hour found"
bool inlines_trouble(const struct inlines *l, size_t i, const char **ret_path,
		     enum dwarf_outcome *ret, bool *ret_remembered);

/*
 * The i-th object with units whose functions were split off to files that are not here, and how many units
 * at least; false: there are no more.
 */
#define INLINES_LACKING                                                                            \
	"no inlined functions of %" PRIu32                                                         \
	" or more compilation units: their .dwo files are not here"
bool inlines_lacking(const struct inlines *l, size_t i, const char **ret_path, uint32_t *ret_units);

#endif

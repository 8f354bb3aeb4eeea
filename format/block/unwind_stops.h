/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind_stops: why walks of stacks ended, and how many did so; payload of a STACKS block: of those that were walked
 * while it was recorded, since the last such block.
 *
 *   u32 count, u32 entry_size (16), u64 frames, then count x { u32 stop, u32 bytes, u64 stacks }.
 *
 * bytes: of CUT, the size of the largest copy that was too small; of others 0. Behind them, where it is known, what the
 * last frame of most of them was in:
 *
 *   u32 count, u32 entry_size (64), then count x { u32 stop, u32 0, u64 stacks, u8 object[48] }.
 *
 * object: the last component of a path, or what stands for one, with '?' for what is not printable ASCII, then NUL.
 */
#ifndef FORMAT_BLOCK_UNWIND_STOPS_H
#define FORMAT_BLOCK_UNWIND_STOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/bytes/buf.h"
#include "format/bytes/span.h"

#define UNWIND_STOP_BYTES 16

/* number on disk, name, key in JSON; why a walk ended. Never reuse a number. */
#define UNWIND_STOPS(X)                                                                            \
	X(1, END, "end")	 /* the outermost frame */                                         \
	X(2, CUT, "cut")	 /* the copied bytes of the stack end */                           \
	X(3, SHORT, "short")	 /* likewise; the kernel copied less than was asked for */         \
	X(4, NO_MAP, "no_map")	 /* a return address where no code is mapped */                    \
	X(5, NO_CFI, "no_cfi")	 /* code without call frame information or frame pointers */       \
	X(6, BAD_CFI, "bad_cfi") /* call frame information that does not fit the stack */          \
	X(7, LIMIT, "limit")	 /* too many frames */                                             \
	X(8, BUSY, "busy")	 /* it was not walked in time, and has frames by frame pointers */ \
	X(9, REFUSED, "refused") /* it was not walked: another machine, an unknown process */      \
	X(10, FREED, "freed")	 /* no stack: execve(2) or exit(2) had freed it */

enum unwind_stop {
#define X(number, name, key) UNWIND_##name,
	UNWIND_STOPS(X)
#undef X
		UNWIND_STOPS_NR
};

#define UNWIND_PLACES_MAX 16
#define UNWIND_OBJECT_BYTES 48
#define UNWIND_PLACE_BYTES (16 + UNWIND_OBJECT_BYTES)

/* An object in which walks ended that did not reach the outermost frame. */
struct unwind_place {
	enum unwind_stop stop;
	uint64_t stacks; /* 0: none */
	char object[UNWIND_OBJECT_BYTES];
};

struct unwind_stops {
	uint64_t stacks[UNWIND_STOPS_NR];
	uint64_t frames;    /* of all that were walked */
	uint32_t cut_bytes; /* the largest copy that was too small; 0: not known, or none */
	struct unwind_place places[UNWIND_PLACES_MAX]; /* those with most of them, in no order */
};

/* One stack: its frames, and how many bytes were asked for of it. */
void unwind_stops_count(struct unwind_stops *s, enum unwind_stop stop, size_t frames, size_t asked);
/*
 * One of them ended in code of this path, or of what stands for one. Where there is no room, the place with the fewest
 * stacks is forgotten.
 */
void unwind_stops_place(struct unwind_stops *s, enum unwind_stop stop, const char *path);
void unwind_stops_add(struct unwind_stops *to, const struct unwind_stops *s);
/* What has come since before; cut_bytes as it is now. A place that was forgotten meanwhile may be counted too low. */
struct unwind_stops unwind_stops_since(const struct unwind_stops *s,
				       const struct unwind_stops *before);
/* All of them, but for FREED: these are no stacks. */
uint64_t unwind_stops_all(const struct unwind_stops *s);
/* Are there any, FREED included? */
bool unwind_stops_any(const struct unwind_stops *s);
const char *unwind_stop_key(enum unwind_stop stop);
/* Does it depend on the code of the last frame? */
bool unwind_stop_has_place(enum unwind_stop stop);

void unwind_stops_encode(const struct unwind_stops *s, struct buf *out);
/* Adds what a payload tells; stops of a later version are left out. 0, -FMT_E_CORRUPT. */
int unwind_stops_decode(struct unwind_stops *to, struct span payload);

#endif

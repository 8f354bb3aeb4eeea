/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jitdump: the file jit-PID.dump, in which a runtime writes its code as it makes and moves it, with
 * times (tools/perf/Documentation/jitdump-specification.txt of Linux, version 1 and 2), in
 * either byte order.
 *
 * A record is read for the place, the time and the name of its code, and for how that is unwound. The code itself
 * is never read.
 */
#ifndef FORMAT_JIT_JITDUMP_H
#define FORMAT_JIT_JITDUMP_H

#include "format/bytes/buf.h"
#include "format/bytes/io.h"
#include "format/jit/jit_table.h"

#define JITDUMP_BYTES_MAX (UINT64_C(4) << 30) /* of a file, that are looked at */

/* Is that the path of one? Runtimes map it, so that profilers see the name: jit-PID.dump. */
bool jitdump_is_path(const char *path);

#define JITDUMP_FRAME_BYTES_MAX 65536u /* the most that is kept of one piece of code */

/*
 * Call frame information of code (JIT_CODE_UNWINDING_INFO): the bytes of an .eh_frame, which has its addresses as if
 * it began where the code does, plus the code's size rounded up to a multiple of 8. All zero is an empty one.
 */
struct jitdump_frames {
	struct jitdump_frame {
		uint32_t order; /* of its code in the table; ascending */
		uint32_t len;
		size_t at; /* in bytes */
	} * v;
	size_t nr, cap;
	struct buf bytes;
	size_t bytes_max; /* of all: more are left out. 0: none */
};

void jitdump_frames_done(struct jitdump_frames *f);
/* Of the code with this number. False: none. */
bool jitdump_frames_find(const struct jitdump_frames *f, uint32_t order, struct span *ret);

/*
 * All code of a dump, into the table, from the time on that each record has; times are those of
 * CLOCK_MONOTONIC. A file that is still written, or damaged, is read up to the first record that
 * is not whole, and no further than *budget records, from which those that were read are taken.
 * frames, unless NULL, are those of the code; what was there stays.
 * 0; -FMT_E_TOO_BIG: the budget is used up, what was read is there; -FMT_E_CORRUPT: no such file;
 * -FMT_E_UNSUPPORTED: its times are of another clock (JITDUMP_FLAGS_ARCH_TIMESTAMP); -FMT_E_IO;
 * -FMT_E_NOMEM.
 */
int jitdump_read(struct io_source *file, uint64_t *budget, struct jit_table *table,
		 struct jitdump_frames *frames);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata_buildid: which build-id a path has, as perf.data tells it: an entry of the BUILD_ID
 * section, or a BUILD_ID record of a pipe, which is the same but for its length.
 *
 *  offset
 *       0  u32     type    67; 0 in a section of an old perf
 *       4  u16     misc    whose path it is; bit 15: size is told
 *       6  u16     size    of the entry
 *       8  u32     pid     of a guest's machine; -1
 *      12  u8[20]  id
 *      32  u8      size    of the id; without bit 15 it is not told, and zeros are behind a short one
 *      33  u8[3]   reserved
 *      36          path    with a NUL
 */
#ifndef FORMAT_PERFDATA_PERFDATA_BUILDID_H
#define FORMAT_PERFDATA_PERFDATA_BUILDID_H

#include <stdbool.h>
#include <stdint.h>

#include "format/bytes/buf.h"
#include "format/bytes/buildid.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/span.h"

struct perfdata_buildid {
	uint8_t cpumode; /* PERF_RECORD_MISC_KERNEL (modules too), _USER, _GUEST_KERNEL, _GUEST_USER */
	struct buildid id; /* size 0: nothing but zeros, and no length */
	const char *path;
};

/* Takes the next one off s: 1, 0 at the end, -FMT_E_CORRUPT. */
int perfdata_buildid_next(struct span *s, struct perfdata_buildid *ret);

/* Is this the kernel itself, and not a module? */
bool perfdata_buildid_is_kernel(const struct perfdata_buildid *b);

/* Appends it, for a section; nothing for a path that is too long for a record. */
void perfdata_buildid_add(struct buf *out, const struct perfdata_buildid *b);
/* One entry as it stands in a section, as a record of pipe mode, where 8 bytes count. */
void perfdata_buildid_record(struct buf *out, struct span entry);

#endif

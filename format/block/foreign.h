/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * foreign: what an imported perf.data had that is neither a kernel record nor in our meta.
 *
 * A FOREIGN block holds a list of {u32 kind, u32 id, u64 length, bytes padded to 8}: sections of
 * perf.data's header (tracepoint formats, topology, build-id table...) and records of its tools
 * (AUXTRACE with its data, ID_INDEX, EVENT_UPDATE, THREAD_MAP...), byte for byte, so that an
 * export can give them back. spoor itself reads little of it.
 */
#ifndef FORMAT_BLOCK_FOREIGN_H
#define FORMAT_BLOCK_FOREIGN_H

#include <stdint.h>

#include "format/bytes/buf.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/span.h"

enum foreign_kind {
	FOREIGN_FEATURE = 1, /* id: bit in perf.data's header; bytes: the section's payload */
	FOREIGN_RECORD = 2,  /* id: record type from 64 up; bytes: the record and what follows it */
	FOREIGN_FILE = 3,    /* id: 1 file mode, 2 pipe mode; bytes: its header */
};

void foreign_add(struct buf *out, enum foreign_kind kind, uint32_t id, struct span bytes);

struct foreign {
	uint32_t kind, id;
	struct span bytes;
};

/* Takes the next one off s: 1, 0 at the end, -FMT_E_TRUNCATED. */
int foreign_next(struct span *s, struct foreign *ret);

#endif

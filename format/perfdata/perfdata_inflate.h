/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata_inflate: the records inside perf.data's COMPRESSED and COMPRESSED2 records.
 *
 * perf record -z makes one zstd stream of a whole session and cuts it into records wherever
 * they are full: neither a frame nor a record inside ends where its container ends. So the
 * stream is unpacked piece by piece into a small buffer, from which whole records are taken;
 * what one container unpacks to is never held at once.
 */
#ifndef FORMAT_PERFDATA_PERFDATA_INFLATE_H
#define FORMAT_PERFDATA_PERFDATA_INFLATE_H

#include "format/bytes/fmt_error.h"
#include "format/bytes/span.h"

struct perfdata_inflate;

struct perfdata_inflate *perfdata_inflate_new(void); /* NULL: out of memory */
void perfdata_inflate_free(struct perfdata_inflate *z);

/*
 * Gives it the payload of the next container; to be called when perfdata_inflate_next() has
 * returned 0. The bytes are borrowed until it does so again. At first, and after a
 * failure, nothing comes until a payload begins a zstd frame: -FMT_E_DECOMPRESS for those
 * before.
 */
int perfdata_inflate_put(struct perfdata_inflate *z, struct span payload);

/*
 * The next whole record, good until the next call: 1, 0 (more payload is needed),
 * -FMT_E_DECOMPRESS, -FMT_E_CORRUPT (it is no record: where the next one begins is not known),
 * -FMT_E_TOO_BIG (all of it becomes more than any recording does).
 * After an error the rest of the payload is dropped.
 */
int perfdata_inflate_next(struct perfdata_inflate *z, struct span *ret);

/* Bytes unpacked of a record whose end has not come. */
size_t perfdata_inflate_rest(const struct perfdata_inflate *z);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * columns: the records of one block, by columns: half the bytes, and every byte back.
 *
 * The encoder takes what a verbatim block would hold and sorts it into columns: frames and
 * stacks once each, ids and tasks as numbers into tables, times as what they differ from the
 * usual step of their source (an event on a CPU).
 * What the columns do not know (other types of records, samples with raw data, branches,
 * registers, user stacks..., records that do not parse) stands beside them as it was. The
 * decoder gives back the same bytes in the same order from the payload alone: which fields a
 * sample has is in the payload too, so that no other block, and no attr, is needed.
 *
 * The encoder believes a sample to be of a shape only when building it again from its fields
 * gives the same bytes. The decoder believes nothing.
 */
#ifndef FORMAT_COLUMNS_COLUMNS_H
#define FORMAT_COLUMNS_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bytes/buf.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/span.h"
#include "format/record/event_set.h"

/*
 * The encoder's tables, kept from block to block so that they are not allocated each time: at most
 * some 17 MiB after a block of 1 MiB, in which no frame came twice. A writer has one for each
 * file, which bounds how long.
 */
struct columns_encoder;

struct columns_encoder *columns_encoder_new(void); /* NULL: out of memory */
void columns_encoder_free(struct columns_encoder *e);

/*
 * Appends the columns of records (whole ones, as perf_record_next() takes them) to out. events
 * tells the shapes of samples by their ids. -FMT_E_NOMEM (out is as it was); -FMT_E_TOO_BIG: more
 * than BLOCK_RAW_MAX; -FMT_E_CORRUPT: they are not whole records.
 */
int columns_encode(struct columns_encoder *e, const struct event_set *events, struct span records,
		   struct buf *out);

/*
 * Where, in what columns_encode() appended last, one kind of bytes ends and another begins:
 * ascending offsets, borrowed until the next call. What stands between two of them compresses
 * best by itself.
 */
size_t columns_encoder_cuts(const struct columns_encoder *e, const size_t **ret);
/* Whether no more than an eighth of that is bytes of records as they were. */
bool columns_encoder_numbers(const struct columns_encoder *e);

/*
 * Appends the records that payload holds to out: nr_records of them, never more than limit bytes.
 * -FMT_E_CORRUPT, -FMT_E_TRUNCATED, -FMT_E_TOO_BIG, -FMT_E_NOMEM; out is then as it was.
 */
int columns_decode(struct span payload, uint32_t nr_records, size_t limit, struct buf *out,
		   struct fmt_where *where);

#endif

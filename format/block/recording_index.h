/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording_index: payloads of INDEX and END blocks. Derived data: a reader can do without.
 *
 * INDEX: the blocks since the INDEX before it, in file order, itself not included.
 *       0  u32    count
 *       4  u32    entry_size   64; a later version may append fields
 *       8  u64    previous     offset of the INDEX before this one, 0: there is none
 *      16         count entries:
 *          0  u64 offset   24  u64 t_max      48  u32 raw_length     60  u8  type
 *          8  u64 seq      32  u64 complete   52  u32 stored_length  61  u8  encoding
 *         16  u64 t_min    40  u32 records    56  u32 flags          62  u16 header_size
 *                          44  u32 samples
 *
 * END: totals of the file. Never compressed, so that it stands at a fixed distance from the
 * end of a finished file (BLOCK_HEADER_BYTES + END_BYTES) and leads to the last INDEX.
 *       0  u64 index       offset of the last INDEX
 *       8  u64 blocks      before this one
 *      16  u64 records     in RECORDS blocks
 *      24  u64 samples     among them
 *      32  u64 raw_bytes   of all payloads, uncompressed
 *      40  u64 lost        samples known lost
 *      48  u64 reserved[2]
 */
#ifndef FORMAT_BLOCK_RECORDING_INDEX_H
#define FORMAT_BLOCK_RECORDING_INDEX_H

#include <stdint.h>

#include "format/block/block.h"
#include "format/bytes/buf.h"

#define INDEX_HEADER_BYTES 16
#define INDEX_ENTRY_BYTES 64
#define END_BYTES 64

/* An INDEX payload grows entry by entry in out. */
void recording_index_begin(struct buf *out, uint64_t previous);
void recording_index_add(struct buf *out, const struct block_header *h);

struct recording_index {
	uint32_t count;
	uint32_t entry_size;
	uint64_t previous;
	struct span entries;
};

int recording_index_decode(struct span payload, struct recording_index *ret);
/* Entry i < count, as the header of the block that it stands for (no CRC, no lost). */
void recording_index_at(const struct recording_index *index, uint32_t i, struct block_header *ret);

struct recording_end {
	uint64_t index, blocks, records, samples, raw_bytes, lost;
};

void recording_end_encode(const struct recording_end *end, struct buf *out);
int recording_end_decode(struct span payload, struct recording_end *ret);

#endif

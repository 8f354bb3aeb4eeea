/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * block: the unit of a recording file that is whole or not there.
 *
 *  offset
 *       0  u8[8]  sync        F0 's' 'p' 'B' 0D 0A 1A B5
 *       8  u32    header_crc  CRC32C of bytes 12..header_size, then of the file id
 *      12  u16    header_size 96; a later version may append fields
 *      14  u8     type        BLOCK_*
 *      15  u8     encoding    of the payload before compression
 *      16  u32    flags       BLOCK_F_*
 *      20  u32    records     PERF_RECORDs in the payload
 *      24  u64    seq         0, 1, 2... without a gap in one file
 *      32  u64    offset      of this block in the file, as written
 *      40  u64    t_min       ns, of the records; 0 when there are none
 *      48  u64    t_max
 *      56  u64    complete    every record older than this is in this block or before it
 *      64  u32    samples     SAMPLEs among the records
 *      68  u32    payload_crc CRC32C of the stored payload
 *      72  u64    lost        samples known lost up to this block (cumulative)
 *      80  u32    raw_length  of the payload uncompressed
 *      84  u32    stored_length  <= raw_length; equal when BLOCK_F_STORED
 *      88  u64    reserved    0
 *      96         payload: stored_length bytes, one zstd frame; or as is (BLOCK_F_STORED)
 *
 * All little-endian. The header CRC is keyed by the file id, so that a block of another
 * file inside a payload or on a recycled sector is never taken for one of this file's.
 */
#ifndef FORMAT_BLOCK_BLOCK_H
#define FORMAT_BLOCK_BLOCK_H

#include <stdint.h>

#include "format/bytes/fmt_error.h"
#include "format/bytes/span.h"

#define BLOCK_HEADER_BYTES 96
#define BLOCK_HEADER_BYTES_MAX 512 /* bounds what a false header can cost a reader */
#define BLOCK_SYNC "\xf0spB\r\n\x1a\xb5"
#define BLOCK_RAW_MAX (64u << 20) /* bomb guard: no writer makes a payload near it */
/*
 * Records of a RECORDS block, unpacked and undone of columns: in columns a few bytes can stand for any
 * number of records. Writers close a block at 1 MiB; a block whose write failed grows by one more call.
 */
#define BLOCK_RECORDS_MAX (2u << 20)
#define FILE_ID_BYTES 16

/* number, name, text */
#define BLOCK_TYPES(X)                                                                             \
	X(1, META, "what the recording is: clocks, machine, events")                               \
	X(2, STATE, "snapshot of tasks and maps, as synthesized records")                          \
	X(3, RECORDS, "kernel records")                                                            \
	X(4, KSYMS, "kernel symbols that the records need")                                        \
	X(5, BUILDIDS, "build-ids that the kernel did not give")                                   \
	X(6, LOSS, "loss ledger")                                                                  \
	X(7, INDEX, "where the blocks are")                                                        \
	X(8, END, "closed in order")                                                               \
	X(9, GAP, "a time without samples, and why")                                               \
	X(10, RATE, "from when on samples are taken how often")                                    \
	X(11, FOREIGN, "what an imported perf.data had besides")                                   \
	X(12, JIT, "names of code made at run time that the records need")                         \
	X(13, AUX, "what a tracer of the CPU wrote (Intel PT, Arm SPE), for perf's decoders")      \
	X(14, OBJECT, "a file that names what was sampled: which one it is")                       \
	X(15, PIECE, "bytes of such a file")                                                       \
	X(16, STACKS, "how far stacks were unwound while it was recorded")

enum block_type {
#define X(number, name, text) BLOCK_##name = number,
	BLOCK_TYPES(X)
#undef X
};

enum block_encoding {
	BLOCK_VERBATIM = 0, /* RECORDS, STATE: the records one after another */
	BLOCK_COLUMNAR = 1, /* RECORDS: the records by columns (columns.h) */
};

#define BLOCK_F_CRITICAL 1u /* a reader that cannot read such a block must refuse the file */
#define BLOCK_F_STORED 2u   /* payload is not compressed */
/* Bits 0-15 change how a block is read: one that is not known makes it unreadable. */
#define BLOCK_F_INCOMPATIBLE 0xffffu
#define BLOCK_F_KNOWN (BLOCK_F_CRITICAL | BLOCK_F_STORED)

struct block_header {
	uint16_t header_size;
	uint8_t type;
	uint8_t encoding;
	uint32_t flags;
	uint32_t records;
	uint64_t seq;
	uint64_t offset;
	uint64_t t_min, t_max;
	uint64_t complete;
	uint32_t samples;
	uint32_t payload_crc;
	uint64_t lost;
	uint32_t raw_length;
	uint32_t stored_length;
};

/* Writes BLOCK_HEADER_BYTES to out, CRC included. */
void block_header_encode(const struct block_header *h, const uint8_t file_id[FILE_ID_BYTES],
			 uint8_t out[BLOCK_HEADER_BYTES]);

/*
 * Decodes and checks a header from the front of s (s is not moved). file_id NULL skips the
 * CRC (only to find a META block when the file header is lost). -FMT_E_CORRUPT (no sync),
 * -FMT_E_TRUNCATED, -FMT_E_CHECKSUM, -FMT_E_TOO_BIG (lengths over their limits).
 */
int block_header_decode(struct span s, const uint8_t file_id[FILE_ID_BYTES],
			struct block_header *ret);

const char *block_type_name(uint8_t type); /* NULL: unknown */

#endif

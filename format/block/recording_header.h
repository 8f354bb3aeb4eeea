/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording_header: the first bytes of a recording, written once and never touched again.
 *
 *  offset
 *       0  u8[8]  magic        89 'S' 'P' 'O' 'R' 0D 0A 1A
 *       8  u32    header_crc   CRC32C of bytes 12..header_size
 *      12  u16    header_size  64; a later version may append fields
 *      14  u16    version      1; tells, decides nothing: the flags do
 *      16  u64    compatible   features that a reader may not know and still read the file
 *      24  u64    incompatible features without which a reader must refuse the file
 *      32  u8[16] file_id      random; keys the CRC of every block header
 *      48  u32    meta_length
 *      52  u32    meta_crc     CRC32C of the meta
 *      56  u64    reserved     0
 *      64         meta: meta_length bytes (recording_meta.h), then 0 up to a multiple of 8
 *                 the first block
 *
 * All little-endian. The magic's first byte is not ASCII, and CR LF and ^Z show what a
 * transfer as text did to it.
 */
#ifndef FORMAT_BLOCK_RECORDING_HEADER_H
#define FORMAT_BLOCK_RECORDING_HEADER_H

#include <stdint.h>

#include "format/block/block.h"

#define RECORDING_MAGIC "\x89SPOR\r\n\x1a"
#define RECORDING_MAGIC_BYTES 8
#define RECORDING_HEADER_BYTES 64
#define RECORDING_HEADER_BYTES_MAX 512
#define RECORDING_VERSION 1
/* Ids of 16 events on 8192 CPUs are 1 MiB; nobody has sixteen times that. */
#define RECORDING_META_MAX (16u << 20)

/* Features this version knows: none yet. Flags also stand in the meta. */
#define RECORDING_INCOMPATIBLE_KNOWN UINT64_C(0)

struct recording_header {
	uint16_t header_size;
	uint16_t version;
	uint64_t compatible, incompatible;
	uint8_t file_id[FILE_ID_BYTES];
	uint32_t meta_length, meta_crc;
};

void recording_header_encode(const struct recording_header *h, uint8_t out[RECORDING_HEADER_BYTES]);

/*
 * -FMT_E_NOT_RECORDING (another magic), -FMT_E_TRUNCATED, -FMT_E_CHECKSUM, -FMT_E_TOO_BIG,
 * -FMT_E_VERSION (an incompatible feature that this version does not know).
 */
int recording_header_decode(struct span s, struct recording_header *ret);

/* Where the first block stands. */
uint64_t recording_header_end(const struct recording_header *h);

#endif

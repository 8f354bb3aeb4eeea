/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * columns_wire: how a payload of columns is laid out; see spoor-recording(5), COLUMNS.
 *
 *  offset
 *       0  u32  bytes      of the records
 *       4  u32  records
 *       8  u64  time       that the first time of each source is counted from
 *      16  u32  shapes
 *      20  u32  sources
 *      24  u32  runs
 *      28  u32  tasks
 *      32  u32  frames
 *      36  u32  stacks
 *      40  u32  strays     frames of stacks that nothing foretells
 *      44  u32  time_mode  COLUMNS_TIME_*
 *      48       shapes, then the columns, then the records that stay as they are
 *
 * Only the parts of columns include it.
 */
#ifndef FORMAT_COLUMNS_COLUMNS_WIRE_H
#define FORMAT_COLUMNS_COLUMNS_WIRE_H

#include <stdint.h>

#define COLUMNS_HEADER_BYTES 48
#define COLUMNS_SHAPE_BYTES 4 /* u8 before, u8 behind, u8 flags, u8 0; then a kind for each word */

#define COLUMNS_SHAPES_MAX 64
#define COLUMNS_SOURCES_MAX 65534
#define COLUMNS_WORDS_MAX 255 /* of a sample before its callchain, and behind it */

/* Flags of a shape. */
#define COLUMNS_F_CHAIN 1u /* a callchain stands between the words before and behind */
#define COLUMNS_F_TAIL 2u  /* whatever follows the last word is kept as it is */
#define COLUMNS_F_KNOWN (COLUMNS_F_CHAIN | COLUMNS_F_TAIL)

/* What a word of a sample is, and so which column it is in. */
enum columns_kind {
	COLUMNS_SOURCE,	    /* id, stream, CPU: the same for all of a source */
	COLUMNS_TIME,	    /* ns */
	COLUMNS_TASK,	    /* pid and tid */
	COLUMNS_TASK_EXTRA, /* the cgroup: nearly always the same for a task */
	COLUMNS_IP,
	COLUMNS_VALUE, /* anything else: a column of its own */
	COLUMNS_KINDS
};

#define COLUMNS_SOURCE_WORDS 4 /* COLUMNS_SOURCE words that a shape may have */

/* A time is foretold by the one before, of its source, and ... */
enum columns_time_mode {
	COLUMNS_TIME_STEP,  /* ... the source's step */
	COLUMNS_TIME_AGAIN, /* ... the step before */
	COLUMNS_TIME_MODES
};

/* A stack's first word: misc of the record, and whether ip follows in a word of its own. */
#define COLUMNS_HEAD_MISC 0xffffu
#define COLUMNS_HEAD_IP 0x10000u
#define COLUMNS_HEAD_KNOWN (COLUMNS_HEAD_MISC | COLUMNS_HEAD_IP)

/* Small numbers for small distances, in both directions. */
static inline uint64_t
columns_zigzag(uint64_t v)
{
	return v << 1 ^ (uint64_t)((int64_t)v >> 63);
}

static inline uint64_t
columns_unzigzag(uint64_t v)
{
	return v >> 1 ^ (UINT64_C(0) - (v & 1));
}

#endif

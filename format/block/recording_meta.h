/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording_meta: what a recording is, apart from its records.
 *
 * Stands in the file header and again in META blocks (the first block, and beside each
 * index), so that losing any one place loses nothing. Encoded as a list of
 * {u16 tag, u16 flags, u32 length, bytes padded to 8}; unknown tags are skipped, unless
 * META_F_CRITICAL says that without them the recording cannot be understood.
 */
#ifndef FORMAT_BLOCK_RECORDING_META_H
#define FORMAT_BLOCK_RECORDING_META_H

#include <stdint.h>

#include "format/block/block.h"
#include "format/bytes/buf.h"
#include "format/record/event_set.h"

/* On disk: never reuse a number. */
enum meta_tag {
	META_FILE_ID = 1,	   /* u8[16] */
	META_FEATURES = 2,	   /* u64 compatible, u64 incompatible: as in the file header */
	META_MACHINE_ID = 3,	   /* u8[16] */
	META_BOOT_ID = 4,	   /* u8[16] */
	META_CLOCK = 5,		   /* u64 realtime, monotonic, boottime ns; u32 clockid, u32 0 */
	META_HOST = 6,		   /* u32 page_size, cpus_possible, cpus_online, 0 */
	META_FREQUENCY = 7,	   /* u64 asked for, u64 effective, Hz */
	META_HOSTNAME = 8,	   /* text without NUL */
	META_RELEASE = 9,	   /* text without NUL */
	META_ARCH = 10,		   /* text without NUL */
	META_WRITER = 11,	   /* text without NUL */
	META_CMDLINE = 12,	   /* text without NUL */
	META_NOTES = 13,	   /* text without NUL, lines */
	META_KERNEL_BUILD_ID = 14, /* u8[1..20] */
	META_KERNEL_TEXT = 15,	   /* u64 */
	META_EVENT = 16, /* u32 attr bytes, name bytes, ids, 0; attr, name padded to 8, u64 ids */
	META_COUNTERS = 17,	 /* u64 ns between reads of the events that have no samples */
	META_PARTS = 18,	 /* critical: recording_parts.h */
	META_PID_NAMESPACE = 20, /* u64 */
	META_EVENT_UNIT = 21,	 /* u32 event, flags; u64 scale (IEEE 754); u32 unit bytes; unit */
};

/* Flags of META_EVENT_UNIT. */
#define META_UNIT_F_SNAPSHOT 1u
#define META_UNIT_F_PER_PKG 2u

#define META_F_CRITICAL 1u /* a reader that does not know the tag must refuse the file */

/* One instant on three clocks, ns. */
struct clock_triple {
	uint64_t realtime, monotonic, boottime;
};

struct recording_meta {
	uint8_t file_id[FILE_ID_BYTES]; /* random */
	uint8_t machine_id[16];		/* zero: unknown */
	uint8_t boot_id[16];
	struct clock_triple start; /* when recording began */
	uint32_t clockid;	   /* of record times: CLOCK_MONOTONIC = 1 */
	uint32_t page_size;
	uint32_t cpus_possible, cpus_online;
	uint64_t frequency_hz;		 /* asked for; 0: a fixed period */
	uint64_t frequency_hz_effective; /* got, after clamping */
	uint64_t counter_interval_ns;	 /* 0: no event is read but at the end */
	/*
	 * Inode of the PID namespace that the recorder was in; 0: the host's first one, or not known. In
	 * another one the kernel says pid 0 of every task that is outside of it.
	 */
	uint64_t pid_namespace;
	/* Strings owned by the meta, never NULL after recording_meta_new(). */
	char *hostname;
	char *release; /* uname -r */
	char *arch;    /* uname -m */
	char *writer;  /* "spoor 0.1" */
	char *cmdline; /* arguments, space-separated, as typed */
	char *notes;   /* lines: what was asked for and not got ("-F 200000 lowered to ...") */
	struct buildid kernel_build_id;
	uint64_t kernel_text;	  /* address of _text (or _stext), 0: hidden */
	struct event_set *events; /* owned */
	/* Which recordings stand behind this one (recording_parts.h), owned. NULL: none. */
	uint8_t *parts;
	size_t parts_len;
};

struct recording_meta *recording_meta_new(void); /* all zero, strings empty, no events */
void recording_meta_free(struct recording_meta *m);
/* The 32 hexadecimal digits of a machine's or a boot's id, as files have them; else *ret is untouched. */
void recording_meta_parse_id(const char *text, uint8_t ret[16]);
/* Replaces one of the strings; 0 or -FMT_E_NOMEM. */
int recording_meta_set(char **field, const char *value);
/* Appends a line to notes. */
int recording_meta_note(struct recording_meta *m, const char *line);

/* Appends to out. -FMT_E_NOMEM, -FMT_E_TOO_BIG (over RECORDING_META_MAX). */
int recording_meta_encode(const struct recording_meta *m, struct buf *out);
/* -FMT_E_CORRUPT, -FMT_E_VERSION, -FMT_E_NOMEM. */
int recording_meta_decode(struct span payload, struct recording_meta **ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * segment_name: what the name of a file of an archive says of it:
 * "20260102T030405.678901Z-BOOT-000017.spoor", with ".active" behind it while it is written.
 */
#ifndef FORMAT_RECORDING_SEGMENT_NAME_H
#define FORMAT_RECORDING_SEGMENT_NAME_H

#include <stdbool.h>
#include <stdint.h>

#define SEGMENT_NAME_SUFFIX ".spoor"
#define SEGMENT_NAME_ACTIVE ".active" /* behind the suffix */
#define SEGMENT_NAME_BOOT_MAX 40
#define SEGMENT_NAME_SEQ_MAX UINT64_C(100000000000000000) /* with one more it still parses */

struct segment_name {
	uint64_t start_ns;		  /* CLOCK_REALTIME; 0: it does not say */
	uint64_t seq;			  /* 0: it has none */
	char boot[SEGMENT_NAME_BOOT_MAX]; /* of what is between; "": none, or too long */
};

/* A name without its directory. Each part is read for itself: a name may have some only. */
void segment_name_parse(const char *base, struct segment_name *ret);
/* Is it a recording, by its name; and one that is being written? */
bool segment_name_is_recording(const char *base);
bool segment_name_is_active(const char *base);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc: tasks and their executable maps out of /proc, as synthesized records.
 */
#ifndef RECORDER_HOST_PROC_H
#define RECORDER_HOST_PROC_H

#include <stdint.h>
#include <sys/types.h>

#include "format/bytes/buf.h"
#include "recorder/host/state.h"

#define PROC_MAPS_LIMIT_NS 500000000 /* per process; perf's limit as well */
/*
 * Records of maps that a process may have in a scan, so that nobody fills memory and archive: most
 * have some 5 KiB, a JVM 300. What others have does not suffer where many have much.
 */
#define PROC_MAPS_BYTES (1u << 20)
#define PROC_MAPS_BYTES_CROWDED (64u << 10)
#define PROC_SCAN_BYTES (32u << 20) /* of maps of all: above, it is crowded */

#define PROC_PART_BYTES (64u << 10) /* when records are handed over in the midst of something */

/* What all records of a scan bear. */
struct perf_sample_id proc_sample_id(const struct state_options *options);

/* Hands over what there is, as state_options say. 0, or what their take() returns. */
int proc_hand_over(const struct state_options *options, const struct state_part *part,
		   struct buf *out);

/* One line of /proc/PID/maps. */
struct proc_map {
	uint64_t start, end, pgoff;
	uint32_t prot, flags; /* PROT_*, MAP_SHARED or MAP_PRIVATE */
	uint32_t maj, min;
	uint64_t ino;
	const char *path; /* "//anon" when there is none; points into the line */
};

/*
 * Takes a line apart, without its newline; undoes the escapes in its path, in place.
 * 0, -EINVAL.
 */
int proc_map_parse(char *line, struct proc_map *ret);

/* Every process of /proc, or those of options; appends to out, counts in stats. */
int proc_scan(const struct state_options *options, struct buf *out, struct state_stats *stats);

#endif

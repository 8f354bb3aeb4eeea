/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_map: the lines of /tmp/perf-PID.map, in which a runtime tells where it put its code.
 *
 * "START SIZE NAME", the numbers hexadecimal, with 0x before them or not; the name is the rest of
 * the line (tools/perf/Documentation/jit-interface.txt of Linux). Where ranges overlap, the later
 * line is right.
 */
#ifndef FORMAT_JIT_PERF_MAP_H
#define FORMAT_JIT_PERF_MAP_H

#include "format/bytes/span.h"

struct perf_map_line {
	uint64_t start, size; /* size at least 1; start + size does not wrap */
	const char *name;     /* in the text; not terminated, no NUL in it */
	size_t name_len;      /* 1 to JIT_NAME_MAX */
};

/*
 * The next line that tells a range, true, or false at the end of the text. Any other line is
 * passed over, and so is a last line without a newline: its writer may be in the middle of it.
 */
bool perf_map_next(struct span *text, struct perf_map_line *ret);

#endif

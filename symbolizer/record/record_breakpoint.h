/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_breakpoint: symbols in breakpoints, as the addresses that the recorder takes. */
#ifndef SYMBOLIZER_RECORD_RECORD_BREAKPOINT_H
#define SYMBOLIZER_RECORD_RECORD_BREAKPOINT_H

#include <stddef.h>
#include <sys/types.h>

struct buf;

/*
 * What stands behind "mem:", n bytes: PATH:SYMBOL[+OFFSET], where PATH begins with / or ., or SYMBOL[+OFFSET] of the
 * kernel gets "=ADDRESS" behind it; numbers, NAME=ADDRESS, and what follows ([/LEN][:ACCESS][:MODS]) stay as they are.
 * pid: the process that is sampled; 0: there is not just one. NULL, or what is wrong, and where.
 */
const char *record_breakpoint_resolve(const char *event, size_t n, pid_t pid, struct buf *out,
				      const char **ret_where);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_usdt: static probes that spoor record is to open, as places in files. */
#ifndef SYMBOLIZER_RECORD_RECORD_USDT_H
#define SYMBOLIZER_RECORD_RECORD_USDT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct buf;

#define RECORD_USDT_PROBLEM_BYTES (2 * PATH_MAX + 256)

/* Whose probes they are when no file is named. */
struct record_probed {
	const pid_t *pids;
	size_t nr_pids;
	const char *command; /* its program, as typed; NULL: none */
};

/*
 * What is behind "usdt:" (probed NULL) or "sdt:", n bytes, PATH:PROVIDER:NAME[:MODS] or PROVIDER:NAME[:MODS] in a file
 * of what is recorded, goes to out as the recorder takes it: PATH:PROVIDER:NAME=OFFSET[(SEMAPHORE)][+OFFSET...][:MODS],
 * with the whole path. False, with what is wrong and where in the event.
 */
bool record_usdt_resolve(const char *event, size_t n, const struct record_probed *probed,
			 struct buf *out, const char **ret_where,
			 char problem[RECORD_USDT_PROBLEM_BYTES]);

#endif

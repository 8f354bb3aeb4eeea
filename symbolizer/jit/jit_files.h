/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit_files: which file on this host has the names of code that a process made at run time.
 *
 * A path in /tmp is anybody's to fill. A file is believed when it is a regular one, is root's, ours
 * or the process's, and was not last changed before the process began.
 */
#ifndef SYMBOLIZER_JIT_JIT_FILES_H
#define SYMBOLIZER_JIT_JIT_FILES_H

#include <stdint.h>

#include "format/bytes/io.h"

struct jit_process {
	uint32_t pid;
	uint64_t start_ns; /* CLOCK_MONOTONIC; 0: not known */
	uint64_t alive_ns; /* a time at which it lived */
	uint64_t until_ns; /* another one had its number, or it another program, from then on; 0: not known */
};

/*
 * /tmp/perf-PID.map: of the innermost PID of the process in its own file system, as long as it lives
 * and we may look there, else of pid in ours. NULL: there is none to be believed.
 */
struct io_source *jit_files_map(const struct jit_process *process);
/* The file that it mapped under this path, likewise. ino 0: which one is not known. */
struct io_source *jit_files_dump(const struct jit_process *process, const char *path, uint64_t ino);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_failures: files whose debug information could not be read lately, and why: whoever looks again does not
 * pay again. One small file in the directory of dwarf_cache_dir. It says nothing but that of a file (device,
 * inode, size and time of change), so that it may be about files of anybody.
 */
#ifndef SYMBOLIZER_DWARF_DWARF_FAILURES_H
#define SYMBOLIZER_DWARF_DWARF_FAILURES_H

#include <stdbool.h>

#include "symbolizer/dwarf/dwarf_worker.h"

#define DWARF_FAILURES_MAX 1024 /* the newest */
#define DWARF_FAILURES_S                                                                           \
	3600 /* then a file is read again: memory may have been short, or the machine slow */
#define DWARF_FAILURES_NAME "failures"

struct dwarf_failures;

/* Those that the directory has; dir NULL: there is none, and nothing is kept. NULL: out of memory. */
struct dwarf_failures *dwarf_failures_open(const char *dir);
/* Writes what was added, if it can. NULL is allowed. */
void dwarf_failures_close(struct dwarf_failures *f);

bool dwarf_failures_find(const struct dwarf_failures *f, int fd, enum dwarf_outcome *ret);
/* One that is no failure of the file is not kept. */
void dwarf_failures_add(struct dwarf_failures *f, int fd, enum dwarf_outcome outcome);

#endif

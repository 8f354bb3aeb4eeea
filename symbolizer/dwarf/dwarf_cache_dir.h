/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_cache_dir: the directory of the files of dwarf_cache, one for each build-id: whose it is, how a file comes
 * there, and how much it may hold.
 */
#ifndef SYMBOLIZER_DWARF_DWARF_CACHE_DIR_H
#define SYMBOLIZER_DWARF_DWARF_CACHE_DIR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "format/bytes/buildid.h"
#include "format/bytes/span.h"

#define DWARF_CACHE_SUFFIX ".sym"
/* Of a name: the build-id in hex and the suffix. */
#define DWARF_CACHE_NAME_BYTES (2 * BUILDID_MAX + sizeof(DWARF_CACHE_SUFFIX))
#define DWARF_CACHE_BYTES_MAX (UINT64_C(512) << 20) /* of all; the oldest go */

/*
 * Where the files are: $XDG_CACHE_HOME/spoor, or ~/.cache/spoor. The caller frees it; NULL: there is no
 * home, or no memory.
 */
char *dwarf_cache_dir(void);

/* Makes the directory, below one that is there. -1: path is NULL, or it is not there, or not ours alone. */
int dwarf_cache_dir_open(const char *path);
/* Opens one of its files for reading. -1: it is not there, or not a file of ours alone. */
int dwarf_cache_dir_file(int dir, const char *name, struct stat *ret);
/* A whole file, in place of the one of this name. False: what was there is there. */
bool dwarf_cache_dir_write(int dir, const char *name, struct span bytes);
/*
 * Removes those that were not used for longest, until DWARF_CACHE_BYTES_MAX are left; also what a killed process left
 * behind.
 */
void dwarf_cache_dir_bound(int dir);

#endif

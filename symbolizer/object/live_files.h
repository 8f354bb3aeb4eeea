/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_files: ways to files that living processes have mapped: in the root of a container, or
 * without a name since they were deleted or replaced. /proc is looked through once, when first
 * asked. A way leads to some file of that path: whoever takes it verifies it.
 *
 * A process that begins an exec, and whose file system does not answer, lets nobody read its maps for as
 * long. So a process of our own reads them; where it is held up it is killed, and another goes on behind.
 */
#ifndef SYMBOLIZER_OBJECT_LIVE_FILES_H
#define SYMBOLIZER_OBJECT_LIVE_FILES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "format/model/task_model.h"

/* Bounds against a process with endless maps, and all of them together. */
#define LIVE_FILES_LINES_MAX 8192
#define LIVE_FILES_BYTES_MAX (32u << 20)
/* How long one may take, and how many are passed over that took longer; then those behind are, too. */
#define LIVE_FILES_WAIT_MS 1000
#define LIVE_FILES_STUCK_MAX 4
/* Processes whose maps of one path are tried: containers of one image have different files. */
#define LIVE_FILES_TRIED_MAX 16

struct live_files;

struct live_file {
	pid_t pid;
	uint64_t start, end; /* of the map */
	uint64_t ino;
	uint32_t maj, min;
	const char *path;
};

struct live_files *live_files_new(void); /* NULL: out of memory */
void live_files_free(struct live_files *l);

/*
 * Executable maps of the object: by path, and where the recording has its inode also by that. The
 * first of them, *ret_nr in all. 0, -FMT_E_NOMEM.
 */
int live_files_find(struct live_files *l, const struct map_object *wanted,
		    const struct live_file **ret, size_t *ret_nr);

#endif

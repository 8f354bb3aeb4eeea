/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cached_path: a path that is looked up in the kernel's own cache of names, and so waits for no file
 * system.
 */
#ifndef RECORDER_HOST_CACHED_PATH_H
#define RECORDER_HOST_CACHED_PATH_H

#include <stdint.h>

/*
 * openat2(2) below dir, with O_CLOEXEC and RESOLVE_CACHED added. Returns a descriptor; -EAGAIN: a name
 * is not in the cache; -EINVAL: a kernel before Linux 5.12, which cannot look in its cache alone; -errno.
 */
int cached_path_open(int dir, const char *path, uint64_t flags, uint64_t resolve);
/* The same without RESOLVE_CACHED: may wait for a file system. */
int uncached_path_open(int dir, const char *path, uint64_t flags, uint64_t resolve);

#endif

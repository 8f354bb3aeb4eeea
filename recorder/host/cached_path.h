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
 * is not in the cache; -EINVAL: before Linux 5.12, or under a seccomp filter that refuses the call, the cache
 * alone cannot be asked, and path_below_open() of format/ is left; -errno.
 */
int cached_path_open(int dir, const char *path, uint64_t flags, uint64_t resolve);

#endif

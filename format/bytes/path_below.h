/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path_below: a file below a directory that another process arranged, such as its root: no name leads out of it.
 */
#ifndef FORMAT_BYTES_PATH_BELOW_H
#define FORMAT_BYTES_PATH_BELOW_H

#include <stdint.h>

/*
 * openat2(2), with O_CLOEXEC added. Where that is missing (before Linux 5.6) or a seccomp filter refuses it, one name
 * after another, all below dir: then no link is followed (-ENOTDIR, and as O_NOFOLLOW says), and a path with ".." is
 * -ELOOP. Returns a descriptor, or -errno.
 */
int path_below_open(int dir, const char *path, uint64_t flags, uint64_t resolve);

#endif

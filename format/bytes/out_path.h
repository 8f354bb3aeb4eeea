/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * out_path: where an output goes by its path, when others can write on the way there.
 *
 * Follows symbolic links as the kernel does with fs.protected_symlinks, whatever that is set to: not
 * one in a directory that anybody may write to, unless the link is ours or the directory's owner's. Writes
 * as with fs.protected_regular and fs.protected_fifos: not into what another put there.
 */
#ifndef FORMAT_BYTES_OUT_PATH_H
#define FORMAT_BYTES_OUT_PATH_H

#include <errno.h>
#include <sys/types.h>

/* errno of what is refused: one that no call on files has. And what it means, said of the path. */
#define OUT_PATH_E_REFUSED ENOTUNIQ
#define OUT_PATH_REFUSED                                                                           \
	"another user put that there, in a directory that anybody may write to: it is not written to"

/*
 * The path without symbolic links but a descriptor's (/proc/PID/fd/N); its last part need not exist. Freed by
 * the caller. NULL with errno: OUT_PATH_E_REFUSED, ELOOP, ENOENT, ENAMETOOLONG, ENOMEM...
 */
char *out_path_resolve(const char *path);

/*
 * open(2) with these flags (O_NOFOLLOW and O_CLOEXEC are added) of what out_path_resolve() returned.
 * O_TRUNC cuts only what may be written to. -1 with errno: OUT_PATH_E_REFUSED...
 */
int out_path_open(const char *resolved, int flags, mode_t mode);

#endif

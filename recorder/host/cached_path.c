/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/host/cached_path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRIES 6

/*
 * The kernel says EAGAIN, too, where a mount or a rename anywhere on the host came in between
 * (fs/namei.c, legitimize_path()): one lookup of forty while a process mounts without a pause.
 */
int
cached_path_open(int dir, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = { .flags = flags | O_CLOEXEC, .resolve = resolve | RESOLVE_CACHED };
	int fd = -EAGAIN;

	for (int i = 0; i < TRIES && fd == -EAGAIN; i++) {
		fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
		fd = fd < 0 ? -errno : fd;
	}
	/* EPERM: a seccomp filter that is older than the call. */
	return fd == -ENOSYS || fd == -EPERM ? -EINVAL : fd;
}

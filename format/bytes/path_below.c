/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/bytes/path_below.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bsd/string.h>

/* The next name of *rest; NULL: there is none. */
static char *
next_name(char **rest)
{
	char *name;

	do
		name = strsep(rest, "/");
	while (name && (!*name || strcmp(name, ".") == 0));
	return name;
}

static int
open_name(int at, const char *name, int flags)
{
	int fd = strcmp(name, "..") == 0 ? -1 : openat(at, name, flags | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	return strcmp(name, "..") == 0 ? -ELOOP : -errno;
}

static int
path_below_walk(int dir, const char *path, int flags)
{
	char copy[PATH_MAX], *rest = copy, *name, *next;
	int at = dir, fd = -ENOENT;

	if (strlcpy(copy, path, sizeof(copy)) >= sizeof(copy))
		return -ENAMETOOLONG;
	for (name = next_name(&rest); name; name = next) {
		next = next_name(&rest);
		fd = open_name(at, name, next ? O_PATH | O_DIRECTORY : flags);
		if (at != dir)
			(void)close(at);
		if (fd < 0)
			return fd;
		at = fd;
	}
	return fd;
}

int
path_below_open(int dir, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = { .flags = flags | O_CLOEXEC, .resolve = resolve };
	int fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how)), r = -errno;

	if (fd >= 0)
		return fd;
	return r == -ENOSYS || r == -EPERM ? path_below_walk(dir, path, (int)flags) : r;
}

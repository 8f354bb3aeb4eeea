/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/bytes/file_reach.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define READ (S_IRGRP | S_IROTH)
#define FD_PATH_BYTES 32

static void
fd_path(int fd, char ret[FD_PATH_BYTES])
{
	(void)snprintf(ret, FD_PATH_BYTES, "/proc/self/fd/%d", fd);
}

/* It may take from some what the mode gives to all. */
static bool
has_acl(int fd)
{
	char path[FD_PATH_BYTES];

	fd_path(fd, path);
	return getxattr(path, "system.posix_acl_access", NULL, 0) >= 0 ||
		(errno != ENODATA && errno != EOPNOTSUPP);
}

/* Who of these may search a directory; gid: the file's. */
static mode_t
reach_through(int fd, gid_t gid, mode_t who)
{
	const mode_t both = S_IXGRP | S_IXOTH;
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISDIR(st.st_mode) || has_acl(fd))
		return 0;
	if ((st.st_mode & both) == both)
		return who;
	return st.st_gid == gid && st.st_mode & S_IXGRP ? who & S_IRGRP : 0;
}

/* From the root on, one name after another: path has no link, or leads elsewhere. */
static mode_t
walk(char *path, const struct stat *st, mode_t who)
{
	char *name, *rest = path;
	struct stat found;
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	while (fd >= 0 && who && (name = strsep(&rest, "/"))) {
		int next;

		if (!*name)
			continue;
		who = reach_through(fd, st->st_gid, who);
		next = openat(fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		(void)close(fd);
		fd = next;
	}
	if (fd < 0 || fstat(fd, &found) < 0 || found.st_dev != st->st_dev ||
	    found.st_ino != st->st_ino)
		who = 0;
	if (fd >= 0)
		(void)close(fd);
	return who;
}

mode_t
file_reach(int fd)
{
	char link[FD_PATH_BYTES], path[PATH_MAX];
	struct stat st;
	mode_t who;
	ssize_t n;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink == 0)
		return 0;
	who = st.st_mode & READ;
	/* Its group are others, too. */
	if (!(who & S_IRGRP))
		who = 0;
	fd_path(fd, link);
	n = who ? readlink(link, path, sizeof(path) - 1) : -1;
	if (n <= 0 || path[0] != '/' || has_acl(fd))
		return 0;
	path[n] = '\0';
	return walk(path, &st, who);
}

bool
file_reach_all(int fd)
{
	return file_reach(fd) == READ;
}

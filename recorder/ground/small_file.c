/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/ground/small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

ssize_t
small_file_read(int dirfd, const char *path, char *to, size_t cap)
{
	int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	to[0] = '\0';
	if (fd < 0)
		return -errno;
	n = read(fd, to, cap - 1);
	if (n < 0)
		n = -errno;
	else
		to[n] = '\0';
	(void)close(fd);
	return n;
}

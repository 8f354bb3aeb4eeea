/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/bytes/plain_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

bool
plain_file_is_pseudo(int fd)
{
	static const uint32_t kinds[] = {
		PROC_SUPER_MAGIC,
		SYSFS_MAGIC,
		DEBUGFS_MAGIC,
		TRACEFS_MAGIC,
		CGROUP_SUPER_MAGIC,
		CGROUP2_SUPER_MAGIC,
		SECURITYFS_MAGIC,
		SELINUX_MAGIC,
		SMACK_MAGIC,
		BPF_FS_MAGIC,
		PSTOREFS_MAGIC,
		EFIVARFS_MAGIC,
		BINFMTFS_MAGIC,
		NSFS_MAGIC,
		SOCKFS_MAGIC,
		ANON_INODE_FS_MAGIC,
		DEVPTS_SUPER_MAGIC,
		RDTGROUP_SUPER_MAGIC,
		HUGETLBFS_MAGIC,
		0x62656570 /* configfs */,
		0x19800202 /* mqueue */,
		0x65735543 /* fusectl */,
	};
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if ((uint32_t)fs.f_type == kinds[i])
			return true;
	return false;
}

int
plain_file_open(int path_fd)
{
	char path[64];
	struct stat st;
	int fd;

	if (fstat(path_fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || plain_file_is_pseudo(path_fd))
		return -EOPNOTSUPP;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

static bool
is_same(int a, int b)
{
	struct stat x, y;

	return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev &&
		x.st_ino == y.st_ino;
}

int
plain_file_open_name(int dir, const char *name, int flags)
{
	int path_fd = openat(dir, name, O_PATH | O_CLOEXEC | flags), fd;

	if (path_fd < 0)
		return -errno;
	fd = plain_file_open(path_fd);
	/* Without procfs. What has come in its place is not what was looked at. */
	if (fd == -ENOENT) {
		fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags);
		fd = fd < 0 ? -errno : fd;
		if (fd >= 0 && !is_same(fd, path_fd)) {
			(void)close(fd);
			fd = -ENOENT;
		}
	}
	(void)close(path_fd);
	return fd;
}

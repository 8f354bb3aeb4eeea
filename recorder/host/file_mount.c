/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/host/file_mount.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* 0: not known. */
static int
mount_id(int fd)
{
	char path[64], line[128];
	int id = 0;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	while (f && id == 0 && fgets(line, sizeof(line), f))
		(void)sscanf(line, "mnt_id: %d", &id);
	if (f)
		(void)fclose(f);
	return id;
}

static FILE *
table_open(int process)
{
	int fd = openat(process, "mountinfo", O_RDONLY | O_CLOEXEC);
	FILE *table = fd < 0 ? NULL : fdopen(fd, "r");

	if (!table && fd >= 0)
		(void)close(fd);
	return table;
}

/*
 * By its mount; where that is not in the table by the device, but not that of an overlay whose layers
 * lie on several file systems, where files have another one than the mount.
 */
static struct file_mount
table_find(FILE *table, int id, uint32_t maj, uint32_t min)
{
	struct file_mount m = { .fuse = maj == 0 };
	char *line = NULL, *type;
	unsigned int of_maj, of_min;
	size_t size = 0;
	int of_id;

	while (!m.known && getline(&line, &size, table) > 0) {
		if (sscanf(line, "%d %*d %u:%u ", &of_id, &of_maj, &of_min) != 3 ||
		    (of_id != id && (of_maj != maj || of_min != min)))
			continue;
		type = strstr(line, " - ");
		m = (struct file_mount){ .known = of_id == id,
					 .fuse = type && strncmp(type + 3, "fuse", 4) == 0,
					 .overlay = type && strncmp(type + 3, "overlay ", 8) == 0,
					 .maj = of_maj,
					 .min = of_min };
	}
	free(line);
	return m;
}

static bool
same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Is the process's mount namespace one of our user namespace? */
static bool
has_our_mounts(int process)
{
	int ns = openat(process, "ns/mnt", O_RDONLY | O_CLOEXEC), user = -1;
	struct stat owner, self;
	bool ours;

	if (ns >= 0)
		user = ioctl(ns, NS_GET_USERNS);
	ours = user >= 0 && fstat(user, &owner) == 0 && stat("/proc/self/ns/user", &self) == 0 &&
		same_file(&owner, &self);
	if (ns >= 0)
		(void)close(ns);
	if (user >= 0)
		(void)close(user);
	return ours;
}

struct file_mount
file_mount_of(int fd, uint32_t maj, uint32_t min, pid_t by)
{
	struct file_mount m = { .fuse = true };
	char path[32] = "/proc/self";
	int process;
	FILE *table;

	if (by)
		(void)snprintf(path, sizeof(path), "/proc/%d", (int)by);
	process = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	table = process < 0 ? NULL : table_open(process);
	if (table) {
		m = table_find(table, mount_id(fd), maj, min);
		(void)fclose(table);
		/* After the table: who has left our user namespace does not come back to it. */
		m.ours = m.known && (!by || has_our_mounts(process));
	} else if (by) {
		m = file_mount_of(fd, maj, min, 0);
	}
	if (process >= 0)
		(void)close(process);
	return m;
}

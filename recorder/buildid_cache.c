/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Build-ids of files that processes have mapped, remembered by inode. */
#include "recorder/buildid.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define ENTRIES 4096 /* a power of two; an inode has one place */

#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20
#endif

struct entry {
	uint32_t maj, min;
	uint64_t ino, size;
	int64_t ctime_sec;
	uint32_t ctime_nsec;
	int result; /* of the reading; 1: the entry is empty */
	struct buildid id;
};

struct buildid_cache {
	struct entry entries[ENTRIES];
};

struct buildid_cache *
buildid_cache_new(void)
{
	struct buildid_cache *c = calloc(1, sizeof(*c));

	for (size_t i = 0; c && i < ENTRIES; i++)
		c->entries[i].result = 1;
	return c;
}

void
buildid_cache_free(struct buildid_cache *c)
{
	free(c);
}

static void
map_link(const struct buildid_map *m, char *path, size_t cap)
{
	(void)snprintf(path, cap, "/proc/%d/map_files/%llx-%llx", (int)m->pid,
		       (unsigned long long)m->start, (unsigned long long)m->end);
}

/*
 * Is this device a FUSE file system? Then open() and read() wait for a process that may
 * never answer. Asked of the mounts, which answers without asking the file system.
 */
static bool
device_is_fuse(pid_t pid, uint32_t maj, uint32_t min)
{
	unsigned int line_maj, line_min;
	bool found = false, fuse = false;
	char *line = NULL, *sep;
	size_t size = 0;
	char path[64];
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)pid);
	f = fopen(path, "re");
	if (!f)
		f = fopen("/proc/self/mountinfo", "re");
	if (!f)
		return true;
	while (!found && getline(&line, &size, f) > 0) {
		if (sscanf(line, "%*d %*d %u:%u ", &line_maj, &line_min) != 2 || line_maj != maj ||
		    line_min != min)
			continue;
		sep = strstr(line, " - ");
		found = true;
		fuse = sep && strncmp(sep + 3, "fuse", 4) == 0;
	}
	free(line);
	(void)fclose(f);
	return found ? fuse : maj == 0;
}

/* Without a word to the file system: what the kernel has cached is enough, and cannot block. */
static int
stat_cached(int dirfd, const char *path, struct statx *ret)
{
	int flags = AT_STATX_DONT_SYNC | (*path ? 0 : AT_EMPTY_PATH);

	return statx(dirfd, path, flags, STATX_BASIC_STATS, ret) < 0 ? -errno : 0;
}

/*
 * Finds path below root without leaving the kernel's own cache of names: a mapped file's
 * name is in it, and a lookup that is not could wait for a FUSE process. O_PATH, or -errno.
 */
static int
path_find(const char *root, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_CACHED };
	int dirfd, fd;

	if (path[0] != '/' || path[1] == '/')
		return -ENOENT;
	dirfd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dirfd < 0)
		return -errno;
	fd = (int)syscall(SYS_openat2, dirfd, path, &how, sizeof(how));
	if (fd < 0 && errno == EINVAL) { /* before Linux 5.12 */
		how.resolve = RESOLVE_IN_ROOT;
		fd = (int)syscall(SYS_openat2, dirfd, path, &how, sizeof(how));
	}
	if (fd < 0)
		fd = -errno;
	(void)close(dirfd);
	return fd;
}

/*
 * Finds the mapped file: a path to open in *path, its state in *st, and what has to stay
 * open for the path to hold (-1: nothing). -ESTALE.
 */
static int
map_find(const struct buildid_map *m, char *path, size_t cap, struct statx *st, int *ret_fd)
{
	char root[64];
	bool same;
	int fd;

	*ret_fd = -1;
	map_link(m, path, cap);
	if (stat_cached(AT_FDCWD, path, st) == 0 && st->stx_ino == m->ino)
		return 0;
	/* No such map any more, or no right to follow the link (CAP_CHECKPOINT_RESTORE). */
	(void)snprintf(root, sizeof(root), "/proc/%d/root", (int)m->pid);
	for (int own = 0; own < 2; own++) {
		fd = path_find(own ? "/" : root, m->path);
		if (fd < 0)
			continue;
		same = stat_cached(fd, "", st) == 0 && st->stx_ino == m->ino;
		/* On overlayfs the map may tell another device than stat does. */
		if (same && (own || (m->maj && st->stx_dev_major)))
			same = st->stx_dev_major == m->maj && st->stx_dev_minor == m->min;
		if (same) {
			(void)snprintf(path, cap, "/proc/self/fd/%d", fd);
			*ret_fd = fd;
			return 0;
		}
		(void)close(fd);
	}
	return -ESTALE;
}

static int
file_read(const struct buildid_map *m, const char *path, const struct statx *st,
	  struct buildid *ret)
{
	int fd, rc;

	if (!S_ISREG(st->stx_mode))
		return -ENODATA;
	if (device_is_fuse(m->pid, st->stx_dev_major, st->stx_dev_minor))
		return -EOPNOTSUPP;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	rc = buildid_read_fd(fd, ret);
	(void)close(fd);
	return rc;
}

int
buildid_cache_get(struct buildid_cache *c, const struct buildid_map *m, struct buildid *ret)
{
	struct statx st;
	struct entry *e;
	char path[96];
	int hold, rc;

	if (!m->ino)
		return -ENODATA;
	rc = map_find(m, path, sizeof(path), &st, &hold);
	if (rc)
		return rc;
	e = &c->entries[(m->ino ^ m->ino >> 12 ^ (uint64_t)m->min << 4) % ENTRIES];
	if (e->result == 1 || e->ino != m->ino || e->maj != m->maj || e->min != m->min ||
	    e->size != st.stx_size || e->ctime_sec != st.stx_ctime.tv_sec ||
	    e->ctime_nsec != st.stx_ctime.tv_nsec) {
		*e = (struct entry){ .maj = m->maj,
				     .min = m->min,
				     .ino = m->ino,
				     .size = st.stx_size,
				     .ctime_sec = st.stx_ctime.tv_sec,
				     .ctime_nsec = st.stx_ctime.tv_nsec };
		e->result = rc = file_read(m, path, &st, &e->id);
		/* What is wrong with us now may be right next time. */
		if (rc && rc != -ENODATA && rc != -ENOEXEC && rc != -EOPNOTSUPP)
			e->result = 1;
	} else {
		rc = e->result;
	}
	if (hold >= 0)
		(void)close(hold);
	if (rc == 0)
		*ret = e->id;
	return rc;
}

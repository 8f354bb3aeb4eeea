/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/host/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include <bsd/string.h>

#include "format/bytes/path_below.h"
#include "format/bytes/plain_file.h"
#include "format/bytes/time_text.h"
#include "recorder/host/cached_path.h"
#include "recorder/host/host.h"

#define FRESH_NS (600 * SECOND_NS)
#define TICK_NS_MAX 10000000 /* where HZ is 100 */

/* They have a file system of their own, which is in no table of mounts. */
static dev_t
memfd_device(void)
{
	int fd = memfd_create("spoor", MFD_CLOEXEC);
	struct stat st;
	dev_t dev;

	if (fd < 0)
		return 0;
	dev = fstat(fd, &st) == 0 ? st.st_dev : 0;
	(void)close(fd);
	return dev;
}

/* Times of files are those of the last tick: what changed after it may bear its time. */
static int64_t
tick_ns(void)
{
	struct timespec tick;

	if (clock_getres(CLOCK_REALTIME_COARSE, &tick) < 0)
		return TICK_NS_MAX;
	return time_text_ns(&tick);
}

void
mapped_files_init(struct mapped_files *c)
{
	*c = (struct mapped_files){ .memfds = memfd_device(), .tick_ns = tick_ns() };
	c->root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	c->host_root = open("/proc/1/root", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

void
mapped_files_done(struct mapped_files *c)
{
	if (c->root >= 0)
		(void)close(c->root);
	if (c->host_root >= 0)
		(void)close(c->host_root);
}

/* --- finding a file ------------------------------------------------------------------------ */

/* Without a word to the file system: what the kernel has cached is enough, and cannot block. */
static int
stat_cached(int fd, struct statx *ret)
{
	return statx(fd, "", AT_STATX_DONT_SYNC | AT_EMPTY_PATH, STATX_BASIC_STATS, ret) < 0
		? -errno
		: 0;
}

/*
 * Finds path below root without leaving the kernel's own cache of names: a mapped file's
 * name is in it, and a lookup that is not could wait for a FUSE process. O_PATH, or -errno.
 */
static int
path_find(int root, const char *path)
{
	int fd;

	if (path[0] != '/' || path[1] == '/')
		return -ENOENT;
	fd = cached_path_open(root, path, O_PATH, RESOLVE_IN_ROOT);
	return fd == -EINVAL ? path_below_open(root, path, O_PATH, RESOLVE_IN_ROOT) : fd;
}

static bool
has_device(const struct mapped_file *f, const struct buildid_map *m)
{
	return f->st.stx_dev_major == m->maj && f->st.stx_dev_minor == m->min;
}

/* Looked up once: a table may be long. */
static const struct file_mount *
mount_of(struct mapped_file *f)
{
	if (!f->has_mount)
		f->mount = file_mount_of(f->fd, f->st.stx_dev_major, f->st.stx_dev_minor, f->by);
	f->has_mount = true;
	return &f->mount;
}

/*
 * Is it the mapped inode, and not one of that number in another file system, as anybody can make one?
 * Of overlayfs and btrfs stat tells another device than the map. The map has that of the file
 * system, as the mount has; before Linux 6.18, of an overlay's file, that of the layer, which nothing
 * tells: then it is believed of overlays that root has mounted, until one map was told as it is.
 */
static bool
is_the_inode(struct mapped_files *c, const struct buildid_map *m, struct mapped_file *f)
{
	const struct file_mount *mount;
	bool same;

	/* Then the id is compared. */
	if (m->known_id.size)
		return true;
	if (f->st.stx_ino != m->ino || has_device(f, m))
		return f->st.stx_ino == m->ino;
	if (f->st.stx_dev_major)
		return false;
	mount = mount_of(f);
	f->numbered = !mount->overlay || f->by == 0;
	same = mount->known && mount->maj == m->maj && mount->min == m->min;
	c->overlays_told |= same && mount->overlay;
	return same || (mount->known && mount->overlay && mount->ours && !c->overlays_told);
}

/* The file by its path below a process's root, if that is the mapped one. */
static bool
find_below(struct mapped_files *c, const struct buildid_map *m, int root, pid_t by,
	   struct mapped_file *f)
{
	*f = (struct mapped_file){ .fd = path_find(root, m->path), .by = by };
	if (f->fd < 0)
		return false;
	if (stat_cached(f->fd, &f->st) < 0 || !is_the_inode(c, m, f)) {
		(void)close(f->fd);
		return false;
	}
	return true;
}

static bool
find_of_process(struct mapped_files *c, const struct buildid_map *m, pid_t pid,
		struct mapped_file *f)
{
	char path[64];
	bool found;
	int root;

	(void)snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return false;
	found = find_below(c, m, root, pid, f);
	(void)close(root);
	return found;
}

/* The link to a mapped file itself, if that is the mapped one. */
static bool
find_by_link(struct mapped_files *c, const struct buildid_map *m, const char *link,
	     struct mapped_file *f)
{
	int fd = open(link, O_PATH | O_CLOEXEC);

	if (fd < 0)
		return false;
	*f = (struct mapped_file){ .fd = fd, .by = m->pid };
	f->by_map = stat_cached(fd, &f->st) == 0 && is_the_inode(c, m, f);
	if (!f->by_map)
		(void)close(fd);
	/* It was followed. */
	errno = 0;
	return f->by_map;
}

static bool
find_by_map(struct mapped_files *c, const struct buildid_map *m, struct mapped_file *f)
{
	char path[96];

	if (c->no_map_files)
		return false;
	(void)snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)m->pid,
		       (unsigned long long)m->start, (unsigned long long)m->end);
	if (find_by_link(c, m, path, f))
		return true;
	/* To follow the link takes CAP_CHECKPOINT_RESTORE, whoever's process it is. */
	if (errno == EPERM)
		c->no_map_files = true;
	return false;
}

/* Whoever may not follow those may still have the program itself. */
static bool
find_by_exe(struct mapped_files *c, const struct buildid_map *m, struct mapped_file *f)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)m->pid);
	return c->no_map_files && find_by_link(c, m, path, f);
}

/*
 * The last moment when the file may have changed; a clock that was set meanwhile costs another look
 * at it.
 */
static uint64_t
changed_ns(const struct mapped_files *c, const struct statx *st)
{
	struct clock_triple now;
	int64_t at;

	host_clocks(&now);
	at = st->stx_ctime.tv_sec * SECOND_NS + st->stx_ctime.tv_nsec + c->tick_ns -
		(int64_t)(now.realtime - now.monotonic);
	return at > 0 ? (uint64_t)at : 0;
}

/* --- opening it ---------------------------------------------------------------------------- */

/* Of FUSE, open() and read() wait for a process that may never answer. */
static bool
is_on_fuse(const struct mapped_files *c, struct mapped_file *f)
{
	if (c->memfds && makedev(f->st.stx_dev_major, f->st.stx_dev_minor) == c->memfds)
		return false;
	return mount_of(f)->fuse;
}

int
mapped_file_open(const struct mapped_files *c, struct mapped_file *f)
{
	if (!S_ISREG(f->st.stx_mode) || is_on_fuse(c, f))
		return -EOPNOTSUPP;
	return plain_file_open(f->fd);
}

/* tmpfs has no ioctl for it; it stands in the handle: mm/shmem.c, shmem_encode_fh(). */
static bool
tmpfs_generation(int fd, uint64_t ino, uint32_t *ret)
{
	uint32_t room[sizeof(struct file_handle) / sizeof(uint32_t) + 3] = { 0 }, words[3];
	struct file_handle *h = (struct file_handle *)(void *)room;
	struct statfs fs;
	int mount;

	h->handle_bytes = sizeof(words);
	if (fstatfs(fd, &fs) < 0 || fs.f_type != TMPFS_MAGIC ||
	    name_to_handle_at(fd, "", h, &mount, AT_EMPTY_PATH) < 0 ||
	    h->handle_bytes != sizeof(words))
		return false;
	memcpy(words, h->f_handle, sizeof(words));
	*ret = words[0];
	return ino == (words[1] | (uint64_t)words[2] << 32);
}

bool
mapped_file_generation(int fd, uint64_t ino, uint32_t *ret)
{
	long generation = 0; /* the kernel writes an int, whatever the number of the ioctl says */

	if (ioctl(fd, FS_IOC_GETVERSION, &generation) < 0)
		return tmpfs_generation(fd, ino, ret);
	*ret = (uint32_t)generation;
	return true;
}

/*
 * A path may name the same inode number again and yet another file, as each a.out of a loop that
 * makes and removes one: then it changed after it was mapped, and its generation is another. What a scan
 * has found mapped has none.
 */
static bool
is_the_mapped(const struct mapped_files *c, const struct buildid_map *m, struct mapped_file *f)
{
	bool in_time = f->by_map || f->changed_ns <= m->mapped_ns, same;
	uint32_t generation;
	int fd;

	if (m->known_id.size)
		return true;

	if (in_time && !f->numbered)
		return true;
	if (!m->ino_generation)
		return in_time && f->by != 0;
	fd = mapped_file_open(c, f);
	if (fd < 0)
		return false;
	same = mapped_file_generation(fd, m->ino, &generation) &&
		generation == (uint32_t)m->ino_generation;
	(void)close(fd);
	return same;
}

static bool
find_somewhere(struct mapped_files *c, const struct buildid_map *m, enum mapped_where where,
	       struct mapped_file *f)
{
	if (m->peer)
		return find_of_process(c, m, m->peer, f);
	if (where == MAPPED_ITS_PROCESS)
		return find_by_map(c, m, f) || find_of_process(c, m, m->pid, f);
	if (where == MAPPED_OWN_PATH_FIRST && find_below(c, m, c->root, 0, f))
		return true;
	return find_by_map(c, m, f) || find_of_process(c, m, m->pid, f) || find_by_exe(c, m, f) ||
		(where != MAPPED_OWN_PATH_FIRST && find_below(c, m, c->root, 0, f));
}

bool
mapped_file_find(struct mapped_files *c, const struct buildid_map *m, enum mapped_where where,
		 struct mapped_file *f)
{
	if (!find_somewhere(c, m, where, f))
		return false;
	f->changed_ns = changed_ns(c, &f->st);
	if (is_the_mapped(c, m, f))
		return true;
	(void)close(f->fd);
	return false;
}

/* Is this what the host has by that name? */
static bool
has_name_here(struct mapped_files *c, const struct buildid_map *m, const struct mapped_file *f)
{
	int fd = path_find(c->host_root >= 0 ? c->host_root : c->root, m->path);
	struct statx st;
	bool same;

	if (fd < 0)
		return false;
	same = stat_cached(fd, &st) == 0 && st.stx_ino == f->st.stx_ino &&
		st.stx_dev_major == f->st.stx_dev_major && st.stx_dev_minor == f->st.stx_dev_minor;
	(void)close(fd);
	return same;
}

bool
mapped_file_ephemeral(struct mapped_files *c, const struct buildid_map *m,
		      const struct mapped_file *f)
{
	struct statfs fs;

	if (f->st.stx_nlink == 0 || host_now_ns() < f->changed_ns + FRESH_NS)
		return true;
	if (fstatfs(f->fd, &fs) == 0 &&
	    (fs.f_type == OVERLAYFS_SUPER_MAGIC || fs.f_type == TMPFS_MAGIC ||
	     (uint32_t)fs.f_type == RAMFS_MAGIC)) /* signed where a word has 32 bits */
		return true;
	return !has_name_here(c, m, f);
}

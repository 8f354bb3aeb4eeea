/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/host/buildid_cache.h"

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
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include <bsd/string.h>

#include "format/bytes/fmt_error.h"
#include "format/bytes/time_text.h"
#include "format/record/perf_record.h"
#include "recorder/host/file_mount.h"
#include "recorder/host/host.h"

#define ENTRIES 4096		     /* a power of two; an inode has one place */
#define TICK_NS_MAX 10000000	     /* where HZ is 100 */
#define AGAIN_NS UINT64_C(100000000) /* between full searches for a file that is not found */

struct buildid_cache {
	int root;	 /* O_PATH, of this process; -1 */
	dev_t memfds;	 /* the device of every memfd; 0: not known */
	int64_t tick_ns; /* of the clock that files bear the time of */
	bool no_map_files, no_openat2;
	struct buildid_fact entries[ENTRIES];
};

/* A file that was found. */
struct found {
	struct statx st;
	int fd;	  /* O_PATH: nobody has been asked to open it */
	pid_t by; /* the process through which it was found; 0: this one */
	bool by_map;
	bool has_mount; /* it has been looked for */
	struct file_mount mount;
	bool numbered;	     /* nothing but its generation tells it from others of its number */
	uint64_t changed_ns; /* CLOCK_MONOTONIC */
};

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

struct buildid_cache *
buildid_cache_new(void)
{
	struct buildid_cache *c = calloc(1, sizeof(*c));

	if (c) {
		c->root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
		c->memfds = memfd_device();
		c->tick_ns = tick_ns();
	}
	return c;
}

void
buildid_cache_free(struct buildid_cache *c)
{
	if (c && c->root >= 0)
		(void)close(c->root);
	free(c);
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
 * Without openat2(2), which Linux has since 5.6, one name after another. The kernel gave the path
 * without links in it, so that none is followed.
 */
static int
path_walk(int root, const char *path)
{
	char copy[PATH_MAX], *rest = copy, *name;
	int at, next;

	if (strlcpy(copy, path, sizeof(copy)) >= sizeof(copy))
		return -ENAMETOOLONG;
	at = fcntl(root, F_DUPFD_CLOEXEC, 3);
	while (at >= 0 && (name = strsep(&rest, "/"))) {
		if (!*name)
			continue;
		next = openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		(void)close(at);
		at = next;
	}
	return at < 0 ? -errno : at;
}

/*
 * Finds path below root without leaving the kernel's own cache of names: a mapped file's
 * name is in it, and a lookup that is not could wait for a FUSE process. O_PATH, or -errno.
 */
static int
path_find(struct buildid_cache *c, int root, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_CACHED };
	int fd;

	if (path[0] != '/' || path[1] == '/')
		return -ENOENT;
	if (c->no_openat2)
		return path_walk(root, path);
	fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	if (fd < 0 && errno == EINVAL) { /* before Linux 5.12 */
		how.resolve = RESOLVE_IN_ROOT;
		fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	}
	/* EPERM: a seccomp filter that is older than the call. */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM)) {
		c->no_openat2 = true;
		return path_walk(root, path);
	}
	return fd < 0 ? -errno : fd;
}

static bool
has_device(const struct found *f, const struct buildid_map *m)
{
	return f->st.stx_dev_major == m->maj && f->st.stx_dev_minor == m->min;
}

/* Looked up once: a table may be long. */
static const struct file_mount *
mount_of(struct found *f)
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
 * tells: then it is believed of overlays that root has mounted.
 */
static bool
is_the_inode(const struct buildid_map *m, struct found *f)
{
	const struct file_mount *mount;

	if (f->st.stx_ino != m->ino || has_device(f, m))
		return f->st.stx_ino == m->ino;
	if (f->st.stx_dev_major)
		return false;
	mount = mount_of(f);
	f->numbered = !mount->overlay || f->by == 0;
	return mount->known &&
		((mount->maj == m->maj && mount->min == m->min) || (mount->overlay && mount->ours));
}

/* The file by its path below a process's root, if that is the mapped one. */
static bool
find_below(struct buildid_cache *c, const struct buildid_map *m, int root, pid_t by,
	   struct found *f)
{
	*f = (struct found){ .fd = path_find(c, root, m->path), .by = by };
	if (f->fd < 0)
		return false;
	if (stat_cached(f->fd, &f->st) < 0 || !is_the_inode(m, f)) {
		(void)close(f->fd);
		return false;
	}
	return true;
}

static bool
find_of_process(struct buildid_cache *c, const struct buildid_map *m, pid_t pid, struct found *f)
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

static bool
find_by_map(struct buildid_cache *c, const struct buildid_map *m, struct found *f)
{
	char path[96];
	int fd;

	if (c->no_map_files)
		return false;
	(void)snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)m->pid,
		       (unsigned long long)m->start, (unsigned long long)m->end);
	fd = open(path, O_PATH | O_CLOEXEC);
	/* To follow the link takes CAP_CHECKPOINT_RESTORE, whoever's process it is. */
	if (fd < 0 && errno == EPERM)
		c->no_map_files = true;
	if (fd < 0)
		return false;
	*f = (struct found){ .fd = fd, .by = m->pid };
	f->by_map = stat_cached(fd, &f->st) == 0 && is_the_inode(m, f);
	if (!f->by_map)
		(void)close(fd);
	return f->by_map;
}

/*
 * The last moment when the file may have changed; a clock that was set meanwhile costs another look
 * at it.
 */
static uint64_t
changed_ns(const struct buildid_cache *c, const struct statx *st)
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
is_on_fuse(const struct buildid_cache *c, struct found *f)
{
	if (c->memfds && makedev(f->st.stx_dev_major, f->st.stx_dev_minor) == c->memfds)
		return false;
	return mount_of(f)->fuse;
}

/* -EOPNOTSUPP: it is not to be opened. */
static int
open_found(const struct buildid_cache *c, struct found *f)
{
	char path[64];
	int fd;

	if (!S_ISREG(f->st.stx_mode) || is_on_fuse(c, f))
		return -EOPNOTSUPP;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", f->fd);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
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

static bool
inode_generation(int fd, uint64_t ino, uint32_t *ret)
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
is_the_mapped(const struct buildid_cache *c, const struct buildid_map *m, struct found *f)
{
	bool in_time = f->by_map || f->changed_ns <= m->mapped_ns, same;
	uint32_t generation;
	int fd;

	if (in_time && !f->numbered)
		return true;
	if (!m->ino_generation)
		return in_time && f->by != 0;
	fd = open_found(c, f);
	if (fd < 0)
		return false;
	same = inode_generation(fd, m->ino, &generation) &&
		generation == (uint32_t)m->ino_generation;
	(void)close(fd);
	return same;
}

enum where {
	EVERYWHERE,
	OWN_PATH_FIRST, /* that is where the file was, and the process may be gone */
	ITS_PROCESS,
};

static bool
find_somewhere(struct buildid_cache *c, const struct buildid_map *m, enum where where,
	       struct found *f)
{
	if (m->peer)
		return find_of_process(c, m, m->peer, f);
	if (where == ITS_PROCESS)
		return find_of_process(c, m, m->pid, f);
	if (where == OWN_PATH_FIRST && find_below(c, m, c->root, 0, f))
		return true;
	return find_by_map(c, m, f) || find_of_process(c, m, m->pid, f) ||
		(where != OWN_PATH_FIRST && find_below(c, m, c->root, 0, f));
}

static bool
buildid_cache_find(struct buildid_cache *c, const struct buildid_map *m, enum where where,
		   struct found *f)
{
	if (!find_somewhere(c, m, where, f))
		return false;
	f->changed_ns = changed_ns(c, &f->st);
	if (is_the_mapped(c, m, f))
		return true;
	(void)close(f->fd);
	return false;
}

/* --- the cache ----------------------------------------------------------------------------- */

struct buildid_map
buildid_map_of(const struct perf_mmap *m, uint64_t mapped_ns)
{
	return (struct buildid_map){ .pid = (pid_t)m->pid,
				     .start = m->addr,
				     .end = m->addr + m->len,
				     .maj = m->maj,
				     .min = m->min,
				     .ino = m->ino,
				     .ino_generation = m->ino_generation,
				     .path = m->filename,
				     .mapped_ns = mapped_ns };
}

static bool
same_inode(const struct buildid_fact *e, const struct buildid_map *m)
{
	return e->known && e->ino == m->ino && e->maj == m->maj && e->min == m->min &&
		(!e->ino_generation || !m->ino_generation ||
		 e->ino_generation == m->ino_generation);
}

static bool
unchanged(const struct buildid_fact *e, const struct statx *st)
{
	return e->size == st->stx_size && e->ctime_sec == st->stx_ctime.tv_sec &&
		e->ctime_nsec == st->stx_ctime.tv_nsec;
}

static int
buildid_cache_answer(const struct buildid_fact *e, struct buildid *ret)
{
	if (e->known == BUILDID_NONE)
		return -ENODATA;
	*ret = e->id;
	return 0;
}

static int
read_id(const struct buildid_cache *c, struct found *f, struct buildid_fact *e)
{
	struct io_source *file;
	uint32_t generation;
	int fd = open_found(c, f), r;

	e->known = BUILDID_NONE;
	if (fd < 0)
		return fd == -EOPNOTSUPP ? 0 : fd;
	if (inode_generation(fd, e->ino, &generation))
		e->ino_generation = generation;
	file = io_source_fd(fd);
	if (!file)
		return -errno;
	r = buildid_read(file, &e->id);
	file->close(file);
	/* An error of the disk may be gone the next time. */
	if (r == -FMT_E_IO)
		return -EIO;
	if (r == 0)
		e->known = BUILDID_KNOWN;
	return 0;
}

static int
learn(const struct buildid_cache *c, const struct buildid_map *m, struct found *f, uint64_t seen_ns,
      struct buildid_fact *e)
{
	struct buildid_fact new = { .maj = m->maj,
				    .min = m->min,
				    .ino = m->ino,
				    .size = f->st.stx_size,
				    .ctime_sec = f->st.stx_ctime.tv_sec,
				    .ctime_nsec = f->st.stx_ctime.tv_nsec,
				    .numbered = f->numbered,
				    .changed_ns = f->changed_ns,
				    .seen_ns = seen_ns };
	int r = read_id(c, f, &new);

	*e = r == 0 ? new : (struct buildid_fact){ 0 };
	return r;
}

static size_t
slot_of(uint32_t min, uint64_t ino)
{
	return (ino ^ ino >> 12 ^ (uint64_t)min << 4) % ENTRIES;
}

void
buildid_cache_fact(const struct buildid_cache *c, const struct buildid_map *m,
		   struct buildid_fact *ret)
{
	*ret = c->entries[slot_of(m->min, m->ino)];
}

void
buildid_cache_learn(struct buildid_cache *c, const struct buildid_fact *fact)
{
	c->entries[slot_of(fact->min, fact->ino)] = *fact;
}

/* Was it out of reach when this was mapped, and the only file of its number and generation? */
static bool
is_gone(const struct buildid_fact *e, const struct buildid_map *m)
{
	return m->ino_generation && e->ino_generation == m->ino_generation &&
		m->mapped_ns <= e->gone_ns;
}

int
buildid_cache_known(struct buildid_cache *c, const struct buildid_map *m, struct buildid *ret)
{
	struct buildid_fact *e = &c->entries[slot_of(m->min, m->ino)];

	if (!m->ino)
		return -ENODATA;
	if (!same_inode(e, m) || e->known == BUILDID_OUT_OF_REACH)
		return -EAGAIN;
	/* An inode that was freed and used again changed when it was used again. */
	if ((e->numbered && !m->ino_generation) || m->mapped_ns < e->changed_ns ||
	    (m->mapped_ns > e->seen_ns && !is_gone(e, m)))
		return -ESTALE;
	if (m->ino_generation)
		e->ino_generation = m->ino_generation;
	return buildid_cache_answer(e, ret);
}

/* This very file, as far as can be told, was looked for in vain a moment ago. */
static bool
missed_just_now(const struct buildid_fact *e, const struct buildid_map *m, uint64_t now_ns)
{
	return same_inode(e, m) && e->known == BUILDID_OUT_OF_REACH &&
		e->ino_generation == m->ino_generation && now_ns - e->seen_ns < AGAIN_NS;
}

/* The file was not found: 0 when what is known of it holds, else why not. */
static int
out_of_reach(struct buildid_fact *e, const struct buildid_map *m, uint64_t now_ns)
{
	if (e->known && e->known != BUILDID_OUT_OF_REACH) {
		/* It is gone, but was this very file when it was last in reach. */
		if (!same_inode(e, m) || !m->ino_generation ||
		    e->ino_generation != m->ino_generation)
			return -ESTALE;
		e->gone_ns = now_ns;
		return 0;
	}
	if (!missed_just_now(e, m, now_ns))
		*e = (struct buildid_fact){ .maj = m->maj,
					    .min = m->min,
					    .ino = m->ino,
					    .ino_generation = m->ino_generation,
					    .known = BUILDID_OUT_OF_REACH,
					    .seen_ns = now_ns };
	if (m->peer)
		e->peers_ns = now_ns;
	else if (now_ns - e->peers_ns < AGAIN_NS)
		return -ENOENT;
	return -ESTALE;
}

static enum where
where_to_look(const struct buildid_fact *e, const struct buildid_map *m, uint64_t now_ns)
{
	if (missed_just_now(e, m, now_ns))
		return ITS_PROCESS;
	return same_inode(e, m) && e->own_path ? OWN_PATH_FIRST : EVERYWHERE;
}

int
buildid_cache_get(struct buildid_cache *c, const struct buildid_map *m, struct buildid *ret)
{
	struct buildid_fact *e = &c->entries[slot_of(m->min, m->ino)];
	uint64_t now_ns = host_now_ns();
	struct found f;
	int r = buildid_cache_known(c, m, ret);

	if (r != -EAGAIN && r != -ESTALE)
		return r;
	if (!buildid_cache_find(c, m, where_to_look(e, m, now_ns), &f)) {
		r = out_of_reach(e, m, now_ns);
		return r < 0 ? r : buildid_cache_answer(e, ret);
	}
	r = 0;
	if (same_inode(e, m) && unchanged(e, &f.st))
		e->seen_ns = now_ns;
	else
		r = learn(c, m, &f, now_ns, e);
	(void)close(f.fd);
	if (r < 0)
		return r;
	/* What its process has mapped there by now. */
	if (!same_inode(e, m))
		return -ESTALE;
	e->own_path = f.by == 0;
	if (m->ino_generation)
		e->ino_generation = m->ino_generation;
	return buildid_cache_answer(e, ret);
}

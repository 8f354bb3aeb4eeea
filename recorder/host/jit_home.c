/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/host/jit_home.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "format/bytes/path_below.h"
#include "format/bytes/plain_file.h"
#include "format/bytes/time_text.h"
#include "recorder/ground/small_file.h"
#include "recorder/host/cached_path.h"
#include "recorder/host/file_mount.h"

#define STATUS_BYTES 16384 /* of a status file: NSpid comes after the groups */
/* Of clocks that are read one after another: the next process of a number may be quick. */
#define CLOCKS_APART_NS (SECOND_NS / 1000)

/* --- the process --------------------------------------------------------------------------- */

static int64_t
clock_ns(clockid_t clock)
{
	struct timespec ts;

	(void)clock_gettime(clock, &ts);
	return time_text_ns(&ts);
}

/* A time of CLOCK_MONOTONIC, since when nobody set the clock or slept, on CLOCK_REALTIME. */
static int64_t
realtime(uint64_t monotonic_ns)
{
	return (int64_t)monotonic_ns + clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
}

/* The 22nd field of stat, behind a name that may have any characters: on CLOCK_BOOTTIME. */
static bool
began_at(int dir, int64_t *ret)
{
	char text[1024];
	const char *at;

	if (small_file_read(dir, "stat", text, sizeof(text)) <= 0)
		return false;
	at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (!at)
		return false;
	*ret = strtoll(at, NULL, 10) * (SECOND_NS / sysconf(_SC_CLK_TCK));
	return true;
}

/* Its users, and the last number of NSpid. */
static bool
read_status(struct jit_home *h, int dir)
{
	char *text = malloc(STATUS_BYTES), *at, *end;
	unsigned int uid, euid;
	bool ok;

	ok = text && small_file_read(dir, "status", text, STATUS_BYTES) > 0 &&
		(at = strstr(text, "\nUid:")) && sscanf(at, "\nUid: %u %u", &uid, &euid) == 2;
	if (ok) {
		h->uid = uid;
		h->euid = euid;
	}
	at = ok ? strstr(text, "\nNSpid:") : NULL;
	end = at ? strchr(at + 1, '\n') : NULL;
	if (end) {
		*end = '\0';
		h->inner_pid =
			(uint32_t)strtoul(strrchr(at, '\t') ? strrchr(at, '\t') : "", NULL, 10);
	}
	free(text);
	return ok;
}

/* --- files --------------------------------------------------------------------------------- */

/*
 * Below a directory, whose links lead nowhere else; the last one is not followed. O_PATH; -errno. Only
 * what is in_cache waits for no file system.
 */
static int
find_below(int dir, const char *path, int flags, uint64_t how, bool in_cache)
{
	const uint64_t open_flags = (uint64_t)(O_PATH | O_NOFOLLOW | flags);
	const uint64_t resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | how;
	int fd = cached_path_open(dir, path, open_flags, resolve);

	if ((fd == -EAGAIN && !in_cache) || fd == -EINVAL)
		fd = path_below_open(dir, path, open_flags, resolve);
	return fd;
}

/* As far as it is known, without asking the file system. */
static int
stat_known(int fd, struct statx *ret)
{
	return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, ret);
}

static dev_t
device_of(const struct statx *st)
{
	return makedev(st->stx_dev_major, st->stx_dev_minor);
}

/* Whatever is opened there waits for a process that may never answer. */
static bool
is_on_fuse(const struct jit_home *h, int fd, const struct statx *st)
{
	/* Once its process is gone, no table tells. */
	if (h->tmp_dev && device_of(st) == h->tmp_dev)
		return false;
	return file_mount_of(fd, st->stx_dev_major, st->stx_dev_minor, h->pid).fuse;
}

/*
 * Root's file, for a process that is not root's: it could be read there as well. A process that mounts what it likes
 * also gets at what lies in directories that it may not search.
 */
static bool
is_shown(const struct jit_home *h, int fd, const struct statx *st)
{
	if (st->stx_uid != 0 || h->uid == 0 || h->euid == 0)
		return true;
	return st->stx_mode & S_IROTH &&
		file_mount_of(fd, st->stx_dev_major, st->stx_dev_minor, h->pid).ours;
}

static bool
is_believable(const struct jit_home *h, const struct statx *st, uint64_t ended_ns)
{
	return S_ISREG(st->stx_mode) &&
		(st->stx_uid == 0 || st->stx_uid == h->uid || st->stx_uid == h->euid) &&
		/* Of another process that had the number before, or has it since. */
		(st->stx_mtime.tv_sec + 2) * SECOND_NS >= h->began_ns &&
		(!ended_ns ||
		 st->stx_mtime.tv_sec * SECOND_NS + st->stx_mtime.tv_nsec <=
			 realtime(ended_ns) + CLOCKS_APART_NS);
}

/* What is no plain file is never opened. Takes fd over. -1: it is not to be believed. */
static int
open_found(const struct jit_home *h, int fd, uint64_t ino, uint64_t ended_ns)
{
	struct statx st;
	int file = -1;

	if (fd < 0)
		return -1;
	if (stat_known(fd, &st) == 0 && is_believable(h, &st, ended_ns) &&
	    (!ino || st.stx_ino == ino) && !is_on_fuse(h, fd, &st) && is_shown(h, fd, &st))
		file = plain_file_open(fd);
	(void)close(fd);
	return file;
}

static int
open_root(pid_t pid)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int
open_tmp(struct jit_home *h)
{
	int root = open_root(h->pid);
	struct statx st;

	if (root < 0)
		return root;
	h->tmp = find_below(root, "/tmp", O_DIRECTORY, 0, true);
	(void)close(root);
	/* There may be one later, and jitdumps lie elsewhere. */
	if (h->tmp < 0)
		return 0;
	if (stat_known(h->tmp, &st) == 0 && !is_on_fuse(h, h->tmp, &st)) {
		h->tmp_dev = device_of(&st);
		return 0;
	}
	(void)close(h->tmp);
	h->tmp = -1;
	return -EOPNOTSUPP;
}

int
jit_home_open(struct jit_home *h, pid_t pid, uint64_t alive_ns)
{
	char path[64];
	int dir, rc = -ESRCH;

	*h = (struct jit_home){
		.pid = pid, .inner_pid = (uint32_t)pid, .tmp = -1, .map = -1, .dumps = { -1, -1 }
	};
	(void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	if (began_at(dir, &h->began_boot_ns) && read_status(h, dir)) {
		h->began_ns =
			h->began_boot_ns + clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);
		if (!alive_ns || h->began_ns <= realtime(alive_ns) + CLOCKS_APART_NS)
			rc = open_tmp(h);
	}
	(void)close(dir);
	if (rc < 0)
		jit_home_done(h);
	else
		(void)jit_home_map(h, 0);
	return rc;
}

void
jit_home_done(struct jit_home *h)
{
	int *const fds[] = { &h->tmp, &h->map, &h->dumps[0], &h->dumps[1] };

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (*fds[i] >= 0)
			(void)close(*fds[i]);
		*fds[i] = -1;
	}
}

/* When the process that has the number began, CLOCK_BOOTTIME; 0: there is none. */
static int64_t
holder_began(const struct jit_home *h)
{
	int64_t began_ns;
	char path[64];
	int dir;

	(void)snprintf(path, sizeof(path), "/proc/%d", (int)h->pid);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return 0;
	if (!began_at(dir, &began_ns))
		began_ns = 0;
	(void)close(dir);
	return began_ns;
}

uint64_t
jit_home_next(const struct jit_home *h)
{
	const int64_t began_ns = holder_began(h);

	if (began_ns == 0 || began_ns == h->began_boot_ns)
		return 0;
	return (uint64_t)(began_ns + clock_ns(CLOCK_MONOTONIC) - clock_ns(CLOCK_BOOTTIME));
}

int
jit_home_map(struct jit_home *h, uint64_t ended_ns)
{
	struct statx st;
	char name[48];
	int fd;

	if (h->tmp < 0 && holder_began(h) == h->began_boot_ns)
		(void)open_tmp(h);
	(void)snprintf(name, sizeof(name), "perf-%" PRIu32 ".map", h->inner_pid);
	/* No program mounts its map there. */
	fd = h->tmp < 0
		? -1
		: open_found(h, find_below(h->tmp, name, 0, RESOLVE_NO_XDEV, false), 0, ended_ns);
	if (fd < 0)
		return h->map >= 0 && stat_known(h->map, &st) == 0 &&
				is_believable(h, &st, ended_ns)
			? h->map
			: -1;
	if (h->map >= 0)
		(void)close(h->map);
	h->map = fd;
	return fd;
}

void
jit_home_dump(struct jit_home *h, const char *path, uint64_t ino)
{
	int root, fd = -1, i = 0;

	while (i < JIT_HOME_DUMPS && h->dumps[i] >= 0)
		i++;
	if (i == JIT_HOME_DUMPS)
		return;
	root = open_root(h->pid);
	if (root >= 0) {
		fd = open_found(h, find_below(root, path, 0, 0, true), ino, 0);
		(void)close(root);
	}
	h->dumps[i] = fd;
}

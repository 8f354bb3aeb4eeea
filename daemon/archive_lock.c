/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/archive_lock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "daemon/log.h"

#define LOCK_FILE ".lock"
#define FILE_MODE 0600 /* who may open it may lock it */
#define FILE_TRIES 10
#define END_POLL_NS 50000000
#define END_POLLS 20
#define THREAD_IS_EXITING 0x4 /* PF_EXITING of the kernel */

/* --- is somebody there? ------------------------------------------------------------------ */

bool
archive_lock_is_dying(const char *stat, const char *status)
{
	const char *state = strrchr(stat, ')'); /* the name may have anything in it */
	const char *pending = strstr(status, "\nSigPnd:");
	unsigned int flags;

	if (state && (strncmp(state, ") Z", 3) == 0 || strncmp(state, ") X", 3) == 0))
		return true;
	if (state && sscanf(state, ") %*c %*d %*d %*d %*d %*d %u", &flags) == 1 &&
	    (flags & THREAD_IS_EXITING))
		return true;
	return pending &&
		(strtoull(pending + strlen("\nSigPnd:"), NULL, 16) & (1u << (SIGKILL - 1)));
}

/* Of /proc; "" when it cannot be read. */
static void
read_text(int task_fd, const char *tid, const char *name, char *out, size_t size)
{
	char path[64];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "%.20s/%s", tid, name);
	fd = openat(task_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, out, size - 1);
		close(fd);
	}
	out[n > 0 ? n : 0] = '\0';
}

/* Has a process no thread that will execute anything any more? */
static bool
is_dead(pid_t pid)
{
	char path[64], stat[1024], status[4096];
	struct dirent *e;
	bool dead = true;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return kill(pid, 0) < 0 && errno == ESRCH;
	while (dead && (e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		read_text(dirfd(dir), e->d_name, "stat", stat, sizeof(stat));
		read_text(dirfd(dir), e->d_name, "status", status, sizeof(status));
		/* One that has just ended has neither. */
		dead = (!stat[0] && !status[0]) || archive_lock_is_dying(stat, status);
	}
	closedir(dir);
	return dead;
}

/* Could this process be a spoord of this directory? */
static bool
is_stranger(pid_t pid, const struct stat *directory)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return stat(path, &st) == 0 && st.st_uid != 0 && st.st_uid != geteuid() &&
		st.st_uid != directory->st_uid;
}

/* What there is to know of a lock that was refused. */
struct holders {
	pid_t alive;  /* one that may write; 0: none */
	pid_t passed; /* one that does not */
	bool stranger;
	unsigned int nr;
};

/*
 * Who holds locks of this file, by /proc/locks. The numbers there are the file system's, which some
 * tell otherwise in st_dev: where no lock is of this very device, those of all are meant.
 */
static void
find_holders(const struct stat *file, const struct stat *directory, bool any_device,
	     struct holders *ret)
{
	FILE *f = fopen("/proc/locks", "re");
	unsigned int major, minor;
	char line[256];
	uint64_t ino;
	int pid;

	*ret = (struct holders){ .nr = 0 };
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*d: FLOCK %*s %*s %d %x:%x:%" SCNu64, &pid, &major, &minor,
			   &ino) != 4 ||
		    ino != file->st_ino || (!any_device && makedev(major, minor) != file->st_dev))
			continue;
		ret->nr++;
		if (pid > 0 && is_dead(pid)) {
			ret->passed = pid;
		} else if (pid > 0 && is_stranger(pid, directory)) {
			ret->passed = pid;
			ret->stranger = true;
		} else {
			ret->alive = pid;
		}
	}
	if (f)
		(void)fclose(f);
}

/* -EBUSY with *holder, or 0: whoever has the lock of fd is to be passed over. */
static int
look_at_holders(int fd, int dir_fd, struct holders *h, pid_t *holder)
{
	struct stat file, directory;

	*holder = 0;
	if (fstat(fd, &file) != 0 || fstat(dir_fd, &directory) != 0)
		return -errno;
	find_holders(&file, &directory, false, h);
	if (h->nr == 0)
		find_holders(&file, &directory, true, h);
	*holder = h->alive > 0 ? h->alive : 0;
	return h->nr == 0 || h->alive ? -EBUSY : 0;
}

/* --- the lock ---------------------------------------------------------------------------- */

/* 0; 1: not to be had, and nobody is to be minded; -EBUSY with *holder; -errno. */
static int
take(int fd, int dir_fd, const char *path, pid_t *holder)
{
	const struct timespec poll = { .tv_nsec = END_POLL_NS };
	struct holders h;
	int r;

	for (int i = 0; i < END_POLLS; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK)
			return -errno;
		r = look_at_holders(fd, dir_fd, &h, holder);
		/* It may have ended meanwhile: then there is no holder. */
		if (r < 0 && h.nr)
			return r;
		nanosleep(&poll, NULL);
	}
	if (r < 0)
		return r;
	log_warning("archive_directory %s: process %d %s: its lock is passed over", path,
		    (int)h.passed,
		    h.stranger ? "of another user, which cannot write there, has locked it"
			       : "was killed, but does not end");
	return 1;
}

static bool
is_named(int dir_fd, int fd)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && fstatat(dir_fd, LOCK_FILE, &b, AT_SYMLINK_NOFOLLOW) == 0 &&
		a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/*
 * The file: in the way, where somebody holds it; wanted: to be had. What nobody has is removed, as
 * is what somebody has who is passed over. The descriptor; -1: none; below: as take().
 */
static int
take_file(int dir_fd, const char *path, bool wanted, int *ret_fd, pid_t *holder)
{
	const int flags = O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | (wanted ? O_CREAT : 0);

	*ret_fd = -1;
	for (int i = 0; i < FILE_TRIES; i++) {
		int fd = openat(dir_fd, LOCK_FILE, flags, FILE_MODE), r;

		if (fd < 0)
			return !wanted && errno == ENOENT ? 0 : -errno;
		r = take(fd, dir_fd, path, holder);
		if (r < 0) {
			close(fd);
			return r;
		}
		if (r == 0 && wanted && is_named(dir_fd, fd)) {
			*ret_fd = fd;
			return 0;
		}
		if (is_named(dir_fd, fd))
			(void)unlinkat(dir_fd, LOCK_FILE, 0);
		close(fd);
	}
	return wanted ? -EBUSY : 0;
}

int
archive_lock(int dir_fd, const char *path, struct archive_lock *ret, pid_t *holder)
{
	int r = take(dir_fd, dir_fd, path, holder);

	ret->file_fd = -1;
	if (r >= 0)
		r = take_file(dir_fd, path, r == 1, &ret->file_fd, holder);
	return r;
}

void
archive_lock_settle(struct archive_lock *l, int dir_fd)
{
	if (l->file_fd >= 0 && flock(dir_fd, LOCK_EX | LOCK_NB) == 0)
		archive_lock_done(l, dir_fd);
}

void
archive_lock_done(struct archive_lock *l, int dir_fd)
{
	if (l->file_fd < 0)
		return;
	if (is_named(dir_fd, l->file_fd))
		(void)unlinkat(dir_fd, LOCK_FILE, 0);
	close(l->file_fd);
	l->file_fd = -1;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/archive/archive_lock.h"

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

#include "daemon/process/log.h"
#include "recorder/ground/small_file.h"

#define LOCK_FILE ".lock"
#define FILE_MODE 0600 /* who may open it may lock it */
#define POLL_NS 50000000
#define END_POLLS 20   /* for one that was killed to end */
#define FILE_POLLS 100 /* for a spoord to make the file again: it looks every two seconds */
#define RACES 10
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

	snprintf(path, sizeof(path), "%.20s/%s", tid, name);
	(void)small_file_read(task_fd, path, out, size);
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

/* What there is to know of a lock that was refused. */
struct holders {
	pid_t alive, dead; /* one of each; 0: none */
};

/*
 * Who holds locks of this file, by /proc/locks. The numbers there are the file system's, which some
 * tell otherwise in st_dev: where no lock is of this very device, those of all are meant.
 */
static bool
find_holders(const struct stat *file, bool any_device, struct holders *ret)
{
	FILE *f = fopen("/proc/locks", "re");
	unsigned int major, minor;
	char line[256];
	uint64_t ino;
	int pid;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*d: FLOCK %*s %*s %d %x:%x:%" SCNu64, &pid, &major, &minor,
			   &ino) != 4 ||
		    ino != file->st_ino || (!any_device && makedev(major, minor) != file->st_dev))
			continue;
		if (pid > 0 && is_dead(pid))
			ret->dead = pid;
		else
			ret->alive = pid;
	}
	if (f)
		(void)fclose(f);
	return ret->alive || ret->dead;
}

static void
look_at_holders(int fd, struct holders *ret)
{
	struct stat file;

	*ret = (struct holders){ .alive = 0 };
	if (fstat(fd, &file) == 0 && !find_holders(&file, false, ret))
		(void)find_holders(&file, true, ret);
}

/* --- the lock ---------------------------------------------------------------------------- */

/*
 * 0: it is had; 1: *holder has it, which executes nothing any more; -EBUSY: *holder has it (0: it
 * cannot be told which process that is); -errno.
 */
static int
archive_lock_take(int fd, pid_t *holder)
{
	struct holders h;

	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return -errno;
	look_at_holders(fd, &h);
	*holder = h.alive > 0 ? h.alive : h.alive ? 0 : h.dead;
	return h.alive || !h.dead ? -EBUSY : 1;
}

static void
wait_a_little(void)
{
	const struct timespec poll = { .tv_nsec = POLL_NS };

	nanosleep(&poll, NULL);
}

static bool
is_named(int dir_fd, int fd)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && fstatat(dir_fd, LOCK_FILE, &b, AT_SYMLINK_NOFOLLOW) == 0 &&
		a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int
open_file(int dir_fd, int flags)
{
	int fd = openat(dir_fd, LOCK_FILE, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | flags,
			FILE_MODE);

	return fd >= 0 ? fd : -errno;
}

/* Makes the file where there is none; what one has who is passed over is replaced. As archive_lock_take(). */
static int
take_file(int dir_fd, const char *path, int *ret_fd, pid_t *holder)
{
	for (int races = 0, polls = 0; races < RACES;) {
		int fd = open_file(dir_fd, O_CREAT), r;

		if (fd < 0)
			return fd;
		r = archive_lock_take(fd, holder);
		if (r == 0 && is_named(dir_fd, fd)) {
			*ret_fd = fd;
			return 0;
		}
		if (r == 1 && polls == END_POLLS && is_named(dir_fd, fd)) {
			log_warning("archive_directory %s: process %d was killed, but does not "
				    "end: its lock is passed over",
				    path, (int)*holder);
			(void)unlinkat(dir_fd, LOCK_FILE, 0);
		}
		close(fd);
		if (r < 0)
			return r;
		if (r == 1 && polls < END_POLLS) {
			wait_a_little();
			polls++;
		} else {
			races++;
		}
	}
	return -EBUSY;
}

/* Does *holder, which is alive, have the file? Asks for no lock that nobody is seen to have. */
static bool
is_file_held(int dir_fd, pid_t *holder)
{
	int fd = open_file(dir_fd, 0);
	struct holders h;
	bool held;

	if (fd < 0)
		return false;
	look_at_holders(fd, &h);
	held = h.alive && archive_lock_take(fd, holder) == -EBUSY;
	close(fd);
	return held;
}

/*
 * The lock of the directory alone is nobody's word: whoever may read the directory may have it. A
 * spoord that has it has the file as well, or soon again.
 */
static int
take_directory(int dir_fd, const char *path, pid_t *holder)
{
	pid_t other = 0;
	int r = -EBUSY;

	for (int i = 0; i < FILE_POLLS && r == -EBUSY; i++) {
		if (i)
			wait_a_little();
		r = archive_lock_take(dir_fd, &other);
		if (r == -EBUSY && is_file_held(dir_fd, holder))
			return r;
	}
	if (r == -EBUSY)
		log_warning("archive_directory %s: process %d, which is no spoord, has locked it: "
			    "its lock is passed over",
			    path, (int)other); /* 0: of another pid namespace */
	return r == -EBUSY ? 1 : r;
}

int
archive_lock(int dir_fd, const char *path, struct archive_lock *ret, pid_t *holder)
{
	int directory, file;

	*holder = 0;
	ret->file_fd = -1;
	directory = take_directory(dir_fd, path, holder);
	if (directory < 0)
		return directory;
	file = take_file(dir_fd, path, &ret->file_fd, holder);
	/* A full disk: archive_lock_settle() makes the file when it can be made. */
	return directory == 0 && (file == -ENOSPC || file == -EDQUOT) ? 0 : file;
}

int
archive_lock_settle(struct archive_lock *l, int dir_fd, const char *path, pid_t *holder)
{
	int fd, r;

	*holder = 0;
	(void)flock(dir_fd, LOCK_EX | LOCK_NB);
	if (l->file_fd >= 0 && is_named(dir_fd, l->file_fd))
		return 0;
	r = take_file(dir_fd, path, &fd, holder);
	if (r == 0) {
		archive_lock_done(l, dir_fd);
		l->file_fd = fd;
	}
	return r == -EBUSY ? r : 0;
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

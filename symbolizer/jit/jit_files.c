/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/jit/jit_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <linux/openat2.h>

#include "format/bytes/path_below.h"
#include "format/bytes/plain_file.h"

/* A tick of /proc/PID/stat, and a step of the clock that files have their times from. */
#define CLOCKS_APART_NS UINT64_C(1000000000)
#define NS_PER_S UINT64_C(1000000000)

/* What lives under the process's number now. */
struct living {
	bool is_it;	   /* the process itself */
	bool is_other;	   /* one that began later */
	uid_t uid;	   /* of is_it */
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint32_t inner_pid;
	int root; /* of is_it: its file system; -1 */
};

static uint64_t
clock_now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

/* A time of another clock on CLOCK_MONOTONIC; 0: before it began. The two may be a little apart. */
static uint64_t
monotonic(clockid_t clock, uint64_t ns)
{
	const int64_t offset = (int64_t)(clock_now(clock) - clock_now(CLOCK_MONOTONIC));
	const int64_t at = (int64_t)ns - offset;

	return at > 0 ? (uint64_t)at : 0;
}

/* --- the process --------------------------------------------------------------------------- */

/* A file of /proc/PID as a string. False: it cannot be read. */
static bool
proc_text(int dir, const char *name, char *ret, size_t size)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = io_read(fd, ret, size - 1);
	close(fd);
	if (n <= 0)
		return false;
	ret[n] = 0;
	return true;
}

/* The 22nd field of stat, behind a name that may have any characters. */
static bool
start_time(int dir, uint64_t *ret)
{
	char text[1024], *at;

	if (!proc_text(dir, "stat", text, sizeof(text)))
		return false;
	at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (!at)
		return false;
	*ret = monotonic(CLOCK_BOOTTIME,
			 strtoull(at, NULL, 10) * (NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK)));
	return true;
}

/* The last number of NSpid is the one that it knows itself by. */
static uint32_t
innermost_pid(int dir, uint32_t pid)
{
	char text[4096], *at, *end;

	if (!proc_text(dir, "status", text, sizeof(text)))
		return pid;
	at = strstr(text, "\nNSpid:");
	if (!at)
		return pid;
	at += strlen("\nNSpid:");
	end = strchr(at, '\n');
	if (end)
		*end = 0;
	at = strrchr(at, '\t');
	return at ? (uint32_t)strtoul(at, NULL, 10) : pid;
}

static void
find_living(const struct jit_process *process, struct living *ret)
{
	struct stat st;
	char path[32];
	int dir;

	*ret = (struct living){ .root = -1, .inner_pid = process->pid };
	snprintf(path, sizeof(path), "/proc/%" PRIu32, process->pid);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return;
	if (fstat(dir, &st) == 0 && start_time(dir, &ret->start_ns)) {
		ret->is_it = ret->start_ns <= process->alive_ns + CLOCKS_APART_NS;
		ret->is_other = !ret->is_it;
	}
	if (ret->is_it) {
		ret->uid = st.st_uid;
		ret->inner_pid = innermost_pid(dir, process->pid);
		ret->root = openat(dir, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	close(dir);
}

/* --- the file ------------------------------------------------------------------------------ */

/* When it was last changed, on the clock of samples; 0: before this boot. */
static uint64_t
changed_at(const struct stat *st)
{
	return monotonic(CLOCK_REALTIME,
			 (uint64_t)st->st_mtim.tv_sec * NS_PER_S + (uint64_t)st->st_mtim.tv_nsec);
}

static bool
believable(const struct jit_process *process, const struct living *living, const struct stat *st,
	   uint64_t ino)
{
	const uint64_t start_ns = living->is_it ? living->start_ns : process->start_ns;
	const uint64_t changed_ns = changed_at(st);

	if (!S_ISREG(st->st_mode) || (ino && st->st_ino != ino))
		return false;
	if (st->st_uid != 0 && st->st_uid != geteuid() &&
	    !(living->is_it && st->st_uid == living->uid))
		return false;
	/* What its process could not read, as far as is known, names nothing there. */
	if (st->st_uid == 0 && !(living->is_it && living->uid == 0) && !(st->st_mode & S_IROTH) &&
	    (living->is_it || geteuid() != 0))
		return false;
	/* Of another process that had the number before, or has it now. */
	if (changed_ns == 0 || changed_ns + CLOCKS_APART_NS < start_ns)
		return false;
	if (process->until_ns && changed_ns >= process->until_ns)
		return false;
	return !living->is_other || changed_ns < living->start_ns;
}

/* Links of its file system lead nowhere else; the last one is not followed. */
static int
open_below(int root, const char *path)
{
	return path_below_open(root, path, O_PATH | O_NOFOLLOW,
			       RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
}

/* fd: O_PATH, taken over; -1. */
static struct io_source *
take_if(int fd, const struct jit_process *process, const struct living *living, uint64_t ino)
{
	struct stat st;
	int file = -1;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && believable(process, living, &st, ino))
		file = plain_file_open(fd);
	close(fd);
	return file < 0 ? NULL : io_source_fd(file);
}

/* In its own file system, then in ours. */
static struct io_source *
find_file(const struct jit_process *process, const struct living *living, const char *inner,
	  const char *outer, uint64_t ino)
{
	struct io_source *file = NULL;

	if (living->root >= 0)
		file = take_if(open_below(living->root, inner), process, living, ino);
	if (!file)
		file = take_if(open(outer, O_PATH | O_NOFOLLOW | O_CLOEXEC), process, living, ino);
	return file;
}

struct io_source *
jit_files_map(const struct jit_process *process)
{
	struct io_source *file;
	struct living living;
	char inner[48], outer[48];

	find_living(process, &living);
	snprintf(inner, sizeof(inner), "/tmp/perf-%" PRIu32 ".map", living.inner_pid);
	snprintf(outer, sizeof(outer), "/tmp/perf-%" PRIu32 ".map", process->pid);
	file = find_file(process, &living, inner, outer, 0);
	if (living.root >= 0)
		close(living.root);
	return file;
}

struct io_source *
jit_files_dump(const struct jit_process *process, const char *path, uint64_t ino)
{
	struct io_source *file;
	struct living living;

	find_living(process, &living);
	file = find_file(process, &living, path, path, ino);
	if (living.root >= 0)
		close(living.root);
	return file;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/tracee.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/event/event_open.h"
#include "recorder/ground/session_error.h"
#include "recorder/ground/small_file.h"

#define STATUS_BYTES 8192

struct tracee {
	pid_t task;
	int watch_fd; /* an event of the task: see tracee_watch() */
	int dir_fd;   /* its directory in /proc: of this task, whoever has the number later */
	void *page;
	bool ended;
};

struct tracees {
	size_t nr;
	struct tracee all[];
};

/* --- what it is -------------------------------------------------------------------------- */

/* The numbers of a line of /proc/PID/status, of this base; how many there are. */
static int
status_numbers(const char *status, const char *key, int base, uint64_t *to, int max)
{
	const char *line = strstr(status, key);
	char *end;
	int n = 0;

	if (!line)
		return 0;
	line += strlen(key);
	while (n < max && *line != '\n') {
		to[n] = strtoull(line, &end, base);
		if (end == line)
			break;
		line = end;
		n++;
	}
	return n;
}

/* Real, effective and saved, all the same. The fourth, of file systems, is none of ptrace's. */
static bool
ids_are(const char *status, const char *key, uint64_t id)
{
	uint64_t ids[3];

	return status_numbers(status, key, 10, ids, 3) == 3 && ids[0] == id && ids[1] == id &&
		ids[2] == id;
}

static bool
in_our_namespace(int dir_fd)
{
	struct stat its, ours;

	return fstatat(dir_fd, "ns/user", &its, 0) == 0 && stat("/proc/self/ns/user", &ours) == 0 &&
		its.st_dev == ours.st_dev && its.st_ino == ours.st_ino;
}

/* NULL: nothing; else what keeps the user out. */
static const char *
obstacle(int dir_fd, const char *status, uid_t uid, gid_t gid)
{
	uint64_t capabilities;
	struct stat st;

	if (!ids_are(status, "\nUid:", uid))
		return "it is another user's";
	if (!ids_are(status, "\nGid:", gid))
		return "its group is another one";
	if (status_numbers(status, "\nCapPrm:", 16, &capabilities, 1) != 1 || capabilities)
		return "it has capabilities";
	/* The kernel gives root the files of one that is not; not the directory itself. */
	if (fstatat(dir_fd, "status", &st, 0) < 0 || st.st_uid != uid)
		return "it is not dumpable";
	if (!in_our_namespace(dir_fd))
		return "it is in a user namespace of its own";
	return NULL;
}

static int
tracee_look(const struct tracee *t, uid_t uid, gid_t gid, struct session_error *error)
{
	char status[STATUS_BYTES];
	const char *why;
	ssize_t n = small_file_read(t->dir_fd, "status", status, sizeof(status));

	if (n < 0)
		return n == -ENOENT ? -ESRCH : (int)n;
	why = obstacle(t->dir_fd, status, uid, gid);
	if (!why)
		return 0;
	return session_fail(
		error, -EPERM,
		"process %d: %s: call graph dwarf needs root, or ptrace(2) access to the "
		"process; use call graph fp",
		(int)t->task, why);
}

/* --- what becomes of it ------------------------------------------------------------------ */

/*
 * An event that counts nothing and tells two things: it is enabled when the task executes, and hung
 * up when the task has ended, or executed what it may not be watched in (perf_event_exit_task()).
 */
static int
tracee_watch(struct tracee *t)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_DUMMY,
					.size = sizeof(attr),
					.disabled = 1,
					.enable_on_exec = 1,
					.exclude_kernel = 1,
					.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED };
	int fd = event_open(&attr, t->task, -1, 0);

	if (fd < 0)
		return fd;
	t->watch_fd = fd;
	/* Without a buffer poll(2) takes any event for hung up; its first page is enough. */
	t->page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
	return t->page == MAP_FAILED ? -errno : 0;
}

static bool
hung_up(const struct tracee *t)
{
	struct pollfd p = { .fd = t->watch_fd };

	return poll(&p, 1, 0) != 0;
}

static bool
executed(const struct tracee *t)
{
	uint64_t words[2]; /* value, time enabled */

	return read(t->watch_fd, words, sizeof(words)) != sizeof(words) || words[1];
}

/* --- all of them ------------------------------------------------------------------------- */

static int
open_one(struct tracee *t, uid_t uid, gid_t gid, struct session_error *error)
{
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/%d", (int)t->task);
	t->dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (t->dir_fd < 0)
		r = errno == ENOENT ? -ESRCH : -errno;
	else
		r = tracee_watch(t);
	if (r == 0)
		r = tracee_look(t, uid, gid, error);
	t->ended = r == -ESRCH;
	return r == -EPERM && !error->text[0]
		? session_fail(error, r, "process %d: it cannot be watched: %s", (int)t->task,
			       strerror(-r))
		: r;
}

int
tracees_open(const pid_t *tasks, size_t nr, uid_t uid, gid_t gid, struct tracees **ret,
	     struct session_error *error)
{
	struct tracees *t = calloc(1, sizeof(*t) + nr * sizeof(t->all[0]));
	size_t ended = 0;
	int r = 0;

	if (!t)
		return session_fail(error, -ENOMEM, "out of memory");
	for (; r == 0 && t->nr < nr; t->nr++) {
		struct tracee *one = &t->all[t->nr];

		*one = (struct tracee){ .task = tasks[t->nr], .watch_fd = -1, .dir_fd = -1 };
		one->page = MAP_FAILED;
		r = open_one(one, uid, gid, error);
		ended += one->ended;
		if (one->ended)
			r = 0;
		else if (r < 0 && r != -EPERM)
			session_fail(error, r, "process %d: %s", (int)one->task, strerror(-r));
	}
	if (r == 0 && ended == nr)
		r = session_fail(error, -ESRCH, "no such process: %d", (int)tasks[0]);
	if (r < 0)
		tracees_close(t);
	else
		*ret = t;
	return r;
}

int
tracees_settle(struct tracees *t, struct session_error *error)
{
	for (size_t i = 0; i < t->nr; i++) {
		struct tracee *one = &t->all[i];

		if (one->ended)
			continue;
		/* Its end first: what it executed before that is seen after it. */
		one->ended = hung_up(one) && faccessat(one->dir_fd, "status", F_OK, 0) < 0;
		if (executed(one) || (hung_up(one) && !one->ended))
			return session_fail(error, -EAGAIN,
					    "process %d has executed another program just now: try "
					    "again",
					    (int)one->task);
	}
	return 0;
}

bool
tracees_ended(const struct tracees *t, pid_t task)
{
	for (size_t i = 0; i < t->nr; i++)
		if (t->all[i].task == task)
			return t->all[i].ended;
	return true;
}

void
tracees_close(struct tracees *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nr; i++) {
		struct tracee *one = &t->all[i];

		if (one->page != MAP_FAILED)
			(void)munmap(one->page, (size_t)sysconf(_SC_PAGESIZE));
		if (one->watch_fd >= 0)
			(void)close(one->watch_fd);
		if (one->dir_fd >= 0)
			(void)close(one->dir_fd);
	}
	free(t);
}

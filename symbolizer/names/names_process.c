/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/names/names_process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/pidfd_info.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bsd/string.h>

#include "format/bytes/array.h"
#include "format/bytes/path_below.h"
#include "format/bytes/plain_file.h"
#include "recorder/ground/small_file.h"

#define STATUS_BYTES (1u << 20)	  /* with 65,536 groups */
#define STATUS_FIRST_BYTES 8192	  /* of PID 1, which has few */
#define MAP_BYTES_MAX (64u << 20) /* of a perf map that is counted */

/* --- whose it is --------------------------------------------------------------------------- */

/* "\nKey:\t1000\t1000\t1000\t1000": all are one. */
static bool
read_ids(const char *text, const char *key, unsigned int *ret)
{
	const char *at = strstr(text, key);
	unsigned int ids[4];

	if (!at || sscanf(at + strlen(key), "%u %u %u %u", &ids[0], &ids[1], &ids[2], &ids[3]) != 4)
		return false;
	*ret = ids[0];
	return ids[0] == ids[1] && ids[0] == ids[2] && ids[0] == ids[3];
}

/* 0, -ENOMEM. */
static int
read_groups(struct names_process *p, const char *text)
{
	const char *at = strstr(text, "\nGroups:");
	size_t cap = 0;
	char *end;

	at = at ? at + strlen("\nGroups:") : "";
	while (*at == '\t' || *at == ' ') {
		const unsigned long gid = strtoul(at, &end, 10);

		if (end == at)
			break;
		if (array_reserve(p->groups, p->nr_groups, cap, 1) < 0)
			return -ENOMEM;
		p->groups[p->nr_groups++] = (gid_t)gid;
		at = end;
	}
	return 0;
}

/* The last one of NSpid. */
static pid_t
read_inner_pid(const char *text, pid_t pid)
{
	const char *at = strstr(text, "\nNSpid:");
	pid_t last = pid;
	char *end;

	at = at ? at + strlen("\nNSpid:") : "";
	for (; *at == '\t'; at = end) {
		last = (pid_t)strtol(at, &end, 10);
		if (end == at)
			break;
	}
	return last;
}

#define STAT_STARTTIME 22
#define STAT_STARTSTACK 28

/* A field of stat, behind the second one: a name that may have any characters. */
static uint64_t
read_stat(int dir, int wanted)
{
	char text[1024];
	const char *at;

	if (small_file_read(dir, "stat", text, sizeof(text)) <= 0)
		return 0;
	at = strrchr(text, ')');
	for (int field = 2; at && field < wanted; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

static void
say_gone(const struct names_process *p, struct names_answer *a)
{
	names_answer_say(a, NAMES_GONE, p->pidfd < 0 ? "there is no such process" : "it has ended");
}

/* The number behind a key of a status; -1: it has none. */
static long
number_of(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtol(at + strlen(key), NULL, 10) : -1;
}

/*
 * Filters of system calls that not every process of this machine has. In a container PID 1 has those of the container, which
 * this process has as well. How many there are is told since Linux 5.11; a kernel without seccomp says nothing of it.
 */
static bool
is_filtered(const char *text)
{
	char first[STATUS_FIRST_BYTES];
	const long filters = number_of(text, "\nSeccomp_filters:");

	if (number_of(text, "\nSeccomp:") <= 0)
		return false;
	if (filters < 0 || small_file_read(AT_FDCWD, "/proc/1/status", first, sizeof(first)) <= 0)
		return true;
	return filters > number_of(first, "\nSeccomp_filters:");
}

/* 0, -1. */
static int
read_status(struct names_process *p, struct names_answer *a)
{
	char *text = malloc(STATUS_BYTES);
	int rc = -1;

	if (!text) {
		names_answer_say(a, NAMES_FAILED, "out of memory");
		return -1;
	}
	if (small_file_read(p->dir, "status", text, STATUS_BYTES) <= 0) {
		say_gone(p, a);
	} else if (!read_ids(text, "\nUid:", &p->uid) || !read_ids(text, "\nGid:", &p->gid)) {
		/* Which of them it trusts is not for others to guess. */
		names_answer_say(a, NAMES_FAILED,
				 "it runs as several users or groups at once (setuid): not asked");
	} else if (geteuid() != 0 && p->uid != geteuid()) {
		names_answer_say(a, NAMES_OTHERS, "another user's process: root may ask it");
	} else if (read_groups(p, text) < 0) {
		names_answer_say(a, NAMES_FAILED, "out of memory");
	} else {
		p->inner_pid = read_inner_pid(text, p->pid);
		p->filtered = is_filtered(text);
		rc = 0;
	}
	free(text);
	return rc;
}

static int
open_link(int dir, const char *name, int flags)
{
	return openat(dir, name, O_PATH | O_CLOEXEC | flags);
}

/* What must be the same at both ends of a look at it. 0; -1, said. */
static int
look(struct names_process *p, struct names_answer *a)
{
	p->program = open_link(p->dir, "exe", 0);
	p->stack = read_stat(p->dir, STAT_STARTSTACK);
	return read_status(p, a);
}

static bool
is_same_user(const struct names_process *p, const struct names_process *q)
{
	return p->uid == q->uid && p->gid == q->gid && p->filtered == q->filtered &&
		p->nr_groups == q->nr_groups &&
		(p->nr_groups == 0 ||
		 memcmp(p->groups, q->groups, p->nr_groups * sizeof(*p->groups)) == 0);
}

/*
 * Users may come back: cron's sudo becomes a user's program, which executes sudo. By the file alone that is one program; each
 * execve(2) has its stack elsewhere, where the kernel places it by chance.
 */
static bool
is_same_program(const struct names_process *p, const struct names_process *q)
{
	return p->stack == q->stack && names_process_same_file(p->program, q->program);
}

int
names_process_unchanged(const struct names_process *p, struct names_answer *a)
{
	struct names_process now = {
		.pid = p->pid, .pidfd = p->pidfd, .dir = p->dir, .program = -1
	};
	int rc = look(&now, a);

	if (rc == 0 && !(is_same_user(p, &now) && is_same_program(p, &now))) {
		names_answer_say(
			a, NAMES_FAILED,
			"it changed its user, or its program, while it was looked at: ask again");
		rc = -1;
	}
	if (now.program >= 0)
		(void)close(now.program);
	free(now.groups);
	return rc;
}

/* --- what it runs -------------------------------------------------------------------------- */

/* Of executable maps of files: the path, which is the rest of the line. */
static const char *
mapped_code(char *line)
{
	char permissions[5];
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%*x-%*x %4s %*x %*x:%*x %*u %n", permissions, &at) != 1 || at == 0)
		return NULL;
	return permissions[2] == 'x' && line[at] == '/' ? line + at : NULL;
}

/* 0, -errno. */
static int
find_runtime(struct names_process *p)
{
	const int fd = openat(p->dir, "maps", O_RDONLY | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char *line = NULL;
	size_t cap = 0;

	if (!f) {
		if (fd >= 0)
			(void)close(fd);
		return fd < 0 ? -errno : -ENOMEM;
	}
	for (int i = 0; i < NAMES_MAPS_LINES_MAX && getline(&line, &cap, f) > 0; i++) {
		const char *path = mapped_code(line);
		const struct runtime one = runtime_of_path(path ? path : "");
		const struct runtime both = runtime_prefer(p->runtime, one);

		if (both.kind == p->runtime.kind && both.version == p->runtime.version)
			continue;
		p->runtime = both;
		(void)strlcpy(p->object, path, sizeof(p->object));
	}
	free(line);
	(void)fclose(f);
	return 0;
}

bool
names_process_ended(const struct names_process *p)
{
	struct pollfd ended = { .fd = p->pidfd, .events = POLLIN };

	return poll(&ended, 1, 0) > 0;
}

static int
open_directory(struct names_process *p, struct names_answer *a)
{
	char path[64];

	p->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	if (p->pidfd < 0 && errno == ENOSYS) {
		names_answer_say(a, NAMES_FAILED,
				 "this kernel has no pidfd_open(2): Linux 5.3 has");
		return -1;
	}
	(void)snprintf(path, sizeof(path), "/proc/%d", (int)p->pid);
	p->dir = p->pidfd < 0 ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* What lives on now had the number when the directory was opened. */
	if (p->dir >= 0 && !names_process_ended(p))
		return 0;
	say_gone(p, a);
	return -1;
}

int
names_process_open(struct names_process *p, pid_t pid, struct names_answer *a)
{
	const char *name;
	int rc;

	*p = (struct names_process){ .pid = pid,
				     .inner_pid = pid,
				     .pidfd = -1,
				     .dir = -1,
				     .program = -1,
				     .root = -1,
				     .cwd = -1 };
	if (open_directory(p, a) < 0)
		return -1;
	(void)small_file_read(p->dir, "comm", a->comm, sizeof(a->comm));
	a->comm[strcspn(a->comm, "\n")] = '\0';
	if (look(p, a) < 0)
		return -1;
	rc = find_runtime(p);
	if (rc < 0) {
		names_answer_say(a, rc == -EACCES || rc == -EPERM ? NAMES_OTHERS : NAMES_FAILED,
				 "its maps cannot be read: %s", strerror(-rc));
		return -1;
	}
	name = runtime_name(p->runtime.kind);
	if (!name) {
		names_answer_say(a, NAMES_NONE, "no runtime that is known here");
		return -1;
	}
	(void)strlcpy(a->runtime, name, sizeof(a->runtime));
	p->began_ticks = read_stat(p->dir, STAT_STARTTIME);
	p->root = open_link(p->dir, "root", O_DIRECTORY);
	p->cwd = open_link(p->dir, "cwd", O_DIRECTORY);
	return names_process_unchanged(p, a);
}

void
names_process_done(struct names_process *p)
{
	const int fds[] = { p->pidfd, p->dir, p->program, p->root, p->cwd };

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			(void)close(fds[i]);
	free(p->groups);
	*p = (struct names_process){ .pidfd = -1, .dir = -1, .program = -1, .root = -1, .cwd = -1 };
}

/* --- questions ----------------------------------------------------------------------------- */

bool
names_process_same_file(int a, int b)
{
	struct stat x, y;

	return a >= 0 && b >= 0 && fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev &&
		x.st_ino == y.st_ino;
}

static bool
mask_has(const char *text, const char *key, int sig)
{
	const char *at = strstr(text, key);

	return at && strtoull(at + strlen(key), NULL, 16) >> (sig - 1) & 1;
}

bool
names_process_catches(const struct names_process *p, int sig)
{
	char *text = malloc(STATUS_BYTES);
	bool catches = text && small_file_read(p->dir, "status", text, STATUS_BYTES) > 0 &&
		mask_has(text, "\nSigCgt:", sig) && !mask_has(text, "\nSigIgn:", sig);

	free(text);
	return catches;
}

char *
names_process_word(const struct names_process *p, const char *file, const char *name)
{
	const int fd = openat(p->dir, file, O_RDONLY | O_CLOEXEC);
	char *text = fd < 0 ? NULL : calloc(1, NAMES_ENVIRON_BYTES + 1), *found = NULL;
	size_t had = 0;
	ssize_t n = text ? 1 : 0;

	while (n > 0 && had < NAMES_ENVIRON_BYTES) {
		n = read(fd, text + had, NAMES_ENVIRON_BYTES - had);
		had += n > 0 ? (size_t)n : 0;
	}
	for (size_t at = 0; at < had && !found; at += strlen(text + at) + 1)
		if (strncmp(text + at, name, strlen(name)) == 0)
			found = strdup(text + at + strlen(name));
	free(text);
	if (fd >= 0)
		(void)close(fd);
	return found;
}

int
names_process_directory(const struct names_process *p, const char *path)
{
	return p->root < 0 ? -EACCES
			   : path_below_open(p->root, path, O_PATH | O_DIRECTORY,
					     RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
}

/* Lines of the file; -1: it cannot be read. */
static long long
count_lines(int fd)
{
	static char room[64u << 10];
	long long lines = 0;
	size_t had = 0;
	ssize_t n = 1;

	while (n > 0 && had < MAP_BYTES_MAX) {
		n = read(fd, room, sizeof(room));
		had += n > 0 ? (size_t)n : 0;
		for (ssize_t i = 0; i < n; i++)
			lines += room[i] == '\n';
	}
	return n < 0 ? -1 : lines;
}

/* -1: there is none that is its own, and of since then. */
static int
open_map(const struct names_process *p, const char *name, int64_t since_s)
{
	const int tmp = names_process_directory(p, "/tmp");
	const int fd = tmp < 0 ? -1 : plain_file_open_name(tmp, name, O_NOFOLLOW);
	struct stat st;

	if (tmp >= 0)
		(void)close(tmp);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && st.st_uid == p->uid && st.st_mtim.tv_sec >= since_s)
		return fd;
	(void)close(fd);
	return -1;
}

void
names_process_map(const struct names_process *p, int64_t since_s, struct names_answer *a)
{
	char name[48];
	long long lines;
	int fd;

	(void)snprintf(name, sizeof(name), "perf-%d.map", (int)p->inner_pid);
	fd = open_map(p, name, since_s);
	lines = fd < 0 ? -1 : count_lines(fd);
	if (fd >= 0)
		(void)close(fd);
	if (lines < 0)
		names_answer_say(
			a, NAMES_FAILED,
			"it says that it told its names, but no /tmp/%s of its own is there", name);
	else
		names_answer_say(a, NAMES_NAMED, "%lld function%s in its /tmp/%s", lines,
				 lines == 1 ? "" : "s", name);
}

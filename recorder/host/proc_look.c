/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/host/proc_look.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/pidfd_info.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bsd/string.h>

#include "recorder/ground/small_file.h"
#include "recorder/host/subuid.h"
#include "recorder/host/task_users.h"

#define STATUS_BYTES 2048 /* of a status file: many groups leave no room for what follows them */

/* --- small files ----------------------------------------------------------------------------- */

/* Reads /proc/TID/name. */
static ssize_t
task_read(pid_t tid, const char *name, char *to, size_t cap)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)tid, name);
	return small_file_read(AT_FDCWD, path, to, cap);
}

/* The number after "\nKey:" in the text of a status file; -1. */
static long long
status_number(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoll(at + strlen(key), NULL, 10) : -1;
}

/* The same of the status of a task; -1. */
static long long
task_number(pid_t tid, const char *key)
{
	char text[STATUS_BYTES];

	return task_read(tid, "status", text, sizeof(text)) < 0 ? -1 : status_number(text, key);
}

/* --- looks ----------------------------------------------------------------------------------- */

pid_t
proc_look_tgid(pid_t tid)
{
	long long tgid = task_number(tid, "\nTgid:");

	return tgid > 0 ? (pid_t)tgid : -ESRCH;
}

/* 0, -ESRCH: there is no such process; -errno: the kernel cannot tell (before Linux 6.13). */
static int
pidfd_look(pid_t pid, struct pidfd_info *ret)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0), rc;

	if (fd < 0)
		return -errno;
	*ret = (struct pidfd_info){ .mask = PIDFD_INFO_CREDS };
	rc = ioctl(fd, PIDFD_GET_INFO, ret) < 0 ? -errno : 0;
	(void)close(fd);
	return rc == 0 && !(ret->mask & PIDFD_INFO_CREDS) ? -ESRCH : rc;
}

/*
 * The directory is the effective user's, but root's where the process must not be looked into. Only
 * there the status is read: it has all groups, of which there may be 65,536, and then takes 20 ms.
 */
static int
directory_owner(pid_t pid, uid_t *ret)
{
	char path[64];
	struct stat st;
	long long uid;

	(void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &st) < 0)
		return -ESRCH;
	uid = st.st_uid != 0 ? st.st_uid : task_number(pid, "\nUid:");
	*ret = (uid_t)uid;
	return uid < 0 ? -ESRCH : 0;
}

int
proc_look_owner(pid_t pid, uid_t *ret)
{
	struct pidfd_info info = { 0 };
	int rc = pidfd_look(pid, &info);
	uid_t uid = info.ruid;

	if (rc < 0 && rc != -ESRCH)
		rc = directory_owner(pid, &uid);
	if (rc == 0)
		*ret = subuid_first(uid);
	return rc < 0 ? -ESRCH : 0;
}

/* Has it memory? /proc/PID/stat would wait for a task that is in an exec. */
static bool
has_memory(pid_t pid)
{
	char text[128];

	return task_read(pid, "statm", text, sizeof(text)) > 0 && strncmp(text, "0 ", 2) != 0;
}

int
proc_look_at(pid_t pid, struct proc_look *ret)
{
	struct pidfd_info info;
	char text[STATUS_BYTES];
	long long uid;
	ssize_t n;

	if (has_memory(pid) && pidfd_look(pid, &info) == 0) {
		*ret = (struct proc_look){ subuid_first(info.ruid), info.ppid, false, true };
		return 0;
	}
	n = task_read(pid, "status", text, sizeof(text));
	if (n < 0)
		return (int)n;
	uid = status_number(text, "\nUid:");
	ret->uid = uid < 0 ? TASK_USER_UNKNOWN : subuid_first((uid_t)uid);
	ret->ppid = status_number(text, "\nPPid:");
	ret->zombie = strstr(text, "\nState:\tZ");
	/* A kernel thread has no memory: its maps are not worth opening. */
	ret->maps = ret->zombie || (size_t)n == sizeof(text) - 1 || strstr(text, "\nVmSize:");
	ret->zombie &= strstr(text, "\nThreads:\t1\n") != NULL;
	return 0;
}

int
proc_look_comm(int task_dirfd, char ret[PROC_LOOK_COMM_BYTES])
{
	char comm[128];
	ssize_t n = small_file_read(task_dirfd, "comm", comm, sizeof(comm));

	if (n < 0)
		return (int)n;
	if (n > 0 && comm[n - 1] == '\n')
		comm[n - 1] = '\0';
	/* What a worker works on ("kworker/0:1-events") is in no COMM record. */
	if (strncmp(comm, "kworker/", 8) == 0 && comm[8] != 'R')
		comm[8 + strcspn(comm + 8, "-+")] = '\0';
	(void)strlcpy(ret, comm, PROC_LOOK_COMM_BYTES);
	return 0;
}

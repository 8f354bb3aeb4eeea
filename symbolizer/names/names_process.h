/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names_process: the process that is asked: whose it is, what it has mapped, and its files as it sees them.
 *
 * All is read through one descriptor of its directory in /proc: another process that gets its number later is not mistaken
 * for it. To read may wait for a file system that a process of another user serves: for a process that can be abandoned.
 */
#ifndef SYMBOLIZER_NAMES_NAMES_PROCESS_H
#define SYMBOLIZER_NAMES_NAMES_PROCESS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "symbolizer/jit/runtime.h"
#include "symbolizer/names/names_answer.h"

/* Bounds against a process with endless maps, or an endless environment. */
#define NAMES_MAPS_LINES_MAX 65536
#define NAMES_ENVIRON_BYTES (256u << 10)

struct names_process {
	pid_t pid;
	pid_t inner_pid; /* as it knows itself */
	int pidfd;
	int dir;     /* /proc/PID */
	int program; /* its own file; O_PATH, as the next two; -1: must not be looked into */
	int root, cwd;
	uid_t uid; /* its real, effective, saved and file system user are one */
	gid_t gid;
	gid_t *groups;
	size_t nr_groups;
	bool filtered;	      /* it has a seccomp filter that PID 1 has not */
	uint64_t began_ticks; /* starttime of proc_pid_stat(5) */
	uint64_t stack;	      /* its startstack: another one with each execve(2), by chance */
	struct runtime runtime;
	char object[PATH_MAX]; /* by which the runtime was known: a path in its root */
};

/*
 * Which process it is, whose, and what it runs. 0; -1: *a says what there is to say: it is gone, another user's where the
 * caller is not root, none that has a runtime. names_process_done() in any case.
 */
int names_process_open(struct names_process *p, pid_t pid, struct names_answer *a);
/*
 * Is it still whose it was, and does it run the program that it ran? A number, and a directory of /proc, outlive a change of both
 * (cron, sshd: root's process becomes a user's, and executes what he chose). So what was opened of it is of that user only
 * where this comes after. names_process_open() has done so itself. 0; -1, said.
 */
int names_process_unchanged(const struct names_process *p, struct names_answer *a);
void names_process_done(struct names_process *p);

bool names_process_ended(const struct names_process *p);
/* Does it catch this signal now, and not ignore it? */
bool names_process_catches(const struct names_process *p, int sig);
/*
 * The value of a variable of the environment that it was started with, or the first argument that begins with name, as
 * file ("environ", "cmdline") says; for the caller to free. NULL: none, or it must not be read.
 */
char *names_process_word(const struct names_process *p, const char *file, const char *name);
/* Are both descriptors of one file? Not where one is none. */
bool names_process_same_file(int a, int b);
/* A directory as the process sees it, O_PATH. No link leads out of its root. -errno. */
int names_process_directory(const struct names_process *p, const char *path);

/*
 * Says what its perf map has now: NAMES_NAMED, with how many functions, or NAMES_FAILED: there is none, or it is
 * somebody else's, or of before since_s (CLOCK_REALTIME, seconds).
 */
void names_process_map(const struct names_process *p, int64_t since_s, struct names_answer *a);

#endif

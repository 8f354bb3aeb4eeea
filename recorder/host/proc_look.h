/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc_look: what a look at one process tells: its user, its parent, its name.
 *
 * A look never waits: it takes no lock that the process can hold for long. What does take such a
 * lock (maps, stat, ns) is never read here.
 */
#ifndef RECORDER_HOST_PROC_LOOK_H
#define RECORDER_HOST_PROC_LOOK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PROC_LOOK_COMM_BYTES 16 /* of a name, with its NUL; the kernel's TASK_COMM_LEN */

struct proc_look {
	uint32_t uid;	/* as of proc_look_owner(); TASK_USER_UNKNOWN */
	long long ppid; /* -1: unknown */
	bool zombie;	/* it has ended, with all its threads */
	bool maps;	/* it may have some */
};

/*
 * Reads the status only where the kernel has no other answer (before Linux 6.13, and of what has no
 * memory): it has all groups, of which there may be 65,536, and then takes 20 ms. 0, -errno.
 */
int proc_look_at(pid_t pid, struct proc_look *ret);

/*
 * Whose doing a process is: its real user, which a setuid program does not change (before Linux 6.13
 * the effective one, unless that is root), or the first of that one's range (subuid.h). 0, -ESRCH.
 */
int proc_look_owner(pid_t pid, uid_t *ret);

/* Process of a task; -ESRCH. */
pid_t proc_look_tgid(pid_t tid);

/* The name as the kernel has it, of the task whose directory of /proc this is. 0, -errno. */
int proc_look_comm(int task_dirfd, char ret[PROC_LOOK_COMM_BYTES]);

#endif

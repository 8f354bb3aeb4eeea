/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit_home: the files in which a process tells of the code that it makes at run time: its perf map, by
 * the number that it knows itself by, in its own /tmp, and the jitdumps that it mapped.
 *
 * Descriptors are kept, so that the files can be read when the process and its mounts are gone. Files in /tmp are
 * anybody's. Believed is a regular file of the process's user. A file of root's is believed for another user's process
 * if others may read it, and it lies on a mount that this process could not make. No file is believed that was last
 * changed before the process began, or after it ended: its number may have another one then, whose perf map has the
 * same name. To open may wait for a file system: for helpers.
 */
#ifndef RECORDER_HOST_JIT_HOME_H
#define RECORDER_HOST_JIT_HOME_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define JIT_HOME_DUMPS 2 /* of a process; runtimes have one */

struct jit_home {
	pid_t pid;
	uint32_t inner_pid; /* as it knows itself */
	uid_t uid, euid;
	int64_t began_ns;      /* CLOCK_REALTIME, to a second */
	int64_t began_boot_ns; /* CLOCK_BOOTTIME, as /proc has it */
	int tmp; /* O_PATH of its /tmp, which is not on FUSE; -1: there was none yet */
	dev_t tmp_dev;
	int map;		   /* its perf map; -1: there was none yet */
	int dumps[JIT_HOME_DUMPS]; /* -1 */
};

/*
 * The process that had the number at alive_ns (CLOCK_MONOTONIC; 0: whichever has it). 0, -errno: it is
 * gone, or must not be looked into, or its /tmp is on FUSE.
 */
int jit_home_open(struct jit_home *h, pid_t pid, uint64_t alive_ns);
void jit_home_done(struct jit_home *h);

/* When the process that has the number now began (CLOCK_MONOTONIC); 0: it is the same, or there is none. */
uint64_t jit_home_next(const struct jit_home *h);

/*
 * The perf map as it is by its name now, or the one that was there before; borrowed. ended_ns: when the
 * process ended (CLOCK_MONOTONIC); 0: it lives. -1: none.
 */
int jit_home_map(struct jit_home *h, uint64_t ended_ns);
/* It mapped a jitdump: kept if it is the inode. */
void jit_home_dump(struct jit_home *h, const char *path, uint64_t ino);

#endif

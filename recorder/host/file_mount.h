/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file_mount: what a file lies on, by the tables of mounts, which ask no file system for it.
 *
 * The mount may be one that only its process can see.
 */
#ifndef RECORDER_HOST_FILE_MOUNT_H
#define RECORDER_HOST_FILE_MOUNT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct file_mount {
	bool known;	   /* its very mount is in the table; else only fuse is told */
	bool fuse;	   /* it is, or cannot be told: open() may wait for a process */
	bool overlay;	   /* overlayfs */
	uint32_t maj, min; /* the device of its file system, which stat may not tell */
	/*
	 * The table is that of a mount namespace of our user namespace: nobody else could mount what is
	 * in it.
	 */
	bool ours;
};

/* fd: O_PATH will do; maj, min: of the file, as stat has it; by: whose table, 0: our own. */
struct file_mount file_mount_of(int fd, uint32_t maj, uint32_t min, pid_t by);

#endif

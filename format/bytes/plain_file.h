/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plain_file: files that others named or made: a process its maps, a recording its objects, an object its debug files.
 * A name may lead to anything. To open a device does something, to open a FIFO waits, and what is read from a file of
 * procfs is gone or is about the reader: only files that hold bytes are opened, and are known before they are.
 */
#ifndef FORMAT_BYTES_PLAIN_FILE_H
#define FORMAT_BYTES_PLAIN_FILE_H

#include <stdbool.h>

/*
 * Does it lie on a file system of the kernel's own (proc, sysfs, ...), whose files call themselves regular and are
 * none? Asks the file system, and so may wait for the process that serves it. fd: O_PATH will do.
 */
bool plain_file_is_pseudo(int fd);

/* Opens for reading what an O_PATH descriptor leads to. A descriptor; -EOPNOTSUPP: it is no plain file; -errno. */
int plain_file_open(int path_fd);
/* The same by openat(2). flags: O_NOFOLLOW. */
int plain_file_open_name(int dir, const char *name, int flags);

#endif

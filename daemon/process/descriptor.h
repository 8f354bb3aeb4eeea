/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * descriptor: a file that a client has passed. Whoever serves that file (FUSE, a network) may
 * answer late or never, and a socket may linger, so the main loop neither asks nor closes what
 * would wait there. Closing has threads: so many for each user, so that who makes them wait makes
 * nobody else wait.
 */
#ifndef DAEMON_PROCESS_DESCRIPTOR_H
#define DAEMON_PROCESS_DESCRIPTOR_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Can a recording be written to it? Only to a regular file: a pipe that nobody reads would hold
 * the capture's writer for ever. Asks nobody.
 */
bool descriptor_takes_recording(int fd);
/*
 * Does it lie in memory (tmpfs, ramfs, memfd_create(2)), or may it (an overlay that is not mounted
 * here)? Asks the file system, and so may wait for the process that serves it.
 */
bool descriptor_is_memory(int fd);

/* Starts a small thread that nobody waits for, since somebody's file may keep it. 0, -errno. */
int descriptor_thread(void *(*body)(void *arg), void *arg);

/* Closes what this user passed, on another thread. */
void descriptor_close(int fd, uid_t uid);
/*
 * Closes a connection of this user: at once, or on another thread where messages are left in it,
 * which may have descriptors.
 */
void descriptor_close_connection(int fd, uid_t uid);

/* False: so much of this user's is being closed that nothing more should be taken. */
bool descriptor_wanted(uid_t uid);

#endif

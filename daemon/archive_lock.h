/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * archive_lock: one spoord a directory.
 *
 * The lock (flock(2)) is on the directory itself, as a file in it can be taken away. It lasts as
 * long as the descriptor is open, anywhere: who is killed while a thread waits in the kernel for
 * something that never comes keeps it. Such a process executes nothing any more, and is passed
 * over; so is one of a user who could not write here. The lock is then that of a file, .lock, which
 * is there only so long. (Versions up to 0.1.0 had that file alone, and are noticed by it.)
 */
#ifndef DAEMON_ARCHIVE_LOCK_H
#define DAEMON_ARCHIVE_LOCK_H

#include <stdbool.h>
#include <sys/types.h>

struct archive_lock {
	int file_fd; /* -1: the directory's own lock is had */
};

/*
 * Locks what dir_fd is open on, for as long as that is; waits a second for who is about to end. 0;
 * -EBUSY with *holder: a process that writes there (0: it cannot be told which); -errno.
 */
int archive_lock(int dir_fd, const char *path, struct archive_lock *ret, pid_t *holder);
/* Now and then: is it to be had on the directory by now? */
void archive_lock_settle(struct archive_lock *l, int dir_fd);
/* Before dir_fd is closed. */
void archive_lock_done(struct archive_lock *l, int dir_fd);

/* Will this thread execute nothing any more? By its stat and status of /proc/PID/task/TID. */
bool archive_lock_is_dying(const char *stat, const char *status);

#endif

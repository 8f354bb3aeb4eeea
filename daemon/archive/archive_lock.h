/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * archive_lock: one spoord a directory.
 *
 * There are two locks (flock(2)). That of the file .lock, which nobody else may open, says that a
 * spoord writes here. As the file can be taken away, the directory itself is locked, too: whoever
 * has both is a spoord; whoever has the directory alone is given a few seconds to make the file
 * again, and is then passed over, since everybody who may read the directory can lock it.
 *
 * A lock lasts as long as the descriptor is open, anywhere: a process that was killed while a
 * thread waits in the kernel for something that never comes keeps it. Such a process executes
 * nothing any more, and is passed over. (Versions up to 0.1.0 lock the file alone.)
 */
#ifndef DAEMON_ARCHIVE_ARCHIVE_LOCK_H
#define DAEMON_ARCHIVE_ARCHIVE_LOCK_H

#include <stdbool.h>
#include <sys/types.h>

struct archive_lock {
	int file_fd; /* -1: not had yet, as the disk is full; the directory's lock is */
};

/*
 * Locks what dir_fd is open on, for as long as that is. Waits a second for a process that is about
 * to end, and five for one that has locked the directory alone. 0; -EBUSY with *holder: a process
 * that writes there (0: it cannot be told which); -errno.
 */
int archive_lock(int dir_fd, const char *path, struct archive_lock *ret, pid_t *holder);
/*
 * Every two seconds: gets what is not had, and makes the file again. 0; -EBUSY with *holder, as
 * above: somebody else has it by now.
 */
int archive_lock_settle(struct archive_lock *l, int dir_fd, const char *path, pid_t *holder);
/* Before dir_fd is closed. */
void archive_lock_done(struct archive_lock *l, int dir_fd);

/* Will this thread execute nothing any more? By its stat and status of /proc/PID/task/TID. */
bool archive_lock_is_dying(const char *stat, const char *status);

#endif

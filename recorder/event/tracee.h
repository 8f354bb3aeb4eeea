/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracee: may a user look into these tasks? perf_event_open(2) asks that of whoever calls it, by the
 * rules of ptrace(2). A recorder that records for somebody else has to ask for them.
 *
 * A task passes when its real, effective and saved uid are the user's, its gids likewise, it has
 * no capabilities, is dumpable, and is in our user namespace. What it is may change until its
 * events are open, by executing something; so it is watched from before it is looked at until then.
 */
#ifndef RECORDER_EVENT_TRACEE_H
#define RECORDER_EVENT_TRACEE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define TRACEE_DESCRIPTORS 2 /* a task, until tracees_close() */

struct session_error;
struct tracees;

/*
 * Looks at all of the tasks, and begins to watch them; those that are gone are left out. 0; -EPERM
 * with *error when the user may not look into one; -ESRCH: all are gone; -errno.
 */
int tracees_open(const pid_t *tasks, size_t nr, uid_t uid, gid_t gid, struct tracees **ret,
		 struct session_error *error);
/*
 * The events are open and not yet enabled. 0: every task still is what was looked at, or has
 * ended, which tracees_ended() tells. -EAGAIN with *error: one has executed something meanwhile.
 */
int tracees_settle(struct tracees *t, struct session_error *error);
bool tracees_ended(const struct tracees *t, pid_t task);
void tracees_close(struct tracees *t);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * task_users: whose a process is, by its real uid, for whatever is bounded for each user.
 *
 * What /proc/PID/status said is believed for some seconds, and of the children of a process as of
 * itself, so that of a storm of forks hardly one is asked. Belongs to one thread. To ask waits for
 * nobody, and no more than 20 ms of a second are spent on it: over that nobody's user is known.
 */
#ifndef RECORDER_HOST_TASK_USERS_H
#define RECORDER_HOST_TASK_USERS_H

#include <stdint.h>

#include "format/model/task_model.h"

#define TASK_USER_UNKNOWN UINT32_MAX

struct task_users;

struct task_users *task_users_new(void); /* NULL: out of memory */
void task_users_free(struct task_users *u);

/*
 * The user of a process; of one that is gone, of the nearest ancestor in the model that is not.
 * time_ns: now, more or less. TASK_USER_UNKNOWN when nobody can be asked.
 */
uint32_t task_users_of(struct task_users *u, const struct task_model *model, uint32_t pid,
		       uint64_t time_ns);
/* A process was made: it is its parent's user's, as far as that is known. */
void task_users_fork(struct task_users *u, uint32_t parent, uint32_t pid);
/* A process executed a program: one of root may have become a user for that, and is asked again. */
void task_users_exec(struct task_users *u, uint32_t pid);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * disk_calls: calls of methods that may wait for a disk. They are chores; whoever called waits, and
 * nobody else does.
 */
#ifndef DAEMON_CONTROL_DISK_CALLS_H
#define DAEMON_CONTROL_DISK_CALLS_H

#include <jansson.h>

#include "daemon/control/methods.h"

struct chores;
struct disk_calls;

/* done: one has been. */
struct disk_calls *disk_calls_new(struct chores *chores, method_call_answer_fn *done, void *arg);
/* After chores_close(), or when none is under way. */
void disk_calls_free(struct disk_calls *d);

/*
 * Takes over a call that came back as METHODS_DISK, with its message, which is left empty. -EBUSY:
 * too many wait; -ENOMEM.
 */
int disk_calls_add(struct disk_calls *d, const struct method_call *call,
		   struct varlink_call *message);
/* The client is gone; what it asked for is done all the same. */
void disk_calls_leave(struct disk_calls *d, const void *client);

#endif

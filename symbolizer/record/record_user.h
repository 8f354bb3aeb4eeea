/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_user: the processes of a user, as they are now. */
#ifndef SYMBOLIZER_RECORD_RECORD_USER_H
#define SYMBOLIZER_RECORD_RECORD_USER_H

#include <stddef.h>
#include <sys/types.h>

/*
 * user: a name or a number. Fills pids, all but this process. CLI_GO_ON, or the status to end with, which was
 * said: no such user, no process, or more than max.
 */
int record_user_pids(const char *user, pid_t *pids, size_t max, size_t *ret_nr);

#endif

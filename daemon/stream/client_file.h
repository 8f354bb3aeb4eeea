/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * client_file: a file that a client has passed for a recording, written on a thread of its own.
 *
 * Whoever serves the file (FUSE, a network) may take what is written late or never, in a sleep
 * that no signal ends. Then only this thread is kept, with one buffer: the session that writes is
 * let go with -ETIMEDOUT, and with it its rings, queue and model.
 */
#ifndef DAEMON_STREAM_CLIENT_FILE_H
#define DAEMON_STREAM_CLIENT_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "format/bytes/io.h"

struct client_file;

/* Takes fd over, also on failure. 0, -errno. */
int client_file_new(int fd, uid_t uid, struct client_file **ret);
/* A sink that may be there is not concerned. NULL: nothing. */
void client_file_free(struct client_file *f);

/* Is it one of the kernel's own? See plain_file_is_pseudo(). 1, 0; -ETIMEDOUT: given up. */
int client_file_is_pseudo(struct client_file *f);
/*
 * Was it refused more for lying in memory? Pages are those of the control group that wrote them first,
 * which is ours, for as long as the file is there: such files get CLIENT_FILE_MEMORY_MAX bytes in
 * all, one of a user other than root half of what is left, and then -EDQUOT.
 */
bool client_file_is_full(struct client_file *f);
#define CLIENT_FILE_MEMORY_MAX (32u << 20)
/* What a session writes to, once; its close() does not wait. -ETIMEDOUT: given up. */
struct io_sink *client_file_sink(struct client_file *f);

/* Whoever waits for the file does no more, from now on. From any thread. */
void client_file_give_up(struct client_file *f);
/* Files of this user (-1: of all) that nobody writes to any more, and that are still being let go of. */
uint32_t client_file_left(uid_t uid);

#endif
